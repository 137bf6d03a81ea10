# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The described packet, and its state while it is walked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._values import ABSENT, UNKNOWN, Unsupported, address, protocol_number

# Bits of `ct state` and `ct status`, as include/uapi/linux/netfilter/nf_conntrack_common.h numbers them.
STATES = {"invalid": 1, "established": 2, "related": 4, "new": 8, "untracked": 64}
STATUS = {
    "expected": 1, "seen-reply": 2, "assured": 4, "confirmed": 8, "snat": 16, "dnat": 32, "dying": 512,
}  # fmt: skip

TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58
WITH_PORTS = frozenset((6, 17, 33, 132, 136))
TCP_FLAGS = {"fin": 1, "syn": 2, "rst": 4, "psh": 8, "ack": 16, "urg": 32, "ecn": 64, "cwr": 128}

KEYS = (
    "in", "out", "source", "destination", "protocol", "source_port", "destination_port", "state", "mark",
    "connmark", "direction", "original_destination", "original_destination_port", "icmp_type", "icmp_code", "tcp_flags",
    "physdev_in", "physdev_out",
)  # fmt: skip


class PacketError(ValueError):
    """The description of a packet cannot be read; the text says what and why."""


class State:
    """What netfilter can know of the packet at one moment. Fields hold known values, UNKNOWN or ABSENT."""

    __slots__ = (
        "family", "iif", "oif", "physin", "physout", "src", "dst", "proto", "sport", "dport", "icmp_type", "icmp_code",
        "tcp_flags", "mark", "tracking", "ctstate", "ctmark", "ctdir", "ctstatus", "orig_src", "orig_sport", "orig_dst",
        "orig_dport", "nat_dst", "nat_src", "touched",
    )  # fmt: skip

    family: int  # 4 or 6
    iif: Any
    oif: Any
    physin: Any
    physout: Any
    src: Any
    dst: Any
    proto: Any
    sport: Any
    dport: Any
    icmp_type: Any
    icmp_code: Any
    tcp_flags: Any
    mark: Any
    tracking: Any  # none (not looked at yet, or invalid), template (a rule has prepared it), tracked, untracked
    ctstate: Any  # one bit of STATES, what it is once tracked
    ctmark: Any
    ctdir: Any
    ctstatus: Any  # bits of STATUS
    orig_src: Any  # of the connection's first packet, as it reached the host
    orig_sport: Any
    orig_dst: Any
    orig_dport: Any
    nat_dst: Any  # whether a mapping of the destination, or of the source, is made already
    nat_src: Any
    touched: Any  # whether any rule changed something

    def copy(self, **changes: Any) -> State:
        new = State.__new__(State)
        for name in State.__slots__:
            setattr(new, name, getattr(self, name))
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in State.__slots__)

    def join(self, other: State) -> State:
        """The state that says no more than both say."""
        new = self.copy()
        for name in State.__slots__:
            if getattr(self, name) != getattr(other, name):
                setattr(new, name, UNKNOWN)
        return new


def _number(packet: Mapping[str, Any], key: str, default: Any) -> Any:
    value = packet.get(key)
    if value is None:
        return default
    try:
        return int(str(value), 0)
    except ValueError:
        raise PacketError(f"packet: {key} is {value!r}, which is not a number") from None


def _address(packet: Mapping[str, Any], key: str) -> int:
    if not packet.get(key):
        raise PacketError(f"packet: {key} is missing; give the address the packet has when it reaches the host")
    try:
        return address(str(packet[key]))
    except Unsupported:
        raise PacketError(f"packet: {key} is {packet[key]!r}, which is not an IP address") from None


