# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import SIX, at, number, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._model import ACT, MATCH, Table
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._nft_scope import Scope
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._nft_statements import (
    EFFECTS,
    compile_rule,
    targets_of,
)
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN

IIF, MARK = {"meta": {"key": "iifname"}}, {"meta": {"key": "mark"}}
UDP = {"protocol": "udp"}
DROP, JUMP = {"drop": None}, {"jump": {"target": "own"}}


def scope(family: str = "inet", **elements: list[Any]) -> Scope:
    found = Scope(Table(family, "t", "nft"))
    found.sets.update({name: {"map": "verdict", "elem": elem} for name, elem in elements.items()})
    return found


def payload(protocol: str, field: str) -> dict[str, Any]:
    return {"payload": {"protocol": protocol, "field": field}}


def match(left: Any, right: Any, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": left, "right": right}}


def mangle(key: Any, value: Any) -> dict[str, Any]:
    return {"mangle": {"key": key, "value": value}}


def done(statement: dict[str, Any], changed: dict[str, Any] | None = None, hook: str = "forward", **packet: Any) -> Any:
    """What the last step of a rule of one statement answers."""
    steps = compile_rule([statement], scope())
    return steps[-1][1](state(changed, **packet), at(hook))


@pytest.mark.parametrize(
    ("statement", "packet", "answer"),
    [
        (match(IIF, "cni0"), {}, True),
        (match(IIF, "cni0", "!="), {}, False),
        (match(payload("udp", "dport"), 53, "!="), {}, False),  # not UDP: the rule breaks off
        (match(payload("udp", "dport"), 53, "!="), UDP, True),
        (match({"numgen": {"mode": "inc", "mod": 2}}, 0), {}, None),
        (match({"numgen": {"mode": "inc", "mod": 2}}, 5), {}, False),
        (match({"exthdr": {"name": "rt", "field": "type"}}, 0, "!="), SIX, False),
        (match({"ip option": {"name": "ssrr", "field": "type"}}, 0), {}, False),
        (match(IIF, {"set": []}, "~"), {}, None),
        (match(MARK, "pods"), {}, None),
        (match(payload("ip", "saddr"), "@gone"), {}, None),
        ({"match": {"left": IIF}}, {}, None),
        ({"limit": {"rate": 3}}, {}, None),
        ({"counter": {"map": {"key": IIF, "data": "@m"}}}, {}, None),
    ],
)
def test_matches(statement: dict[str, Any], packet: dict[str, Any], answer: Any) -> None:
    ((kind, function),) = compile_rule([statement], scope())
    assert kind == MATCH and function(state(**packet), at()) is answer


@pytest.mark.parametrize("name", ["counter", "log", "last", "ct helper", "dup"])
def test_what_only_watches_is_no_step(name: str) -> None:
    assert compile_rule([{name: {"x": 1}}], scope()) == []


VMAP = {"vmap": {"key": IIF, "data": {"set": [["cni0", DROP], ["eth*", JUMP], ["lo", {"continue": None}]]}}}


@pytest.mark.parametrize(
    ("statement", "packet", "actions"),
    [
        ({"accept": None}, {}, ["accept"]),
        ({"drop": None}, {}, ["drop"]),
        ({"return": None}, {}, ["return"]),
        ({"continue": None}, {}, ["next"]),
        (JUMP, {}, ["jump own"]),
        ({"goto": {"target": "own"}}, {}, ["goto own"]),
        (VMAP, {}, ["drop"]),
        (VMAP, {"in": "eth0"}, ["jump own"]),
        (VMAP, {"in": "lo"}, ["next"]),
        (VMAP, {"in": "cni9"}, ["break"]),
        (VMAP, {"in": ""}, ["jump own", "drop", "next", "break"]),
        ({"vmap": {"key": payload("udp", "dport"), "data": {"set": [[53, DROP]]}}}, {}, ["break"]),
        (
            {"vmap": {"key": IIF, "data": {"set": [["cni0", {"future": None}]]}}},
            {},
            ["next", "accept", "drop", "break"],
        ),
        ({"reject": None}, {}, ["drop"]),
        ({"reject": {"type": "icmp"}}, {}, ["drop"]),
        ({"reject": {"type": "icmp"}}, SIX, ["break"]),
        ({"reject": {"type": "icmpv6"}}, SIX, ["drop"]),
        ({"reject": {"type": "tcp reset"}}, UDP, ["break"]),
        ({"set": {"op": "add", "elem": payload("ip", "saddr"), "set": "@s"}}, {}, ["next", "break"]),
        ({"set": {"op": "add", "elem": payload("ip", "saddr"), "set": "@s"}}, SIX, ["break"]),
        ({"set": {"op": "delete", "elem": payload("ip", "saddr"), "set": "@s"}}, {}, ["next"]),
        ({"queue": {"num": 0}}, {}, ["accept", "drop"]),
        ({"tproxy": {"port": 1}}, {}, ["next", "local", "break"]),
        ({"synproxy": None}, {}, ["next", "accept", "drop", "break"]),
        ({"flow": {"op": "add", "flowtable": "@f"}}, {}, ["next", "break"]),
        ({"fwd": {"dev": "eth0"}}, {}, ["local"]),
        ({"redirect": {"port": 1}}, {}, ["local"]),
        ({"xt": {"type": "target", "name": "LOG"}}, {}, ["next"]),
        ({"xt": {"type": "target", "name": "REJECT"}}, {}, ["drop"]),
        ({"xt": {"type": "match", "name": "conntrack"}}, {}, ["next", "break"]),
        ({"xt": {"type": "target", "name": "NOSUCH"}}, {}, ["next", "accept", "drop", "break"]),
        ({"futurestatement": {}}, {}, ["next", "accept", "drop", "break"]),
        ({"text": "jump { drop }"}, {}, ["next", "accept", "drop", "break"]),
        (mangle({"meta": {"key": "pkttype"}}, "host"), {}, ["next"]),
        (mangle({"meta": {"key": "pkttype"}}, "other"), {}, ["next", "drop"]),
        (mangle({"meta": {"key": "priority"}}, 1), {}, ["next"]),
        (mangle(payload("ip", "ttl"), 1), {}, ["next", "drop"]),
        (mangle(payload("ip", "ttl"), 64), {}, ["next"]),
        (mangle(payload("ip6", "hoplimit"), 64), {}, ["break"]),
        (mangle(payload("ip", "dscp"), "cs1"), {}, ["next"]),
        (mangle({"tcp option": {"name": "maxseg"}}, 1400), {}, ["next", "break"]),
    ],
)
def test_what_a_statement_does_to_the_packets_way(
    statement: dict[str, Any], packet: dict[str, Any], actions: list[str]
) -> None:
    found = [f"{action} {target}" if target else action for action, target, _state in done(statement, **packet)]
    assert found == actions


@pytest.mark.parametrize(
    ("statement", "changed", "hook", "after"),
    [
        (mangle(MARK, 7), {}, "forward", {"mark": 7, "touched": True}),
        (mangle(MARK, {"|": [MARK, 8]}), {"mark": 1}, "forward", {"mark": 9}),
        (mangle({"ct": {"key": "mark"}}, 7), {}, "forward", {"ctmark": 7}),
        (mangle({"ct": {"key": "mark"}}, 7), {"tracking": "none", "ctmark": 1}, "forward", {"ctmark": 1}),
        (mangle({"ct": {"key": "mark"}}, 7), {"tracking": UNKNOWN, "ctmark": 1}, "forward", {"ctmark": UNKNOWN}),
        (mangle({"ct": {"key": "zone"}}, 3), {"tracking": "none", "ctmark": 1}, "prerouting",
         {"tracking": "template", "ctmark": UNKNOWN}),
        (mangle({"ct": {"key": "zone"}}, 3), {"tracking": "untracked"}, "prerouting", {"tracking": "template"}),
        (mangle({"ct": {"key": "zone"}}, 3), {"ctmark": 1}, "forward", {"tracking": "tracked", "ctmark": 1}),
        (mangle(payload("ip", "saddr"), "10.1.0.1"), {}, "forward", {"src": number("10.1.0.1")}),
        (mangle(payload("tcp", "dport"), 81), {}, "forward", {"dport": 81}),
        ({"notrack": None}, {"tracking": "none"}, "prerouting", {"tracking": "untracked"}),
        ({"ct timeout": "long"}, {"tracking": "none"}, "prerouting", {"tracking": "template"}),
        ({"dnat": {"family": "ip", "addr": "10.244.2.9", "port": 81}}, {}, "prerouting",
         {"dst": number("10.244.2.9"), "dport": 81, "ctstatus": 32}),
        ({"dnat": {"port": 81}}, {}, "prerouting", {"dst": number("10.244.2.7"), "dport": 81}),
        ({"dnat": {"addr": {"range": ["10.1.0.1", "10.1.0.9"]}}}, {}, "prerouting", {"dst": UNKNOWN}),
        ({"dnat": {"addr": {"map": {"key": IIF, "data": {"set": [["cni0", {"concat": ["10.1.0.1", 5]}]]}}}}}, {},
         "prerouting", {"dst": number("10.1.0.1"), "dport": 5}),
        ({"snat": {"addr": "192.0.2.5"}}, {}, "postrouting", {"src": number("192.0.2.5"), "sport": UNKNOWN}),
        ({"snat": {"port": 5}}, {}, "postrouting", {"src": number("10.244.1.5")}),
        ({"masquerade": None}, {}, "postrouting", {"src": UNKNOWN}),
        ({"xt": {"type": "target", "name": "SNAT"}}, {}, "postrouting", {"src": UNKNOWN}),
        ({"queue": None}, {"mark": 7}, "forward", {"mark": UNKNOWN}),
    ],
)  # fmt: skip
def test_what_a_statement_changes(
    statement: dict[str, Any], changed: dict[str, Any], hook: str, after: dict[str, Any]
) -> None:
    found = done(statement, changed, hook)[0][2]
    assert {name: getattr(found, name) for name in after} == after


@pytest.mark.parametrize(("hook", "action"), [("prerouting", "next"), ("output", "next"), ("forward", "local")])
def test_a_destination_that_is_rewritten_after_routing_goes_nowhere(hook: str, action: str) -> None:
    assert done(mangle(payload("ip", "daddr"), "10.1.0.1"), hook=hook)[0][0] == action
    assert done(mangle(payload("ip", "daddr"), "10.244.2.7"), hook=hook)[0][0] == "next"


def test_a_translation_of_another_family_breaks_off() -> None:
    assert done({"dnat": {"family": "ip6", "addr": "fd42::9"}}, hook="prerouting")[0][0] == "break"
    chance = {"dnat": {"addr": {"map": {"key": IIF, "data": {"set": [["eth0", "10.1.0.1"]]}}}}}
    assert [one[0] for one in done(chance, hook="prerouting")] == ["break"]


RESET, ICMP = {"reject": {"type": "tcp reset"}}, {"reject": {"type": "icmp"}}


@pytest.mark.parametrize(
    ("statements", "family", "hidden"),
    [
        ([RESET], "inet", True),
        ([RESET], "ip", False),
        ([match(payload("ip", "saddr"), "10.0.0.1"), RESET], "inet", False),
        ([match(payload("tcp", "dport"), 80), RESET], "inet", True),
        ([match({"meta": {"key": "nfproto"}}, "ipv4"), ICMP], "inet", True),
        ([ICMP], "inet", False),
        ([DROP], "inet", False),
    ],
)
def test_a_test_of_the_ip_version_that_the_listing_hides(statements: list[Any], family: str, hidden: bool) -> None:
    steps = compile_rule(statements, scope(family))
    assert (len(steps) == len(statements) + 1) is hidden
    assert not hidden or (steps[0][0] == MATCH and steps[0][1](state(), at()) is None)
    assert steps[-1][0] == ACT


@pytest.mark.parametrize(
    ("statements", "targets"),
    [
        ([JUMP], ("own",)),
        ([match(IIF, "x"), {"goto": {"target": "own"}}], ("own",)),
        ([VMAP], ("own",)),
        ([{"vmap": {"key": IIF, "data": "@verdicts"}}], ("one", "two")),
        ([{"vmap": {"key": IIF, "data": "@gone"}}], ()),
        ([DROP], ()),
    ],
)
def test_the_chains_that_a_rule_may_enter(statements: list[Any], targets: tuple[str, ...]) -> None:
    named = scope(verdicts=[["a", {"jump": {"target": "one"}}], ["b", {"goto": {"target": "two"}}]])
    assert targets_of(statements, named) == targets


def test_what_changes_packets_for_later_chains_has_effects() -> None:
    assert {"mangle", "dnat", "notrack", "text"} <= EFFECTS and not EFFECTS & {"accept", "drop", "counter", "match"}
