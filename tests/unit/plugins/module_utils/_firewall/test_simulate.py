# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import Accepts, accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.remedy import Jump, Remedy
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.simulate import carry_out, chain_of, position
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, INPUT, Ruleset, walk

BOTH = accepts_of(["10.42.0.0/16", "fd42::/48"], [{"port": "6443", "sources": ["192.0.2.11"]}])
POD = {"in": "cni0", "source": "10.42.0.5", "destination": "192.0.2.9"}
API = {"in": "eth0", "source": "192.0.2.11", "destination": "192.0.2.12", "destination_port": 6443}


def save(*rules: str, chains: tuple[str, ...] = ()) -> str:
    heads = [
        ":INPUT DROP [0:0]",
        ":FORWARD DROP [0:0]",
        ":OUTPUT ACCEPT [0:0]",
        *(f":{name} - [0:0]" for name in chains),
    ]
    return "\n".join(["*filter", *heads, *rules, "COMMIT", ""])


def rules_of(nft: str = "", legacy: str = "", listed: list[Any] | None = None) -> Ruleset:
    return Ruleset.from_evidence({"iptables": {"nft": nft, "legacy": legacy}, "nft": {"nftables": listed or []}})


def texts(rules: Ruleset, chain: str = "FORWARD", table: int = 0) -> list[str]:
    return [str(rule) for rule in rules.tables[table].chains[chain].rules]


def jump(**more: Any) -> Jump:
    return Jump(**{"hook": "forward", "backend": "nft", "family": "ip", "table": "filter", "chain": "FORWARD", **more})


OURS = ["-A PODNET -s 10.42.0.0/16 -j ACCEPT", "-A PODNET -d 10.42.0.0/16 -j ACCEPT"]
OURS_6 = ["-A PODNET -s fd42::/48 -j ACCEPT", "-A PODNET -d fd42::/48 -j ACCEPT"]
ONE, LAST = "-A FORWARD -i eth9 -j ACCEPT", "-A FORWARD -j REJECT"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", [ONE, LAST, *OURS, *OURS_6]),
        (LAST, [ONE, *OURS, *OURS_6, LAST]),
        (ONE, [*OURS, *OURS_6, ONE, LAST]),
        ("-A FORWARD -j GONE", [ONE, LAST, *OURS, *OURS_6]),
    ],
)
def test_accepts_stand_where_the_jump_would(before: str, expected: list[str]) -> None:
    rules = rules_of(save(ONE, LAST))
    carry_out(rules, Remedy("jump", "forward", jump(before=before)), BOTH)
    assert texts(rules) == expected


def test_they_do_what_they_say() -> None:
    rules = rules_of(save(LAST))
    assert walk(rules, POD, FORWARD).verdict == "drop"
    carry_out(rules, Remedy("jump", "forward", jump(before=LAST)), BOTH)
    assert walk(rules, POD, FORWARD).verdict == "accept"
    assert walk(rules, {**POD, "source": "10.43.0.5"}, FORWARD).verdict == "drop"
    assert walk(rules, API, INPUT).verdict == "drop"
    carry_out(rules, Remedy("jump", "input", jump(hook="input", chain="INPUT")), BOTH)
    assert walk(rules, API, INPUT).verdict == "accept"
    assert walk(rules, {**API, "destination_port": 22}, INPUT).verdict == "drop"


@pytest.mark.parametrize("wrong", [{"backend": "legacy"}, {"family": "ip6"}, {"table": "mangle"}, {"chain": "GONE"}])
def test_a_place_that_is_not_there_changes_nothing(wrong: dict[str, str]) -> None:
    rules = rules_of(save(ONE))
    assert chain_of(rules, jump(**wrong)) is None
    carry_out(rules, Remedy("jump", "forward", jump(**wrong)), BOTH)
    assert texts(rules) == [ONE]


def test_the_table_of_the_backend_that_is_told() -> None:
    rules = rules_of(save(ONE), legacy=save(LAST))
    found = chain_of(rules, jump(backend="legacy"))
    assert [str(rule) for rule in found.rules] == [LAST] and found.table.backend == "legacy"


PLACE = {"family": "inet", "table": "filter"}
NATIVE: list[Any] = [
    {"chain": {**PLACE, "name": "c", "type": "filter", "hook": "forward", "prio": 0, "policy": "accept"}},
    *({"rule": {**PLACE, "chain": "c", "handle": handle, "expr": [{"drop": None}]}} for handle in (4, 5)),
]


@pytest.mark.parametrize(
    ("before", "handle", "nth", "index"),
    [
        ("drop", 5, 1, 1), ("drop", 4, 2, 0), ("drop", None, 1, 0), ("drop", None, 2, 1), ("drop", 9, 1, 0),
        ("accept", 9, 1, 2), ("", 5, 1, 2),
    ],
)  # fmt: skip
def test_a_place_is_found_by_its_handle_then_by_its_text(before: str, handle: int | None, nth: int, index: int) -> None:
    place = jump(family="inet", chain="c", before=before, handle=handle, nth=nth)
    assert position(chain_of(rules_of(listed=NATIVE), place), place) == index


@pytest.mark.parametrize(
    ("tool", "rule", "kept"),
    [
        ("ufw", "-A FORWARD -j ufw-before-forward", True),
        ("ufw", "-A FORWARD -j ufw6-before-forward", True),
        ("ufw", "-A FORWARD -j FWDI_public", False),
        ("firewalld", "-A FORWARD -j FWDI_public", True),
        ("firewalld", "-A FORWARD -j FORWARD_direct", True),
        ("firewalld", "-A FORWARD -j ufw-before-forward", False),
        ("firewalld", "-A FORWARD -j REJECT", False),
    ],
)
def test_a_firewall_is_told_where_its_chains_are_entered(tool: str, rule: str, kept: bool) -> None:
    other = rule.replace("FORWARD", "INPUT", 1)
    rules = rules_of(save(ONE, rule, other, chains=(rule.split()[-1],)), legacy=save(LAST))
    carry_out(rules, Remedy(tool, "forward"), BOTH)
    assert texts(rules) == [*([*OURS, *OURS_6] if kept else []), ONE, rule]
    assert texts(rules, table=1) == [LAST], "the other backend's rules are none of its own"
    assert texts(rules, "INPUT") == [other], "nor is the other hook"


def test_the_table_of_firewalld_is_firewallds_alone() -> None:
    place = {"family": "inet", "table": "firewalld"}
    chain = {**place, "name": "filter_FORWARD", "type": "filter", "hook": "forward", "prio": 10, "policy": "drop"}
    nat = {**place, "name": "nat_FORWARD", "type": "nat", "hook": "forward", "prio": 10, "policy": "accept"}
    for tool, expected in (("firewalld", OURS), ("ufw", [])):
        rules = rules_of(listed=[{"chain": chain}, {"chain": nat}])
        carry_out(rules, Remedy(tool, "forward"), Accepts(("10.42.0.0/16",), ()))
        assert texts(rules, "filter_FORWARD") == expected and texts(rules, "nat_FORWARD") == []
