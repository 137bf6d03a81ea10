# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What iptables matches of the connection: `-m conntrack`, `-m state`, `-m mark`, `-m connmark`."""

from __future__ import annotations

from typing import Any, Callable

from ._model import At
from ._packet import STATES, STATUS, State
from ._values import UNKNOWN, Tri, Unsupported, any_of, equals, masked, network, protocol_number
from ._xt_base import Match, Options, every, field_is, port_range


def conntrack_state(state: State, at: At) -> Any:
    """The `ct state` bit as the kernel answers it at this place."""
    if at.layer == "bridge":
        return UNKNOWN
    if state.tracking is UNKNOWN:
        return UNKNOWN
    before = {"none": STATES["invalid"], "untracked": STATES["untracked"], "template": STATES["new"]}
    return state.ctstate if state.tracking == "tracked" else before[state.tracking]


def conntrack(options: Options, family: int) -> Match:
    tests: list[tuple[bool, Match]] = []
    for negated, name, values in options:
        reader = _CONNTRACK.get(name)
        if reader is None:
            raise Unsupported(name)
        tests.append((negated, reader(values[0], family)))
    needs_connection = [pair for pair, option in zip(tests, options) if option[1] not in ("--ctstate", "--state")]
    state_tests = every([pair for pair in tests if pair not in needs_connection])
    test = every(tests)

    def match(state: State, at: At) -> Tri:
        # xt_conntrack without a connection: only the state can match, and nothing else is looked at.
        if needs_connection and conntrack_state(state, at) in (STATES["invalid"], STATES["untracked"]):
            return state_tests(state, at) if len(tests) > len(needs_connection) else False
        if needs_connection and state.tracking == "template":
            return False if state_tests(state, at) is False else None
        return test(state, at)

    return match


def _one_of_states(text: str, family: int) -> Match:
    names = {name.lower() for name in text.split(",")}
    bits = sum(STATES[name] for name in names if name in STATES)
    status = sum(STATUS[name] for name in names & {"snat", "dnat"})
    if names - set(STATES) - {"snat", "dnat"}:
        raise Unsupported(text)

    def match(state: State, at: At) -> Tri:
        current = conntrack_state(state, at)
        by_state: Tri = None if current is UNKNOWN else bool(current & bits)
        if not status or current in (STATES["invalid"], STATES["untracked"]):
            return by_state
        return any_of((by_state, None if state.ctstatus is UNKNOWN else bool(state.ctstatus & status)))

    return match


def _one_of_status(text: str, family: int) -> Match:
    names = {"seen-reply" if name == "SEEN_REPLY" else name.lower() for name in text.split(",")}
    if names == {"none"}:
        raise Unsupported(text)
    bits = sum(STATUS[name] for name in names)
    return field_is("ctstatus", lambda value: None if value is UNKNOWN else bool(value & bits))


def _direction(text: str, family: int) -> Match:
    return field_is("ctdir", equals({"ORIGINAL": 0, "REPLY": 1}[text]))


def _original(field: str) -> Callable[[str, int], Match]:
    def read(text: str, family: int) -> Match:
        base, mask = network(text, family)
        return field_is(field, masked(base, mask))

    return read


_CONNTRACK: dict[str, Callable[[str, int], Match]] = {
    "--ctstate": _one_of_states,
    "--state": _one_of_states,
    "--ctstatus": _one_of_status,
    "--ctdir": _direction,
    "--ctproto": lambda text, family: field_is("proto", equals(protocol_number(text))),
    "--ctorigsrc": _original("orig_src"),
    "--ctorigdst": _original("orig_dst"),
    "--ctorigsrcport": lambda text, family: field_is("orig_sport", port_range(text)),
    "--ctorigdstport": lambda text, family: field_is("orig_dport", port_range(text)),
}


def mark_is(name: str) -> Callable[[Options, int], Match]:
    def read(options: Options, family: int) -> Match:
        tests: list[tuple[bool, Match]] = []
        for negated, option, values in options:
            if option != "--mark":
                raise Unsupported(option)
            value, _slash, mask = values[0].partition("/")
            word = int(mask, 0) if mask else 0xFFFFFFFF
            tests.append((negated, field_is(name, masked(int(value, 0), word))))
        return every(tests)

    return read


def connmark(options: Options, family: int) -> Match:
    test = mark_is("ctmark")(options, family)

    def match(state: State, at: At) -> Tri:
        # xt_connmark answers false, whatever is negated, where there is no connection.
        if conntrack_state(state, at) in (STATES["invalid"], STATES["untracked"]):
            return False
        return None if state.tracking == "template" else test(state, at)

    return match