def state_of(packet: Mapping[str, Any]) -> State:
    """The state in which a described packet reaches the host.

    Keys: `source`, `destination` (addresses, the only ones without a default), `in`, `out` (interface names; unknown
    if left out), `protocol` (tcp), `source_port` (40000), `destination_port` (80), `state` (new), `mark` (0).
    Rarely needed: `connmark` (0 for a new connection, else unknown), `direction` (original or reply; original for a new
    connection), `original_destination` and `original_destination_port` (before a DNAT that happened already),
    `icmp_type`, `icmp_code` (echo-request for a new connection), `tcp_flags` (list; syn for a new connection),
    `physdev_in`, `physdev_out` (bridge ports). The packet is no fragment, has no options of
    IPv4 or extension headers of IPv6 and is not under IPsec.
    Raises PacketError.
    """
    unknown = sorted(str(key) for key in set(packet) - set(KEYS))
    if unknown:
        raise PacketError(f"packet: unknown key {', '.join(unknown)}; known are {', '.join(KEYS)}")
    state = State()
    state.src, state.dst = _address(packet, "source"), _address(packet, "destination")
    versions = {6 if ":" in str(packet[key]) else 4 for key in ("source", "destination")}
    if len(versions) != 1:
        raise PacketError("packet: source and destination are of different address families")
    state.family = versions.pop()
    name = str(packet.get("state") or "new").lower()
    if name not in STATES:
        raise PacketError(f"packet: state is {name!r}; known are {', '.join(STATES)}")
    fresh = name == "new"
    try:
        state.proto = protocol_number(packet.get("protocol") or "tcp")
    except Unsupported:
        raise PacketError(f"packet: protocol is {packet.get('protocol')!r}, which is not known") from None
    if state.proto == ICMP and state.family == 6:
        state.proto = ICMPV6
    ports = state.proto in WITH_PORTS
    state.sport = _number(packet, "source_port", 40000) if ports else ABSENT
    state.dport = _number(packet, "destination_port", 80) if ports else ABSENT
    for key in ("source_port", "destination_port"):
        if not 0 <= _number(packet, key, 0) <= 65535:
            raise PacketError(f"packet: {key} is {packet[key]!r}; ports are numbers from 0 to 65535")
    _layer_four(state, packet, fresh)
    state.iif = str(packet["in"]) if packet.get("in") else UNKNOWN
    state.oif = str(packet["out"]) if packet.get("out") else UNKNOWN
    state.physin = str(packet["physdev_in"]) if packet.get("physdev_in") else UNKNOWN
    state.physout = str(packet["physdev_out"]) if packet.get("physdev_out") else UNKNOWN
    state.mark = _number(packet, "mark", 0)
    state.tracking = "none"
    state.ctstate = STATES[name]
    state.ctmark = _number(packet, "connmark", 0 if fresh else UNKNOWN)
    state.ctdir = {"original": 0, "reply": 1}.get(str(packet.get("direction")), 0 if fresh else UNKNOWN)
    state.ctstatus = 0 if fresh else UNKNOWN
    # What goes the way of the first packet reaches the host as that did.
    first = fresh or state.ctdir == 0
    state.orig_src, state.orig_sport = (state.src, state.sport) if first else (UNKNOWN, UNKNOWN)
    state.orig_dst, state.orig_dport = (state.dst, state.dport) if first else (UNKNOWN, UNKNOWN)
    if not ports:  # conntrack keeps something else in their place: of ICMP its id, and its type with its code
        state.orig_sport = state.orig_dport = UNKNOWN
    state.nat_dst = state.nat_src = not fresh
    state.touched = False
    if packet.get("original_destination"):
        state.orig_dst = _address(packet, "original_destination")
        state.orig_dport = _number(packet, "original_destination_port", UNKNOWN)
        state.nat_dst = True
        if fresh:
            state.ctstatus = STATUS["dnat"]
    return state


def _layer_four(state: State, packet: Mapping[str, Any], fresh: bool) -> None:
    state.icmp_type = state.icmp_code = state.tcp_flags = ABSENT
    if state.proto in (ICMP, ICMPV6):
        echo = 8 if state.proto == ICMP else 128
        state.icmp_type = _number(packet, "icmp_type", echo if fresh else UNKNOWN)
        state.icmp_code = _number(packet, "icmp_code", 0 if fresh else UNKNOWN)
    if state.proto == TCP:
        given = packet.get("tcp_flags")
        if given is None:
            state.tcp_flags = TCP_FLAGS["syn"] if fresh else UNKNOWN
            return
        if not isinstance(given, (str, list, tuple)):
            raise PacketError(f"packet: tcp_flags is {given!r}; give a list, such as [syn, ack]")
        names = given.split(",") if isinstance(given, str) else given
        state.tcp_flags = 0
        for name in names:
            if name not in TCP_FLAGS:
                raise PacketError(f"packet: tcp_flags has {name!r}; known are {', '.join(TCP_FLAGS)}")
            state.tcp_flags |= TCP_FLAGS[name]


def describe(number: Any, family: int | None) -> str:
    """An address of a state as text."""
    import ipaddress

    if number is UNKNOWN or number is ABSENT:
        return repr(number)
    return str(ipaddress.IPv4Address(number) if family == 4 else ipaddress.IPv6Address(number))
