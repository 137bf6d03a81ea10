# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import judgement
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import judge
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.remedy import Jump, Refusal, remedy_for
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.sentences import refusal
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.simulate import carry_out
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import Ruleset

CIDR = "10.42.0.0/16"


def save(*rules: str, policy: str = "ACCEPT", chains: tuple[str, ...] = ()) -> str:
    own = [f":{name} - [0:0]" for name in chains]
    heads = [":INPUT ACCEPT [0:0]", f":FORWARD {policy} [0:0]", ":OUTPUT ACCEPT [0:0]"]
    return "\n".join(["*filter", *heads, *own, *(f"[0:0] {rule}" for rule in rules), "COMMIT", ""])


def node(nft_save: str = "", legacy: str = "", nft: Any = None) -> dict[str, Any]:
    return {
        "iptables": {"nft": nft_save, "legacy": legacy, "selected": "nft"},
        "ip6tables": {"nft": "", "legacy": "", "selected": "nft"},
        "nft": nft or {"nftables": []},
    }


DROP = {"drop": None}


def is_(field: str, value: Any) -> dict[str, Any]:
    return {"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": field}}, "right": value}}


def inet_filter(
    policy: str = "drop",
    rules: tuple[list[Any], ...] = (),
    hook: str = "forward",
    extra: dict[str, list[list[Any]]] | None = None,
    objects: tuple[dict[str, Any], ...] = (),
) -> dict[str, Any]:
    place = {"family": "inet", "table": "filter"}
    chain = {**place, "name": hook, "handle": 1, "type": "filter", "hook": hook, "prio": 0, "policy": policy}
    items: list[Any] = [{"table": {"family": "inet", "name": "filter"}}, {"chain": chain}, *objects]
    items += [{"chain": {**place, "name": name, "handle": 90}} for name in extra or {}]
    items += [{"rule": {**place, "chain": name, "handle": 91, "expr": e}} for name in extra or {} for e in extra[name]]
    items += [{"rule": {**place, "chain": hook, "handle": 5 + n, "expr": e}} for n, e in enumerate(rules)]
    return {"nftables": items}


@pytest.fixture(autouse=True)
def _no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of the machine that runs the tests counts as the owner of a table."""
    monkeypatch.setattr(judgement, "NFT_FILES", ())
    monkeypatch.setattr(judgement, "IPTABLES_FILES", {4: (), 6: ()})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the host that loads the table of `inet_filter`."""
    file = tmp_path / "nftables.conf"
    chain = "type filter hook forward priority 0; policy drop;\n  iifname { cni0, eth9 } drop\n"
    file.write_text(f"table inet filter {{\n chain forward {{\n  {chain} }}\n chain logdrop {{\n  drop\n }}\n}}\n")
    monkeypatch.setattr(judgement, "NFT_FILES", (str(file),))
    return file


ACCEPTS = accepts_of([CIDR], [])


def remedy(evidence: dict[str, Any]) -> Any:
    return remedy_for(Ruleset.from_evidence(evidence), judge(evidence, ACCEPTS)[0])


@pytest.mark.parametrize("backend", ["nft", "legacy"])
def test_a_policy_is_met_at_the_end_of_the_chain_of_its_backend(backend: str) -> None:
    text = save(policy="DROP")
    evidence = node(text) if backend == "nft" else node(legacy=text)
    assert remedy(evidence).jump == Jump("forward", backend, "ip", "filter", "FORWARD")


def test_a_rule_is_met_right_before_it() -> None:
    found = remedy(node(save("-A FORWARD -i eth9 -j ACCEPT", "-A FORWARD -j REJECT")))
    assert found.jump.before == "-A FORWARD -j REJECT"


