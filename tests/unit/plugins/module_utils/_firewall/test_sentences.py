# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import judgement
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import Accepts, accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import judge
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.remedy import Jump, Remedy
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.sentences import advice, refusal
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import Ruleset

PODS = accepts_of(["10.42.0.0/16"], [])
PORTS = accepts_of([], [{"port": "2379-2380", "sources": ["192.0.2.11"]}])
SIX = accepts_of(["10.42.0.0/16", "fd42::/48"], [])


def save(*rules: str, policy: str = "ACCEPT", chains: tuple[str, ...] = ()) -> str:
    heads = [f":{name} {policy} [0:0]" for name in ("INPUT", "FORWARD")] + [f":{name} - [0:0]" for name in chains]
    return "\n".join(["*filter", *heads, *rules, "COMMIT", ""])


def node(nft_save: str = "", legacy: str = "", listed: list[Any] | None = None) -> dict[str, Any]:
    return {
        "iptables": {"nft": nft_save, "legacy": legacy},
        "ip6tables": {"nft": "", "legacy": ""},
        "nft": {"nftables": listed or []},
        "ip_route": [{"dst": "default", "dev": "eth0"}],
        "ip_rule": [],
    }


def inet(*rules: list[Any], policy: str = "accept", family: str = "inet") -> list[Any]:
    place = {"family": family, "table": "own"}
    chain = {**place, "name": "c", "handle": 1, "type": "filter", "hook": "forward", "prio": 0, "policy": policy}
    return [
        {"chain": chain},
        *({"rule": {**place, "chain": "c", "handle": 5 + n, "expr": e}} for n, e in enumerate(rules)),
    ]


