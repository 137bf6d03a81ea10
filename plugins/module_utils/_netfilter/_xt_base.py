# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the readers of matches share."""

from __future__ import annotations

from typing import Any, Callable

from ._model import At
from ._packet import State
from ._values import ABSENT, UNKNOWN, Choice, Matcher, Tri, all_of, equals, negate, port_number, within

Options = list[tuple[bool, str, list[str]]]  # negated, option, values
Match = Callable[[State, At], Tri]


def field_is(name: str, match: Matcher) -> Match:
    def test(state: State, at: At) -> Tri:
        value = getattr(state, name)
        return False if value is ABSENT else match(value)

    return test


def in_name(state: State, at: At) -> Any:
    """Name of the incoming interface at this hook, empty where the kernel gives none."""
    if at.hook in ("output",):
        return ""
    if at.hook == "postrouting" and at.facts.kernel < (5, 7):
        return ""  # kernel 28f8bfd1ac94: iif in postrouting since 5.7
    if at.hook == "postrouting" and at.layer == "ip" and at.bridged is not False:
        return "" if at.bridged else UNKNOWN  # br_netfilter gives no incoming interface there
    if at.layer == "bridge":
        return _port(state.physin, state.iif, at)
    return state.iif


def out_name(state: State, at: At) -> Any:
    if at.hook in ("prerouting", "input", "ingress"):
        return ""
    return _port(state.physout, state.oif, at) if at.layer == "bridge" else state.oif


def _port(port: Any, bridge: Any, at: At) -> Any:
    """At the bridge's own hooks the interface is a port."""
    ports = at.facts.ports(bridge) if port is UNKNOWN else []
    return Choice(ports) if ports else port


def port_range(text: str) -> Matcher:
    low, colon, high = text.partition(":")
    if not colon:
        return equals(port_number(low))
    return within(port_number(low) if low else 0, port_number(high) if high else 65535)


def every(tests: list[tuple[bool, Match]]) -> Match:
    def match(state: State, at: At) -> Tri:
        return all_of(negate(test(state, at)) if negated else test(state, at) for negated, test in tests)

    return match
