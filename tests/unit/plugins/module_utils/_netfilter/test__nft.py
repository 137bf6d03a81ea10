# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _nft

PLACE = {"family": "inet", "table": "t"}
DROP, JUMP = {"drop": None}, {"jump": {"target": "own"}}
SOURCE = {"payload": {"protocol": "ip", "field": "saddr"}}


def chain(name: str = "c", **more: Any) -> dict[str, Any]:
    return {"chain": {**PLACE, "name": name, "handle": 1, **more}}


def base(**more: Any) -> dict[str, Any]:
    return chain(**{"type": "filter", "hook": "forward", "prio": 5, "policy": "drop", **more})


def rule(*expressions: Any, **more: Any) -> dict[str, Any]:
    return {"rule": {**PLACE, "chain": "c", "handle": 9, "expr": list(expressions), **more}}


def table(**more: Any) -> dict[str, Any]:
    return {"table": {"family": "inet", "name": "t", **more}}


def read(*items: Any) -> Any:
    return _nft.read({"nftables": [{"metainfo": {"version": "1.0.6"}}, *items]})


@pytest.mark.parametrize("listing", ["", " \n", {}, None, '{"nftables": []}', {"nftables": [{}, "x", {"a": 1}]}])
def test_nothing_is_no_tables(listing: Any) -> None:
    assert _nft.read(listing) == []


@pytest.mark.parametrize(
    ("listing", "why"),
    [
        ('{"tables": []}', "has no list `nftables`"),
        ({"nftables": {}}, "has no list `nftables`"),
        ([1], "has no list `nftables`"),
        ("table inet t {\n}\n", "is no JSON"),
    ],
)
def test_what_is_no_listing_is_refused(listing: Any, why: str) -> None:
    with pytest.raises(ValueError, match=f"not what `nft -j list ruleset` prints: it {why}"):
        _nft.read(listing)


def test_a_table_with_its_chains_and_rules() -> None:
    (found,) = read(table(), base(), chain("own"), rule(DROP), {"rule": {**PLACE, "chain": "gone", "expr": [DROP]}})
    assert (found.family, found.name, found.backend, found.from_save) == ("inet", "t", "nft", False)
    assert list(found.chains) == ["c", "own"] and [one.name for one in found.base_chains()] == ["c"]
    first = found.chains["c"]
    assert (first.hook, first.priority, first.policy, first.type, first.handle) == ("forward", 5, "drop", "filter", 1)
    assert [(str(one), one.handle, one.may_drop()) for one in first.rules] == [("drop", 9, True)]
    assert found.chains["own"].hook is None


def test_a_listing_may_be_text_and_tables_of_one_name_are_told_apart_by_family() -> None:
    other = {"chain": {"family": "ip", "table": "t", "name": "c"}}
    found = _nft.read(json.dumps({"nftables": [base(), other]}))
    assert [(one.family, one.name) for one in found] == [("inet", "t"), ("ip", "t")]


def test_what_is_left_out_has_nfts_defaults() -> None:
    (found,) = read(chain(hook="input"))
    first = found.chains["c"]
    assert (first.type, first.policy, first.priority, first.device) == ("filter", "accept", 0, ())


@pytest.mark.parametrize(
    ("devices", "expected"),
    [({"dev": "eth0"}, ("eth0",)), ({"devs": ["a", "b"]}, ("a", "b")), ({"dev": ["a"]}, ("a",))],
)
def test_devices_are_one_or_several(devices: dict[str, Any], expected: tuple[str, ...]) -> None:
    (found,) = read(base(hook="ingress", **devices))
    assert found.chains["c"].device == expected
    (found,) = read({"flowtable": {**PLACE, "name": "f", "dev": list(expected)}})
    assert found.flowtable_devices == expected


@pytest.mark.parametrize(
    ("name", "flags", "called", "certain"),
    [
        ("t", None, True, True),
        ("t", "dormant", False, True),
        ("t", ["owner", "dormant"], False, True),
        ("t", "owner", True, True),
        ("t", ["owner", "persist"], True, True),
        ("t", "tcp", False, True),  # a word of chance of nft 1.0, which is dormant then
        ("firewalld", "tcp", True, False),
    ],
)
def test_a_table_may_be_asleep(name: str, flags: Any, called: bool, certain: bool) -> None:
    head = {"family": "inet", "name": name, **({"flags": flags} if flags else {})}
    (found,) = read({"table": head}, {"chain": {**base()["chain"], "table": name}})
    assert [one.certain for one in found.base_chains()] == ([certain] if called else [])


def match(right: Any, op: str = "==", left: Any = None) -> dict[str, Any]:
    return {"match": {"op": op, "left": left or SOURCE, "right": right}}


@pytest.mark.parametrize(
    ("expressions", "only_nft"),
    [
        ((match("10.0.0.1"), {"counter": None}, DROP), False),
        ((match({"prefix": {"addr": "10.0.0.0", "len": 8}}, "!="), JUMP), False),
        ((match({"set": ["10.0.0.1"]}), DROP), True),
        ((match("@s"), DROP), True),
        ((match(["new"], "in", {"ct": {"key": "state"}}), DROP), True),
        ((match("10.0.0.1", "<"), DROP), True),
        ((match("10.0.0.1"), match("10.0.0.2", "!="), DROP), True),  # the same field twice
        ((match({"set": []}), {"xt": {"type": "match", "name": "set"}}, DROP), True),
        (({"xt": {"type": "match", "name": "set"}}, match({"set": []}), DROP), False),
        (({"reject": None},), True),
        (("jump { drop }",), True),
    ],
)
def test_what_iptables_cannot_say_of_a_rule(expressions: tuple[Any, ...], only_nft: bool) -> None:
    (found,) = read(base(), rule(*expressions))
    assert found.chains["c"].rules[0].only_nft is only_nft


def test_what_a_rule_is_known_for() -> None:
    named = {"map": {**PLACE, "name": "m", "map": "verdict", "elem": [["cni0", JUMP]]}}
    lookup = {"vmap": {"key": {"meta": {"key": "iifname"}}, "data": "@m"}}
    fills = {"set": {"op": "add", "set": "@m", "elem": SOURCE}}
    (found,) = read(base(), named, rule(lookup), rule(fills, comment="x"), rule(DROP))
    first, second, third = found.chains["c"].rules
    assert (first.looks_up, first.effects, first.find_targets()) == (True, False, ("own",))
    assert (second.looks_up, second.effects, str(second).endswith('comment "x"')) == (False, True, True)
    assert (third.looks_up, third.effects, third.has_condition) == (False, False, False)
    assert first.may_drop(), "a later rule fills the map"