@pytest.mark.parametrize("behind", [
    "-A FORWARD -s 10.42.0.5/32 -d 10.42.1.5/32 -j DROP",
    "-A FORWARD -j KUBE-ROUTER-FORWARD",
    "-A FORWARD -j cali-FORWARD",
])  # fmt: skip
def test_no_accept_comes_before_what_denies(behind: str) -> None:
    chains = ("KUBE-ROUTER-FORWARD", "cali-FORWARD")
    evidence = node(save("-A FORWARD -j REJECT", behind, chains=chains))
    with pytest.raises(Refusal, match="stay denied"):
        remedy(evidence)
    text = refusal("n1", Ruleset.from_evidence(evidence), judge(evidence, ACCEPTS), ACCEPTS)
    assert text.endswith("Move what drops behind it, or remove it.")  # and no rule that would undo the denial


def test_a_denied_pair_stays_denied() -> None:
    deny = "-A FORWARD -s 10.42.0.5/32 -j DROP"
    evidence = node(save(deny, policy="DROP"))
    rules = Ruleset.from_evidence(evidence)
    dropped = [one for one in judge(evidence, ACCEPTS, rules) if one.verdict.by.rule == "(policy drop)"]
    carry_out(rules, remedy_for(rules, dropped[0]), ACCEPTS)
    after = {one.verdict.by.rule for one in judge(evidence, ACCEPTS, rules) if one.verdict.verdict == "drop"}
    assert after == {deny}


def test_what_a_policy_engine_denies_is_not_mended() -> None:
    rules = ("-A FORWARD -j KUBE-ROUTER-FORWARD", "-A KUBE-ROUTER-FORWARD -s 10.42.0.0/16 -j DROP")
    with pytest.raises(Refusal, match="kube-router denies it"):
        remedy(node(save(*rules, chains=("KUBE-ROUTER-FORWARD",))))


def test_docker_is_told_in_the_chain_it_keeps_for_others() -> None:
    rules = ("-A FORWARD -j DOCKER-USER", "-A FORWARD -j DOCKER-FORWARD", "-A DOCKER-USER -j RETURN")
    found = remedy(node(save(*rules, policy="DROP", chains=("DOCKER-USER", "DOCKER-FORWARD"))))
    assert (found.jump.chain, found.jump.before) == ("DOCKER-USER", "-A DOCKER-USER -j RETURN")


def test_ufw_and_firewalld_are_told_themselves() -> None:
    rules = ("-A FORWARD -j ufw-before-forward",)
    assert remedy(node(save(*rules, policy="DROP", chains=("ufw-before-forward",)))).tool == "ufw"


def test_a_firewall_that_does_not_run_is_told_nothing() -> None:
    rules = ("-A FORWARD -j ufw-before-forward",)
    evidence = node(save(*rules, policy="DROP", chains=("ufw-before-forward",)))
    read, dropped = Ruleset.from_evidence(evidence), judge(evidence, ACCEPTS)[0]
    assert remedy_for(read, dropped, {"ufw"}).jump == Jump("forward", "nft", "ip", "filter", "FORWARD")
    told = [refusal("n2", read, [dropped], ACCEPTS, idle) for idle in ((), {"ufw"})]
    assert ["chain FORWARD (ufw), policy drop" in text for text in told] == [True, False]
    assert "Add: iptables-nft -A FORWARD" in told[1]
    table = json.loads(json.dumps(inet_filter()).replace('"table": "filter"', '"table": "firewalld"'))
    evidence = node(nft=table)
    text = refusal("n2", Ruleset.from_evidence(evidence), judge(evidence, ACCEPTS), ACCEPTS, {"firewalld"})
    assert "firewalld does not run" in text and text.endswith("nft delete table inet firewalld.")


def test_a_table_that_no_one_names_is_left_alone_and_the_rule_to_add_is_shown() -> None:
    evidence = node(nft=inet_filter())
    with pytest.raises(Refusal, match="no program and no file"):
        remedy(evidence)
    text = refusal("n2", Ruleset.from_evidence(evidence), judge(evidence, ACCEPTS), ACCEPTS)
    assert text.startswith(
        "n2: pods are not forwarded: table inet filter, chain forward, policy drop; no rule accepts 10.42.0.0/16."
    )
    assert "nft add rule inet filter forward ip saddr 10.42.0.0/16 accept" in text


