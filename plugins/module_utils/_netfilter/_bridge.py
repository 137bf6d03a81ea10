# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

"""`-m physdev`: which bridge ports the packet goes through."""

from typing import Any, Callable

from ._model import At
from ._packet import State
from ._values import UNKNOWN, Tri, Unsupported, interface


def came_by_bridge(state: State, at: At) -> Tri:
    """Whether br_netfilter shows the ip hooks a port that the packet came in by."""
    if state.physin not in (UNKNOWN, ""):
        return True
    if str(at.facts.sysctl.get("net.bridge.bridge-nf-call-iptables", "")) == "0" and state.family == 4:
        return False
    if str(at.facts.sysctl.get("net.bridge.bridge-nf-call-ip6tables", "")) == "0" and state.family == 6:
        return False
    return False if at.facts.is_bridge(state.iif) is False else None


def is_bridged(state: State, at: At) -> Tri:
    """Whether the packet stays on one bridge instead of being routed."""
    if UNKNOWN in (state.iif, state.oif):
        return None
    if state.iif != state.oif:
        return False
    came = came_by_bridge(state, at)
    return False if came is False else None if at.facts.is_bridge(state.iif) is not True else came


def physdev(option: str, values: list[str]) -> Callable[[State, At], Tri]:
    """The test of one `--physdev-*` option; raises Unsupported."""
    if option == "--physdev-is-in":
        return came_by_bridge
    if option in ("--physdev-is-out", "--physdev-is-bridged"):
        return is_bridged
    if option == "--physdev-in":
        return _port("physin", came_by_bridge, values[0])
    if option == "--physdev-out":
        return _port("physout", is_bridged, values[0])
    raise Unsupported(option)


def _port(field: str, possible: Callable[[State, At], Tri], name: str) -> Callable[[State, At], Tri]:
    match = interface(name, "+")

    def test(state: State, at: At) -> Tri:
        value: Any = getattr(state, field)
        if value is not UNKNOWN:
            return match(value)
        return False if possible(state, at) is False else None

    return test
