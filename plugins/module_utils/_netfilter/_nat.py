# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What address translation does to the state. A mapping is made once per connection and direction."""

from __future__ import annotations

from typing import Any

from ._model import Alternative, At
from ._packet import STATUS, State
from ._values import ABSENT, UNKNOWN


def destination(state: State, at: At, addresses: Any, ports: Any = None) -> list[Alternative]:
    """DNAT to an address (None keeps it, a list is a choice, UNKNOWN is any), and to a port likewise."""
    if addresses is None:
        addresses = state.dst
    choices = addresses if isinstance(addresses, list) else [addresses]
    results: list[Alternative] = []
    for choice in choices:
        changed = state.copy(dst=choice, nat_dst=True, touched=True)
        if ports is not None and state.dport is not ABSENT:
            changed.dport = ports
        if (changed.dst, changed.dport) != (state.dst, state.dport):
            changed.ctstatus = UNKNOWN if state.ctstatus is UNKNOWN else state.ctstatus | STATUS["dnat"]
        if UNKNOWN in (changed.dst, changed.dport):
            changed.ctstatus = UNKNOWN  # it may be what it was
        results.append(("accept", None, changed))
    return results


def source(state: State, at: At, address: Any, port: Any = UNKNOWN) -> list[Alternative]:
    """SNAT and MASQUERADE; the kernel picks the port, so it is unknown unless given."""
    changed = state.copy(src=address, nat_src=True, touched=True, ctstatus=UNKNOWN)
    if state.sport is not ABSENT:
        changed.sport = port
    if address is not UNKNOWN and address != state.src and state.ctstatus is not UNKNOWN:
        changed.ctstatus = state.ctstatus | STATUS["snat"]
    return [("accept", None, changed)]


def masquerade(state: State, at: At) -> list[Alternative]:
    """SNAT to the outgoing interface's own address, known where the evidence has exactly one."""
    found = [value for value, link in at.facts.addresses.get(state.family, set()) if link == state.oif]
    # nf_nat_masquerade_ipv4 drops the packet where the interface has no address.
    if at.facts.has_addresses and state.oif is not UNKNOWN and state.oif in at.facts.links and not found:
        return [("drop", None, state)] if state.family == 4 else source(state, at, UNKNOWN)
    return source(state, at, found[0] if len(found) == 1 and state.family == 4 else UNKNOWN)


def redirect(state: State, at: At) -> list[Alternative]:
    """REDIRECT: the host itself becomes the destination."""
    return [("local", None, state)]


def parse_target(text: str) -> tuple[Any, Any | None]:
    """(addresses, ports) of `--to-destination` and `--to-source`; ranges are UNKNOWN, what is left out is None."""
    from ._values import address

    host, port = text, ""
    if text.startswith("["):
        host, _bracket, port = text[1:].partition("]")
        port = port.lstrip(":")
    elif text.count(":") == 1:
        host, _colon, port = text.partition(":")
    ports = (int(port) if port.isdigit() else UNKNOWN) if port else None
    low, dash, high = host.partition("-")
    if not host:
        return None, ports
    if dash and low != high:
        return UNKNOWN, ports
    return address(low), ports
