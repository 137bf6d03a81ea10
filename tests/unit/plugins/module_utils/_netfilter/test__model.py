# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Long chains: packets pass rules about other addresses unread, and meet all others in order."""

from __future__ import annotations

import random

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, Ruleset, _model, walk

PACKET = {"in": "cni0", "out": "flannel.1", "source": "10.244.1.5", "destination": "10.244.2.7"}
SERVICE = "192.0.2.10"


def rules_of(*forward: str, chains: str = "") -> Ruleset:
    lines = [one if one.startswith("-A") else f"-A FORWARD {one}" for one in forward]
    text = "\n".join(("*filter", ":FORWARD ACCEPT [0:0]" + chains, *(f"[0:0] {one}" for one in lines), "COMMIT", ""))
    return Ruleset.from_evidence({"iptables": {"nft": text, "legacy": ""}, "nft": {"nftables": []}})


def others(count: int) -> list[str]:
    return [f"-d 198.51.{index // 250}.{index % 250 + 1}/32 -j DROP" for index in range(count)]


def chain_of(rules: Ruleset) -> _model.Chain:
    return next(table.chains["FORWARD"] for table in rules.tables if "FORWARD" in table.chains)


def verdict(rules: Ruleset, destination: str) -> tuple[str, str]:
    found = walk(rules, {**PACKET, "destination": destination}, FORWARD)
    return found.verdict, found.by.rule if found.by else ""


def test_only_rules_about_the_address_or_about_all_are_read():
    rules = rules_of(*others(500), f"-d {SERVICE}/32 -p udp -j ACCEPT", "-p tcp -j DROP", f"-d {SERVICE}/32 -j ACCEPT")
    assert verdict(rules, SERVICE) == ("drop", "-A FORWARD -p tcp -j DROP")
    assert sum(rule._steps is not None for rule in chain_of(rules).rules) == 2


def test_a_chain_whose_rules_change_packets_is_read_from_first_to_last():
    rules = rules_of(*others(100), "-j MARK --set-xmark 0x1/0x1")
    chain = chain_of(rules)
    assert chain.rules_for({1}) is chain.rules


def test_what_a_destination_of_all_addresses_or_a_negated_one_matches_is_read():
    rules = rules_of(*others(100), f"! -d {SERVICE}/32 -j DROP")
    assert verdict(rules, SERVICE)[0] == "accept" and verdict(rules, "10.244.2.7")[0] == "drop"
    rules = rules_of(*others(100), "-d 192.0.2.0/24 -j DROP")
    assert verdict(rules, SERVICE)[0] == "drop"


def test_any_order_gives_what_reading_all_gives(monkeypatch):
    chosen = random.Random(4)
    for _round in range(40):
        lines = others(80) + [
            f"-d {SERVICE}/32 -m statistic --mode random --probability 0.5 -j DROP",
            f"-d {SERVICE}/32 -s 10.244.0.0/16 -p tcp -j ACCEPT",
            "-s 10.244.1.0/24 -m limit --limit 1/sec -j ACCEPT",
            f"-d {SERVICE}/32 -j DROP",
            "-d 10.244.2.7/32 -j DROP",
        ]
        chosen.shuffle(lines)
        for destination in (SERVICE, "10.244.2.7", "198.51.0.3", "10.244.2.8"):
            quick = verdict(rules_of(*lines), destination)
            with monkeypatch.context() as patch:
                patch.setattr(_model, "LONG", 10_000)
                assert verdict(rules_of(*lines), destination) == quick


def test_hosts_share_what_they_have_in_common():
    one, other = rules_of(*others(3)), rules_of("-j ACCEPT", *others(3))
    assert [id(rule) for rule in chain_of(one).rules] == [id(rule) for rule in chain_of(other).rules[1:]]


def test_a_name_is_a_chain_of_its_own_table_or_a_target():
    lines = "-j OWN", "-A OWN -j DROP"
    assert walk(rules_of(*lines, chains="\n:OWN - [0:0]"), PACKET, FORWARD).verdict == "drop"
    assert walk(rules_of("-j OWN"), PACKET, FORWARD).verdict == "undetermined"