def test_a_table_that_a_file_loads_is_mended_there(here: Path) -> None:
    evidence = node(nft=inet_filter())
    assert remedy(evidence).jump == Jump("forward", "nft", "inet", "filter", "forward")
    text = refusal("n2", Ruleset.from_evidence(evidence), judge(evidence, ACCEPTS), ACCEPTS)
    assert f"Loaded by {here}. Add: nft add rule inet filter forward" in text
    assert text.endswith("or set firewall_mode=permitted.")


def test_a_remedy_uncovers_the_next_drop() -> None:
    evidence = node(save(policy="DROP"), legacy=save(policy="DROP"))
    rules = Ruleset.from_evidence(evidence)
    told = []
    for _round in range(2):
        dropped = next(one for one in judge(evidence, ACCEPTS, rules) if one.verdict.verdict == "drop")
        found = remedy_for(rules, dropped)
        told.append(found.jump.backend)
        carry_out(rules, found, ACCEPTS)
    assert sorted(told) == ["legacy", "nft"]
    assert {one.verdict.verdict for one in judge(evidence, ACCEPTS, rules)} == {"accept"}


def test_ports_are_walked_through_the_input_hook() -> None:
    accepts = accepts_of([], [{"port": "6443", "sources": ["192.0.2.11"]}])
    evidence = node(save("-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT", "-A INPUT -j REJECT"))
    found = remedy_for(Ruleset.from_evidence(evidence), judge(evidence, accepts)[0])
    assert (found.jump.hook, found.jump.chain, found.jump.before) == ("input", "INPUT", "-A INPUT -j REJECT")


def test_a_pod_of_the_host_reaches_its_ports_by_its_own_address() -> None:
    evidence = {
        **node(save("-A INPUT -s 192.0.2.0/24 -j ACCEPT", "-A INPUT -j REJECT")),
        "ip_address": [
            {"ifname": "flannel.1", "addr_info": [{"family": "inet", "local": "10.42.1.0", "prefixlen": 32}]},
            {"ifname": "cni0", "addr_info": [{"family": "inet", "local": "10.42.1.1", "prefixlen": 24}]},
        ],
        "ip_route": [{"dst": "10.42.1.0/24", "dev": "cni0"}, {"dst": "10.42.0.0/24", "dev": "flannel.1"}],
        "ip_rule": [],
    }
    accepts = accepts_of([], [{"port": "6443", "sources": ["192.0.2.11", CIDR]}])
    judged = judge(evidence, accepts)
    assert [one.verdict.verdict for one in judged] == ["drop", "accept"]
    assert (judged[0].packet["source"], judged[0].packet["in"]) == ("10.42.1.2", "cni0")
    text = refusal("n1", Ruleset.from_evidence(evidence), judged, accepts)
    assert "what the cluster sends to this host is not let in: table ip filter, chain INPUT" in text
    assert "no rule before it accepts tcp 6443 from 10.42.1.2" in text


LOG_AND_DROP = ("-A LOGDROP -j LOG", "-A LOGDROP -j DROP")