DROP: dict[str, Any] = {"drop": None}
BY_CNI0 = {"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "cni0"}}


@pytest.fixture(autouse=True)
def _no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of the machine that runs the tests counts as the owner of a table."""
    monkeypatch.setattr(judgement, "NFT_FILES", ())
    monkeypatch.setattr(judgement, "IPTABLES_FILES", {4: (), 6: ()})


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A file of the host that loads the table of `inet`."""
    file = tmp_path / "own.nft"
    file.write_text("table inet own {\n chain c {\n  policy drop;\n  iifname cni0 drop\n }\n}\n")
    monkeypatch.setattr(judgement, "NFT_FILES", (str(file),))
    return file


def said(evidence: dict[str, Any], accepts: Accepts = PODS, idle: tuple[str, ...] = ()) -> str:
    return refusal("n2", Ruleset.from_evidence(evidence), judge(evidence, accepts), accepts, idle)


SSH = "-A FORWARD -p tcp -m tcp --dport 22 -j ACCEPT"


@pytest.mark.parametrize("backend", ["nft", "legacy"])
@pytest.mark.parametrize(
    ("rules", "place"),
    [
        ((SSH, "-A FORWARD -i eth9 -j ACCEPT", "-A FORWARD -j REJECT"), "-I FORWARD 3 "),
        (("-A FORWARD -j REJECT", SSH), "-I FORWARD 1 "),
        ((SSH,), "-A FORWARD "),
    ],
)
def test_the_place_right_before_what_drops(rules: tuple[str, ...], place: str, backend: str) -> None:
    text = save(*rules, policy="DROP")
    # Typed one after the other: the second comes before the first, and both before what drops.
    typed = [f"iptables-{backend} {place}{end} 10.42.0.0/16 -j ACCEPT" for end in ("-s", "-d")]
    found = said(node(text) if backend == "nft" else node(legacy=text))
    assert f"Add: {typed[0]}; {typed[1]}" in found and found.endswith(", or set firewall_mode=permitted.")
    assert ("which iptables-legacy holds" in found) is (backend == "legacy")


def test_a_whole_refusal() -> None:
    assert said(node(save("-A FORWARD -i cni0 -j DROP"))) == (
        "n2: pods are not forwarded: table ip filter, chain FORWARD, rule `-A FORWARD -i cni0 -j DROP`; no rule before "
        "it accepts 10.42.0.0/16. Add: iptables-nft -I FORWARD 1 -s 10.42.0.0/16 -j ACCEPT; iptables-nft -I FORWARD 1 "
        "-d 10.42.0.0/16 -j ACCEPT (right before `-A FORWARD -i cni0 -j DROP`), or set firewall_mode=permitted."
    )


def test_what_is_accepted_has_no_sentence() -> None:
    assert said(node(save())) == ""


@pytest.mark.parametrize(("rule", "begin"), [
    ("-p udp -m udp --dport 53", "n2: some of the pods' traffic is not forwarded (pod to pod on another node, DNS; "
     "pod from pod on another node, DNS; pod to outside, DNS): table ip filter, chain FORWARD, rule `-A FORWARD -p"),
    ("-p udp", "n2: some of the pods' traffic is not forwarded (pod to pod on another node, DNS; pod from pod on "
     "another node, DNS; pod to pod on another node, UDP 30001 and 2 more)"),
    ("-p tcp", "n2: pods are not forwarded: table ip filter, chain FORWARD, rule `-A FORWARD -p tcp -j DROP`"),
])  # fmt: skip
def test_what_is_dropped_of_it(rule: str, begin: str) -> None:
    assert said(node(save(f"-A FORWARD {rule} -j DROP"))).startswith(begin)


def test_one_sentence_for_each_place() -> None:
    found = said(node(save("-A FORWARD -i cni0 -j DROP"), legacy=save(policy="DROP")))
    assert found.count("n2: ") == 2 and found.count("firewall_mode=permitted") == 2
    assert "no rule before it accepts" in found.split("n2: ")[1] and "no rule accepts" in found.split("n2: ")[2]


def test_ports_are_named_with_their_senders() -> None:
    found = said(node(save("-A INPUT -j REJECT")), PORTS)
    assert found.startswith("n2: what the cluster sends to this host is not let in: table ip filter, chain INPUT, ")
    assert "no rule before it accepts tcp 2379 from 192.0.2.11, tcp 2380 from 192.0.2.11." in found
    assert "-I INPUT 1 -p tcp -s 192.0.2.11/32 -m tcp --dport 2379:2380 -j ACCEPT" in found


@pytest.mark.parametrize(
    ("rule", "accepts", "begin"),
    [
        ("FORWARD", PODS, "n2: the rules alone do not tell whether pods are forwarded (pod to pod on another node): "),
        ("INPUT", PORTS, "n2: the rules alone do not tell whether what the cluster sends to this host is let in "),
    ],
)
def test_what_may_be_dropped(rule: str, accepts: Accepts, begin: str) -> None:
    found = said(node(save(f"-A {rule} -m set --match-set blocked src -j DROP")), accepts)
    assert found.startswith(begin) and "-j DROP` may or may not match." in found and "Add" not in found


def test_rules_that_were_not_looked_at() -> None:
    evidence = node(save())
    del evidence["nft"]
    assert said(evidence).startswith("n2: the rules alone do not tell whether pods are forwarded")
    assert "may or may not match" not in said(evidence)


def test_only_the_ip_version_that_is_dropped() -> None:
    chains = ("ufw-before-forward", "ufw-before-input")
    text = save("-A FORWARD -j ufw-before-forward", "-A INPUT -j ufw-before-input", policy="DROP", chains=chains)
    found = said(node(text), SIX)
    assert "no rule accepts 10.42.0.0/16. Add: ufw route allow from 10.42.0.0/16; ufw route allow to" in found
    assert "fd42" not in found


def test_a_table_of_a_file_is_mended_at_a_handle(here: pathlib.Path) -> None:
    found = said(node(listed=inet([BY_CNI0, DROP])))
    assert f"Loaded by {here}. Add: nft insert rule inet own c handle 5 ip saddr 10.42.0.0/16 accept; nft" in found
    found = said(node(listed=inet(policy="drop")))
    assert "Add: nft add rule inet own c ip saddr 10.42.0.0/16 accept" in found


@pytest.mark.parametrize(
    ("rules", "policy", "by_hand"),
    [
        ((), "drop", "nft add rule inet own c ip saddr 10.42.0.0/16 accept; nft add rule inet own c ip daddr"),
        (([BY_CNI0, DROP],), "accept", "nft insert rule inet own c handle 5 ip saddr 10.42.0.0/16 accept; nft insert"),
    ],
)
def test_a_table_that_no_one_names_is_mended_by_hand(rules: tuple[list[Any], ...], policy: str, by_hand: str) -> None:
    found = said(node(listed=inet(*rules, policy=policy)))
    assert "Not mended by firewall_mode=permitted, because no program and no file of this host" in found
    assert f"The rules to add: {by_hand}" in found and "Add:" not in found


def test_a_drop_at_another_hook_has_no_rules_to_add() -> None:
    place = {"family": "bridge", "table": "b"}
    chain = {**place, "name": "c", "type": "filter", "hook": "input", "prio": 0, "policy": "drop"}
    evidence = {
        **node(listed=[{"chain": chain}]),
        "ip_address": [{"ifname": "cni0", "linkinfo": {"info_kind": "bridge"}}],
    }
    assert "because it is dropped in the hook input" in said(evidence) and "The rules to add" not in said(evidence)


def test_what_is_denied_on_purpose_gets_no_rule_that_undoes_it() -> None:
    deny = "-A FORWARD -s 10.42.0.0/24 -j DROP"
    found = said(node(save(deny)))
    assert "Not mended by firewall_mode=permitted, because the rule drops 10.42.0.5 and lets others" in found
    assert "The rules to add" not in found and found.endswith(
        "iptables-nft -t filter -D FORWARD -s 10.42.0.0/24 -j DROP."
    )


def test_a_firewall_that_does_not_run_is_not_told() -> None:
    text = save("-A FORWARD -j ufw-before-forward", policy="DROP", chains=("ufw-before-forward",))
    assert "chain FORWARD (ufw), policy drop" in said(node(text)) and "Add: ufw route" in said(node(text))
    idle = said(node(text), idle=("ufw",))
    assert "chain FORWARD, policy drop" in idle and "Add: iptables-nft -A FORWARD" in idle


NATIVE = Jump("forward", "nft", "inet", "own", "c", "drop", 7)


@pytest.mark.parametrize(
    ("remedy", "accepts", "typed"),
    [
        (Remedy("ufw", "input"), PORTS, "ufw allow proto tcp from 192.0.2.11/32 to any port 2379:2380"),
        (
            Remedy("firewalld", "forward"),
            SIX,
            "firewall-cmd --permanent --zone=trusted --add-source=10.42.0.0/16 --add-source=fd42::/48; "
            "firewall-cmd --reload",
        ),
        (Remedy("jump", "forward"), PODS, ""),
        (
            Remedy("jump", "forward", NATIVE),
            PODS,
            "nft insert rule inet own c handle 7 ip saddr 10.42.0.0/16 accept; "
            "nft insert rule inet own c handle 7 ip daddr 10.42.0.0/16 accept",
        ),
        (
            Remedy("jump", "forward", Jump("forward", "nft", "ip6", "own", "c")),
            SIX,
            "nft add rule ip6 own c ip6 saddr fd42::/48 accept; nft add rule ip6 own c ip6 daddr fd42::/48 accept",
        ),
        (
            Remedy("jump", "forward", Jump("forward", "legacy", "ip6", "filter", "FORWARD")),
            SIX,
            "ip6tables-legacy -A FORWARD -s fd42::/48 -j ACCEPT; ip6tables-legacy -A FORWARD -d fd42::/48 -j ACCEPT",
        ),
    ],
)
def test_the_commands_that_a_person_would_type(remedy: Remedy, accepts: Accepts, typed: str) -> None:
    assert advice(remedy, accepts, Ruleset.from_evidence(node())) == typed
