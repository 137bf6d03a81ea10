# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import link, rules
from rules import findings, healthy

FIRST = ":KUBE-SERVICES - [0:0]\n"
JUMP = '-A FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD'


def with_rule(rule: str) -> dict:
    """node2 with a rule in front of everything in FORWARD."""
    bundle = healthy()
    rules(bundle, "node2", FIRST, f"{FIRST}[7:420] -A FORWARD {rule}\n")
    return bundle


@pytest.mark.parametrize("rule", ["-j REJECT", "-j DROP", "-i cni0 -j DROP", "-s 10.244.0.0/16 -j REJECT"])
def test_a_rule_in_front_of_flannels_accept(rule):
    (found,) = findings("forward-rule-drop", with_rule(rule))
    assert (found.severity, found.where) == ("error", ["node2"])
    assert rule in found.evidence["rule"]


@pytest.mark.parametrize(
    "rule",
    [
        "-i docker0 -j DROP",
        "-s 198.51.100.0/24 -j DROP",
        "-m conntrack --ctstate INVALID -j DROP",
        '-j LOG --log-prefix "FWD "',
        "-m limit --limit 3/min -j LOG",
        "-m physdev --physdev-is-bridged -j ACCEPT",
        "-p icmp -m icmp --icmp-type 8 -j ACCEPT",
    ],
)
def test_rules_for_other_traffic_and_logs_stop_nothing(rule):
    assert findings("forward-rule-drop", with_rule(rule)) == []


def test_the_same_rule_behind_flannels_accept_stops_nothing():
    bundle = healthy()
    reject = "[0:0] -A FORWARD -j REJECT --reject-with icmp-host-prohibited"
    text = bundle["nodes"]["node2"]["iptables"]["nft"]
    line = next(one for one in text.splitlines() if JUMP in one)
    rules(bundle, "node2", line, f"{line}\n{reject}")
    assert findings("forward-rule-drop", bundle) == []


def test_what_a_policy_engine_drops_is_a_network_policy():
    bundle = healthy()
    rules(bundle, "node2", FIRST, f"{FIRST}:cali-FORWARD - [0:0]\n[7:420] -A FORWARD -j cali-FORWARD\n")
    rules(bundle, "node2", "[7:420] -A FORWARD -j cali", "[7:420] -A cali-FORWARD -j DROP\n[7:420] -A FORWARD -j cali")
    assert findings("forward-rule-drop", bundle) == []


def test_egress_that_is_closed_on_purpose_is_an_info():
    found = findings("forward-rule-drop", with_rule("-i cni0 -o eth0 ! -d 10.0.0.0/8 -j DROP"))
    assert {one.severity for one in found} <= {"info"}


@pytest.mark.parametrize(("rule", "severity", "traffic"), [
    ("-p udp -m udp --dport 53 -j DROP", "error", "pod to pod on another node, DNS"),
    ("-p tcp -m tcp --dport 1024:65535 -j REJECT", "error", "pod from pod on another node, TCP 30001"),
    ("-p icmp -j DROP", "info", "pod to pod on another node, ICMP echo"),
])  # fmt: skip
def test_what_is_dropped_of_the_pods_traffic_is_told(rule, severity, traffic):
    (found,) = findings("forward-rule-drop", with_rule(rule))
    assert found.severity == severity
    assert traffic in found.evidence["traffic"]


def test_a_limit_of_pings_leaves_nothing_open():
    assert findings("forward-rule-drop", with_rule("-p icmp -m limit --limit 3/min -j DROP")) == []


def test_a_tunnel_without_an_address_is_no_matter_of_the_rules():
    """flanneld makes its link before it has a lease, and rules of a former range masquerade what leaves by it."""
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    link(bundle, "node2", "flannel.1")["addr_info"] = []
    node["iptables"]["nft"] = node["iptables"]["nft"].replace("-s 10.244.1.0/24 -d 10.244.0.0/16", "-s 10.244.7.0/24")
    for rule in (
        one["rule"] for one in node["nft"]["nftables"] if one.get("rule", {}).get("chain") == "FLANNEL-POSTRTG"
    ):
        if "10.244.1.0" in str(rule["expr"][0]):
            rule["expr"][0]["match"]["right"]["prefix"]["addr"] = "10.244.7.0"
    assert findings("forward-rule-drop", bundle) == []