@pytest.mark.parametrize("backend", ["nft", "legacy"])
@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        # From other hooks, for single addresses and for the rest.
        (("-A INPUT -i cni0 -p tcp --dport 22 -j LOGDROP", "-A FORWARD -s 10.42.0.66 -j LOGDROP",
          "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT", "-A FORWARD -j LOGDROP"),
         ("FORWARD", "-A FORWARD -j LOGDROP")),
        (("-A FORWARD -s 10.42.0.66 -g LOGDROP", "-A FORWARD -g LOGDROP"), ("FORWARD", "-A FORWARD -g LOGDROP")),
        # By a chain of its own, once: that is the smallest place.
        (("-A INPUT -p tcp --dport 22 -j LOGDROP", "-A FORWARD -j MINE", "-A MINE -i cni0 -j LOGDROP"),
         ("MINE", "-A MINE -i cni0 -j LOGDROP")),
        # The chain is entered from one place, but the one that leads there from two.
        (("-A INPUT -j MINE", "-A FORWARD -j MINE", "-A MINE -j LOGDROP"), ("FORWARD", "-A FORWARD -j MINE")),
        (("-A FORWARD -j LOGDROP",), ("LOGDROP", "-A LOGDROP -j DROP")),
    ],
)  # fmt: skip
def test_a_chain_that_others_enter_is_left_alone(
    entries: tuple[str, ...], expected: tuple[str, str], backend: str
) -> None:
    text = save(*entries, *LOG_AND_DROP, chains=("LOGDROP", "MINE"))
    jump = remedy(node(text) if backend == "nft" else node(legacy=text)).jump
    assert (jump.chain, jump.before) == expected


@pytest.mark.parametrize("verb", ["jump", "goto"])
def test_a_chain_of_nft_that_others_enter_is_left_alone(verb: str, here: Path) -> None:
    enter = {verb: {"target": "logdrop"}}
    evidence = node(
        nft=inet_filter("accept", ([is_("saddr", "10.42.0.66"), enter], [enter]), extra={"logdrop": [[DROP]]})
    )
    found = remedy(evidence).jump
    assert (found.chain, found.before, found.handle) == ("forward", f"{verb} logdrop", 6)


@pytest.mark.parametrize("shared", [
    ("-A FORWARD -j MINE", "-A FORWARD -s 10.42.0.66 -j DROP"),
    ("-A FORWARD -j MINE", "-A INPUT -j MINE", "-A MINE -s 10.42.0.66 -j DROP"),
    ("-A FORWARD -j MINE", "-A FORWARD -s 10.42.0.66 -j LAST", "-A LAST -j DROP"),
    ("-A FORWARD -j MINE", "-A FORWARD -j LAST", "-A LAST -s 10.42.0.66 -j DROP"),
    ("-A FORWARD -j MINE", "-A FORWARD -j NFQUEUE --queue-num 0"),
    ("-A FORWARD -j MINE", "-A FORWARD -j DOCKER-USER", "-A DOCKER-USER -s 10.42.0.66 -j DROP"),
])  # fmt: skip
def test_what_an_accept_would_skip_at_any_level_stays_denied(shared: tuple[str, ...]) -> None:
    chains = ("MINE", "LAST", "DOCKER-USER")
    with pytest.raises(Refusal, match="come before the rule `-A .*(10.42.0.66|NFQUEUE)"):
        remedy(node(save(*shared, "-A MINE -j DROP", chains=chains)))


def test_what_is_left_by_goto_is_not_skipped() -> None:
    rules = ("-A FORWARD -i cni0 -g MINE", "-A FORWARD -s 10.42.0.66 -j DROP", "-A MINE -j DROP")
    assert remedy(node(save(*rules, chains=("MINE",)))).jump.chain == "MINE"


