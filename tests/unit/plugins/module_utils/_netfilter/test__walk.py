# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, INPUT, Ruleset, walk

PACKET = {"in": "cni0", "out": "flannel.1", "source": "10.244.1.5", "destination": "10.244.2.7"}
EMPTY = {"nftables": []}


def filter_table(*rules: str, policy: str = "ACCEPT", chains: tuple[str, ...] = ()) -> str:
    """The text of a filter table as iptables-save writes it."""
    heads = [
        ":INPUT ACCEPT [0:0]",
        f":FORWARD {policy} [0:0]",
        ":OUTPUT ACCEPT [0:0]",
        *(f":{c} - [0:0]" for c in chains),
    ]
    return "\n".join(["*filter", *heads, *(f"[0:0] {rule}" for rule in rules), "COMMIT", ""])


def node(nft_save: str = "", legacy: str = "", nft: Any = None) -> dict[str, Any]:
    return {"iptables": {"nft": nft_save, "legacy": legacy, "selected": "nft"}, "nft": nft or EMPTY}


def judge(evidence: dict[str, Any], packet: dict[str, Any] | None = None, hooks: tuple[str, ...] = FORWARD) -> Any:
    return walk(Ruleset.from_evidence(evidence), {**PACKET, **(packet or {})}, hooks)


def base(
    table: str, priority: int, *expressions: list[Any], policy: str = "accept", hook: str = "forward"
) -> list[Any]:
    """The nft listing of an inet table with one base chain."""
    body = {
        "family": "inet",
        "table": table,
        "name": "c",
        "type": "filter",
        "hook": hook,
        "prio": priority,
        "policy": policy,
    }
    rules = [
        {"rule": {"family": "inet", "table": table, "chain": "c", "handle": 9, "expr": one}} for one in expressions
    ]
    return [{"table": {"family": "inet", "name": table}}, {"chain": body}, *rules]


def listing(*tables: list[Any]) -> dict[str, Any]:
    return {"nftables": [item for table in tables for item in table]}


def test_policy_drop_is_told_with_its_place() -> None:
    verdict = judge(node(filter_table(policy="DROP")))
    assert (verdict.verdict, verdict.lower, verdict.upper) == ("drop", "drop", "drop")
    assert (verdict.by.table, verdict.by.chain, verdict.by.rule, verdict.by.backend) == (
        "filter", "FORWARD", "(policy drop)", "nft",
    )  # fmt: skip


def test_an_accept_before_the_policy_defeats_it() -> None:
    rules = ("-A FORWARD -j FLANNEL-FWD", "-A FLANNEL-FWD -s 10.244.0.0/16 -j ACCEPT")
    verdict = judge(node(filter_table(*rules, policy="DROP", chains=("FLANNEL-FWD",))))
    assert verdict.verdict == "accept"
    assert verdict.by.owner == "flannel"


@pytest.mark.parametrize(("rules", "expected"), [
    (("-A FORWARD -j REJECT", "-A FORWARD -s 10.244.0.0/16 -j ACCEPT"), "drop"),
    (("-A FORWARD -s 10.244.0.0/16 -j ACCEPT", "-A FORWARD -j REJECT"), "accept"),
])  # fmt: skip
def test_the_position_of_a_reject_counts(rules: tuple[str, ...], expected: str) -> None:
    assert judge(node(filter_table(*rules))).verdict == expected


def test_both_backends_see_the_packet() -> None:
    accepting = filter_table("-A FORWARD -s 10.244.0.0/16 -j ACCEPT")
    verdict = judge(node(accepting, legacy=filter_table(policy="DROP")))
    assert (verdict.verdict, verdict.by.backend) == ("drop", "legacy")


@pytest.mark.parametrize("priority", [-10, 0, 10])
def test_an_accept_ends_its_own_base_chain_only(priority: int) -> None:
    accepting = filter_table("-A FORWARD -j ACCEPT")
    verdict = judge(node(accepting, nft=listing(base("filter", priority, policy="drop"))))
    assert (verdict.verdict, verdict.by.family, verdict.by.rule) == ("drop", "inet", "(policy drop)")


def test_return_in_a_base_chain_is_the_policy() -> None:
    assert judge(node(filter_table("-A FORWARD -j RETURN", "-A FORWARD -j ACCEPT", policy="DROP"))).verdict == "drop"


def test_goto_does_not_come_back_to_its_chain() -> None:
    rules = (
        "-A FORWARD -j A", "-A FORWARD -j ACCEPT", "-A A -g B", "-A A -j DROP", "-A B -s 192.0.2.1 -j DROP",
    )  # fmt: skip
    assert judge(node(filter_table(*rules, policy="DROP", chains=("A", "B")))).verdict == "accept"


def test_goto_from_a_base_chain_ends_in_its_policy() -> None:
    rules = ("-A FORWARD -g B", "-A FORWARD -j ACCEPT", "-A B -s 192.0.2.1 -j ACCEPT")
    assert judge(node(filter_table(*rules, policy="DROP", chains=("B",)))).verdict == "drop"


@pytest.mark.parametrize("comment", ['"-j DROP"', "-j", '"a \\" -j DROP"', '"!"'])
def test_a_comment_that_looks_like_a_rule_is_a_comment(comment: str) -> None:
    rule = f"-A FORWARD -m comment --comment {comment} -j ACCEPT"
    assert judge(node(filter_table(rule, policy="DROP"))).verdict == "accept"


def test_an_unknown_match_bounds_only_what_depends_on_it() -> None:
    limited = "-A FORWARD -m limit --limit 3/min -j {}"
    verdict = judge(node(filter_table(limited.format("DROP"))))
    assert (verdict.verdict, verdict.lower, verdict.upper) == ("undetermined", "drop", "accept")
    assert "limit" in verdict.by.rule
    assert judge(node(filter_table(limited.format("LOG")))).verdict == "accept"
    assert judge(node(filter_table(limited.format("ACCEPT")))).verdict == "accept"
    assert judge(node(filter_table(limited.format("DROP"), policy="DROP"))).verdict == "drop"


def test_what_was_not_looked_at_leaves_an_accept_open_and_a_drop_certain() -> None:
    evidence = node(filter_table())
    del evidence["nft"]
    verdict = judge(evidence)
    assert (verdict.verdict, verdict.upper) == ("undetermined", "accept")
    assert "nft" in verdict.by.action
    evidence = node(filter_table(policy="DROP"))
    del evidence["nft"]
    assert judge(evidence).verdict == "drop"


def test_an_implied_protocol_breaks_off_a_negated_test_too() -> None:
    not_dns = [
        {"match": {"op": "!=", "left": {"payload": {"protocol": "udp", "field": "dport"}}, "right": 53}},
        {"drop": None},
    ]
    assert judge(node(nft=listing(base("t", 0, not_dns)))).verdict == "accept"
    assert judge(node(nft=listing(base("t", 0, not_dns))), {"protocol": "udp"}).verdict == "drop"


def test_the_input_hook_is_walked_alike() -> None:
    closed = [
        {"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}}, "right": 8472}},
        {"drop": None},
    ]
    evidence = node(nft=listing(base("t", 0, closed, hook="input")))
    packet = {"in": "eth0", "protocol": "udp", "destination_port": 8472}
    assert judge(evidence, packet, INPUT).verdict == "drop"
    assert judge(evidence, packet, FORWARD).verdict == "accept"
