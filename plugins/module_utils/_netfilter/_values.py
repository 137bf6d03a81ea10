# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values that may be unknown, and the three-valued comparisons over them.

A comparison answers True, False, or None where the evidence does not tell. Known values are plain
Python values: ints for addresses, ports, protocols, marks and flag words, strings for interface names.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from typing import Any, Callable, Optional

Tri = Optional[bool]
Matcher = Callable[[Any], Tri]


class Token:
    """A value that is not a value; compared by identity."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNKNOWN = Token("unknown")  # the packet has it, the evidence does not tell it
ABSENT = Token("absent")  # the packet has no such field: the kernel breaks off the rule there


class Unsupported(Exception):
    """A piece of a rule that this package cannot read; the caller makes it unknown."""


PROTOCOLS = {
    "ip": 0, "hopopt": 0, "icmp": 1, "igmp": 2, "ipencap": 4, "ipip": 4, "tcp": 6, "egp": 8, "udp": 17,
    "dccp": 33, "ipv6": 41, "rsvp": 46, "gre": 47, "esp": 50, "ipsec-nat-t": 50, "ah": 51,
    "icmpv6": 58, "ipv6-icmp": 58, "ospf": 89, "pim": 103, "comp": 108, "ipcomp": 108, "vrrp": 112,
    "sctp": 132, "udplite": 136,
}  # fmt: skip


def protocol_number(name: Any) -> int:
    """Number of an IP protocol given by name or number; raises Unsupported."""
    text = str(name).lower()
    if text.isdigit():
        return int(text)
    if text in PROTOCOLS:
        return PROTOCOLS[text]
    try:
        return socket.getprotobyname(text)
    except OSError:
        raise Unsupported(f"protocol {name}") from None


def port_number(name: str) -> int:
    """Number of a port given by name or number; raises Unsupported."""
    if name.isdigit():
        return int(name)
    try:
        return socket.getservbyname(name)
    except OSError:
        raise Unsupported(f"port {name}") from None


def address(text: str) -> int:
    """The number of an address of either family; raises Unsupported."""
    try:
        return int(ipaddress.ip_address(text))
    except ValueError:
        raise Unsupported(f"address {text}") from None


def network(text: str, family: int) -> tuple[int, int]:
    """(base, mask) of ADDRESS[/LENGTH or /MASK], as iptables-save writes it; masks may have holes."""
    bits = 32 if family == 4 else 128
    base, slash, length = text.partition("/")
    full = (1 << bits) - 1
    if not slash:
        mask = full
    elif length.isdigit():
        mask = full ^ (full >> int(length)) if int(length) <= bits else full
    else:
        mask = address(length)
    return address(base) & mask, mask


def negate(answer: Tri) -> Tri:
    return None if answer is None else not answer


def any_of(answers: Iterable[Tri]) -> Tri:
    result: Tri = False
    for answer in answers:
        if answer is True:
            return True
        if answer is None:
            result = None
    return result


def all_of(answers: Iterable[Tri]) -> Tri:
    result: Tri = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            result = None
    return result


def same(answers: Iterable[Tri]) -> Tri:
    """The answer that all give; None where they differ or there is none."""
    found = set(answers)
    return found.pop() if len(found) == 1 else None


class Choice:
    """One of several values, no one can tell which."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = list(values)


def equals(constant: Any) -> Matcher:
    def match(value: Any) -> Tri:
        return None if value is UNKNOWN else value == constant

    return match


def within(low: int, high: int) -> Matcher:
    def match(value: Any) -> Tri:
        return None if value is UNKNOWN else low <= value <= high

    return match


def masked(base: int, mask: int) -> Matcher:
    def match(value: Any) -> Tri:
        return None if value is UNKNOWN else value & mask == base

    return match


def starts_with(prefix: str) -> Matcher:
    def match(value: Any) -> Tri:
        return None if value is UNKNOWN else value.startswith(prefix)

    return match


def anything(value: Any) -> Tri:
    return True


def interface(text: str, wildcard: str) -> Matcher:
    """Matcher of an interface name that may end in the dialect's wildcard."""
    if text.endswith(wildcard):
        return starts_with(text[: -len(wildcard)])
    return equals(text)