VMAP = {"vmap": {"key": {"payload": {"protocol": "ip", "field": "saddr"}}, "data": {"set": [["10.42.0.66", DROP]]}}}
FROM_MAP = {**VMAP["vmap"], "data": "@denied"}
BY_CNI0 = {"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "cni0"}}


@pytest.mark.parametrize(
    ("elements", "behind"),
    [
        ([], VMAP),
        ([["10.42.0.66", DROP]], {"vmap": FROM_MAP}),
        ([["10.42.0.66", {"jump": {"target": "no"}}]], {"vmap": FROM_MAP}),
        ([], {"vmap": FROM_MAP}),  # filled later by a program
        ([["10.42.0.66", DROP]], {"vmap": {**FROM_MAP, "key": {"concat": [FROM_MAP["key"]]}}}),
    ],
)
def test_what_a_verdict_map_denies_stays_denied(elements: list[Any], behind: dict[str, Any], here: Path) -> None:
    accept = {"accept": None}
    rules = ([BY_CNI0, DROP], [behind], [is_("saddr", {"prefix": {"addr": "10.0.0.0", "len": 8}}), accept])
    named = {"map": {"family": "inet", "table": "filter", "name": "denied", "type": "ipv4_addr", "map": "verdict",
                     "elem": elements}}  # fmt: skip
    evidence = node(nft=inet_filter("drop", rules, extra={"no": [[DROP]]}, objects=(named,)))
    with pytest.raises(Refusal, match=r"come before the rule `(ip saddr|.*) vmap"):
        remedy(evidence)


def test_a_verdict_map_that_drops_is_not_undone_for_its_other_keys(here: Path) -> None:
    both = {"vmap": {"key": {"meta": {"key": "iifname"}}, "data": {"set": [["cni0", DROP], ["eth9", DROP]]}}}
    with pytest.raises(Refusal, match="come before the rule `iifname vmap"):
        remedy(node(nft=inet_filter("accept", ([both],))))


@pytest.mark.parametrize("words", ["never drop ssh", "reject nothing", "-j DROP"])
def test_a_comment_denies_nothing(words: str, here: Path) -> None:
    tcp = {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 22}}
    table = inet_filter("accept", ([BY_CNI0, DROP], [tcp, {"accept": None}]))
    table["nftables"][-1]["rule"]["comment"] = words
    assert remedy(node(nft=table)).jump.before == 'iifname "cni0" drop'
    saved = save("-A FORWARD -j REJECT", f'-A FORWARD -p tcp -m comment --comment "{words}" -j ACCEPT')
    assert remedy(node(saved)).jump.before == "-A FORWARD -j REJECT"


@pytest.mark.parametrize(("rule", "about"), [
    ("-s 10.42.0.5/32", "drops 10.42.0.5 and lets others of 10.42.0.0/16 pass, 10.42.0.4 for one"),
    ("-d 10.42.1.2/32", "drops 10.42.1.2 and lets others"),
    ("-s 10.42.0.5/32 -d 10.42.1.2/32", "drops 10.42.0.5 and lets others"),
    ("-s 10.42.0.4/30", "drops 10.42.0.5 and lets others"),
    ("-m iprange --src-range 10.42.0.1-10.42.0.99", "drops 10.42.0.5 and lets others"),
    ("-s 10.42.0.0/24", "drops 10.42.0.5 and lets others"),
    ("-p tcp --dport 80", "some protocols and ports only and lets others pass, UDP to port 53 for one"),
    ("-p udp", "some protocols and ports only and lets others pass, TCP to port 80 for one"),
    ("-p icmp", "some protocols and ports only"),
    ("-o eth0", "closes the way to and from outside only"),
    ("-s 10.42.0.0/16 ! -d 10.42.0.0/16", "closes the way to and from outside only"),
])  # fmt: skip
@pytest.mark.parametrize("policy", ["ACCEPT", "DROP"])
def test_a_rule_that_is_about_some_of_the_pods_traffic_is_meant_for_it(rule: str, about: str, policy: str) -> None:
    deny = f"-A FORWARD {rule} -j DROP"
    evidence = {**node(save(deny, policy=policy)), "ip_route": [{"dst": "default", "dev": "eth0"}], "ip_rule": []}
    dropped = [one for one in judge(evidence, ACCEPTS) if one.verdict.by.rule == deny]
    assert dropped
    with pytest.raises(Refusal) as refused:
        remedy_for(Ruleset.from_evidence(evidence), dropped[0])
    assert about in str(refused.value)
    assert str(refused.value).endswith(f"If that is not wanted: iptables-nft -t filter -D FORWARD {rule} -j DROP")


