# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`-m physdev`: which bridge ports the packet goes through."""

from __future__ import annotations

from typing import Callable

from ._facts import Facts
from ._model import At
from ._packet import State
from ._values import UNKNOWN, Matcher, Tri, Unsupported, all_of, interface, negate, same


def came_by_bridge(state: State, at: At) -> Tri:
    """Whether br_netfilter shows the ip hooks a port that the packet came in by."""
    if state.physin not in (UNKNOWN, ""):
        return True
    calls = str(
        at.facts.sysctl.get(f"net.bridge.bridge-nf-call-{'iptables' if state.family == 4 else 'ip6tables'}", "")
    )
    bridge = at.facts.is_bridge(state.iif)
    if calls == "0" or bridge is False:
        return False
    return True if calls == "1" and bridge else None


def stays(state: State, facts: Facts) -> Tri:
    """Whether the packet stays on one bridge, from port to port, instead of being routed."""
    if UNKNOWN in (state.iif, state.oif):
        # A packet to forward is routed, unless both of its ends are known to be on the bridge that is told.
        known, other = (state.iif, state.dst) if state.oif is UNKNOWN else (state.oif, state.src)
        return None if known is not UNKNOWN and facts.on_link(other, known, state.family) else False
    if state.iif != state.oif or facts.is_bridge(state.iif) is False:
        return False
    if state.orig_dst not in (state.dst, UNKNOWN):
        return False  # sent to another address, which only the host itself answers for
    if facts.is_bridge(state.iif) is None:
        return None
    return (
        True
        if facts.on_link(state.src, state.iif, state.family) is True
        and facts.on_link(state.dst, state.oif, state.family) is True
        else None
    )


def is_bridged(state: State, at: At) -> Tri:
    """What `--physdev-is-bridged` asks: whether a port to leave by is chosen, which no one has before forwarding."""
    if at.hook in ("prerouting", "input"):
        return False
    return all_of((stays(state, at.facts), came_by_bridge(state, at)))


def physdev(option: str, values: list[str], negated: bool) -> Callable[[State, At], Tri]:
    """The test of one `--physdev-*` option; raises Unsupported."""
    if option == "--physdev-out":
        return _leaves_by(interface(values[0], "+"), negated)
    test = _test_of(option, values)
    return (lambda state, at: negate(test(state, at))) if negated else test


def _test_of(option: str, values: list[str]) -> Callable[[State, At], Tri]:
    if option == "--physdev-is-in":
        return came_by_bridge
    if option in ("--physdev-is-out", "--physdev-is-bridged"):
        return is_bridged
    if option == "--physdev-in":
        return _came_in_by(interface(values[0], "+"))
    raise Unsupported(option)


def _came_in_by(match: Matcher) -> Callable[[State, At], Tri]:
    def test(state: State, at: At) -> Tri:
        if state.physin is not UNKNOWN:
            return match(state.physin)
        there = came_by_bridge(state, at)
        ports = at.facts.ports(state.iif)
        return False if there is False else all_of((there, same(match(port) for port in ports)))

    return test


def _leaves_by(match: Matcher, negated: bool) -> Callable[[State, At], Tri]:
    """xt_physdev: what came by no bridge fulfils a negated test; what did, and leaves by none, fulfils neither."""

    def test(state: State, at: At) -> Tri:
        came = came_by_bridge(state, at)
        if came is False:
            return negated
        leaves = state.physout not in (UNKNOWN, "") or is_bridged(state, at)
        ports = [state.physout] if state.physout is not UNKNOWN else at.facts.ports(state.oif)
        found = all_of((leaves, same(match(port) != negated for port in ports)))
        return found if came or (found is False and not negated) else None

    return test
