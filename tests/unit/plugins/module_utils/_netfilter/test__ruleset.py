# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import Ruleset

SAVE = "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -s 10.244.0.0/16 -j ACCEPT\nCOMMIT\n"
DROP = {"drop": None}


def chain(table: str, hook: str, prio: int = 0, family: str = "inet", **more: Any) -> dict[str, Any]:
    body = {"family": family, "table": table, "name": f"{hook}{prio}", "type": "filter", "hook": hook, "prio": prio}
    return {"chain": {**body, **more}}


def rules_of(*listed: Any, **keys: Any) -> Ruleset:
    texts = {"nft": "", "legacy": ""}
    return Ruleset.from_evidence({"iptables": texts, "ip6tables": texts, "nft": {"nftables": list(listed)}, **keys})


@pytest.mark.parametrize(
    ("without", "four", "six"),
    [
        ((), (), ()),
        (("nft",), ("nft",), ("nft",)),
        (("iptables",), ("iptables.legacy",), ()),
        (("ip6tables",), (), ("ip6tables.legacy",)),
        (("iptables", "nft"), ("nft", "iptables.legacy", "iptables.nft"), ("nft",)),
    ],
)
def test_what_was_not_looked_at_is_listed_by_ip_version(
    without: tuple[str, ...], four: tuple[str, ...], six: tuple[str, ...]
) -> None:
    node: dict[str, Any] = {"iptables": {"nft": "", "legacy": ""}, "ip6tables": {"nft": "", "legacy": ""}, "nft": {}}
    found = Ruleset.from_evidence({key: value for key, value in node.items() if key not in without})
    assert found.missing == {4: four, 6: six} and found.tables == []


def test_a_listing_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="nft ruleset"):
        Ruleset.from_evidence({"nft": {"tables": []}})


def test_tables_of_all_backends_and_families() -> None:
    found = rules_of(
        chain("own", "forward"),
        iptables={"nft": SAVE, "legacy": SAVE},
        ip6tables={"nft": SAVE.replace("10.244.0.0/16", "fd42::/48"), "legacy": ""},
    )
    assert sorted((one.family, one.name, one.backend) for one in found.tables) == [
        ("inet", "own", "nft"), ("ip", "filter", "legacy"), ("ip", "filter", "nft"), ("ip6", "filter", "nft"),
    ]  # fmt: skip


def merged(expr: list[Any], more: int = 0) -> Any:
    place = {"family": "ip", "table": "filter"}
    head = {**place, "name": "FORWARD", "type": "filter", "hook": "forward", "prio": -7, "policy": "drop", "handle": 1}
    rules = [{"rule": {**place, "chain": "FORWARD", "handle": 4 + n, "expr": expr}} for n in range(1 + more)]
    (table,) = rules_of({"chain": head}, *rules, iptables={"nft": SAVE, "legacy": ""}).tables
    return table.chains["FORWARD"]


XT = [{"xt": {"type": "match", "name": "x"}}, {"accept": None}]


def test_a_table_that_both_tools_show_has_the_rules_of_one_and_the_places_of_the_other() -> None:
    found = merged(XT)
    assert (found.priority, found.policy, found.table.from_save) == (-7, "drop", True)
    (rule,) = found.rules
    assert (str(rule), rule.handle) == ("-A FORWARD -s 10.244.0.0/16 -j ACCEPT", 4)
    assert rule.find_targets() == ("ACCEPT",) and len(rule.steps) == 2


def test_what_only_nft_can_say_stays_nfts() -> None:
    assert [str(one) for one in merged([{"reject": None}]).rules] == ["reject"]


def test_a_chain_to_which_rules_were_added_beside_is_nfts() -> None:
    assert [str(one) for one in merged(XT, more=1).rules] == ["xt match x accept"] * 2


@pytest.mark.parametrize(
    ("layer", "hook", "version", "names"),
    [
        ("ip", "forward", 4, ["c", "a", "b"]),
        ("ip", "forward", 6, ["a", "b", "d"]),
        ("ip", "input", 4, []),
        ("bridge", "forward", 4, ["e"]),
        ("netdev", "ingress", 4, ["f", "g"]),
    ],
)
def test_base_chains_by_priority_then_as_listed(layer: str, hook: str, version: int, names: list[str]) -> None:
    found = rules_of(
        chain("a", "forward"), chain("b", "forward"), chain("c", "forward", -5, "ip"), chain("d", "forward", 5, "ip6"),
        chain("e", "forward", 0, "bridge"), chain("f", "ingress", 0, "netdev"), chain("g", "ingress"),
    )  # fmt: skip
    for _again in range(2):
        assert [one.table.name for one in found.base_chains(layer, hook, version)] == names


def test_flow_tables_by_their_devices() -> None:
    found = rules_of({"flowtable": {"family": "ip", "table": "t", "name": "f", "dev": ["eth0", "cni0"]}})
    assert found.has_flowtable(4, ["cni0", "eth9"]) and not found.has_flowtable(4, ["eth9"])
    assert found.has_flowtable(4, [object()]), "a device that is not known may be one of them"
    assert not found.has_flowtable(6, ["cni0"]) and not rules_of().has_flowtable(4, [object()])


@pytest.mark.parametrize(("family", "sees"), [("inet", False), ("bridge", True), ("netdev", True)])
def test_rules_that_count_by_the_device(family: str, sees: bool) -> None:
    assert rules_of(chain("t", "forward", family=family)).sees_devices() is sees


@pytest.mark.parametrize(
    ("hook", "expr", "translates"),
    [
        ("prerouting", [{"dnat": {"addr": "10.1.0.1"}}], True),
        ("prerouting", [DROP], False),
        ("postrouting", [{"snat": {"addr": "10.1.0.1"}}], False),
    ],
)
def test_rules_that_may_give_another_destination(hook: str, expr: list[Any], translates: bool) -> None:
    place = {"family": "ip", "table": "t", "chain": f"{hook}0"}
    found = rules_of(chain("t", hook, family="ip", type="nat"), {"rule": {**place, "expr": expr}})
    assert found.translates(4) is found.translates(4) is translates and not found.translates(6)