@pytest.mark.parametrize("rules", [
    ("-A FORWARD -s 10.42.0.0/16 -j DROP",),
    ("-A FORWARD -s 10.0.0.0/8 -j DROP",),
    ("-A FORWARD -i cni0 -j DROP",),
    # A part of the pods is let pass before; the rule itself is about all of them.
    ("-A FORWARD -s 10.42.0.4 -j ACCEPT", "-A FORWARD -j DROP"),
])  # fmt: skip
def test_a_rule_that_is_in_the_way_of_all_pods_is_mended(rules: tuple[str, ...]) -> None:
    first = next(rule for rule in rules if "ACCEPT" not in rule)
    assert remedy(node(save(*rules))).jump.before == first


@pytest.mark.parametrize("rules", [
    ("-A FORWARD ! -s 10.42.0.4/30 -j RETURN", "-A FORWARD -j DROP"),
    ("-A FORWARD -j MINE", "-A MINE -s 10.42.0.4/30 -j LAST", "-A MINE -j ACCEPT", "-A LAST -j DROP"),
    ("-A FORWARD -s 10.42.0.4/30 -g LAST", "-A LAST -j LOG", "-A LAST -j DROP"),
])  # fmt: skip
def test_what_a_rule_is_about_may_stand_before_it(rules: tuple[str, ...]) -> None:
    with pytest.raises(Refusal, match="lets others of 10.42.0.0/16 pass"):
        remedy(node(save(*rules, chains=("MINE", "LAST"))))


def test_what_a_mark_says_counts_as_an_address() -> None:
    mangle = "*mangle\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -s 10.42.0.4/30 -j MARK --set-xmark 0x1/0x1\nCOMMIT\n"
    text = mangle + save("-A FORWARD -m mark --mark 0x1/0x1 -j DROP")
    with pytest.raises(Refusal, match="lets others of 10.42.0.0/16 pass.* -D FORWARD -m mark --mark 0x1/0x1 -j DROP"):
        remedy(node(text))


def test_a_set_of_nft_is_about_its_elements(here: Path) -> None:
    some = {"set": ["10.42.0.5", "10.42.0.7", {"prefix": {"addr": "10.42.9.0", "len": 24}}]}
    with pytest.raises(Refusal, match="nft delete rule inet filter forward handle 5"):
        remedy(node(nft=inet_filter("accept", ([is_("saddr", some), DROP],))))


BOGONS = {
    4: "0.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 198.18.0.0/15 198.51.100.0/24 "
       "203.0.113.0/24 224.0.0.0/4 240.0.0.0/4",
    6: "::/96 100::/64 2001::/32 2001:2::/48 2001:10::/28 2001:20::/28 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 "
       "fe80::/10 fec0::/10 ff00::/8",
}  # fmt: skip


@pytest.mark.parametrize("version", [4, 6])
def test_lists_of_addresses_that_no_one_uses_are_no_fault(version: int) -> None:
    rules = [f"-A FORWARD {end} {one} -j DROP" for one in BOGONS[version].split() for end in ("-s", "-d")]
    evidence = node(save(*rules)) if version == 4 else node()
    if version == 6:
        evidence["ip6tables"]["nft"] = save(*rules)
    accepts = accepts_of([CIDR if version == 4 else "fd42::/56"], [])
    assert {one.verdict.verdict for one in judge(evidence, accepts)} == {"accept"}


def test_a_table_that_iptables_cannot_drive_is_driven_by_nft(here: Path) -> None:
    here.write_text("table filter {\n chain forward {\n  iifname cni0 drop\n }\n}\n")
    table = json.loads(json.dumps(inet_filter("accept", ([BY_CNI0, DROP],))).replace('"inet"', '"ip"'))
    incompatible = "# Table `filter' is incompatible, use 'nft' tool.\n"
    jump = remedy(node(incompatible, nft=table)).jump
    assert jump.native and Jump(**jump.as_dict()).native  # also when it is remembered
    same = save("-A forward -i cni0 -j DROP").replace("FORWARD", "forward")
    assert not remedy(node(same, nft=table)).jump.native
