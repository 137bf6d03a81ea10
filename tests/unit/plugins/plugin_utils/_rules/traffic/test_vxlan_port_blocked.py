# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import NODES, probe, rules
from rules import findings, healthy, undetermined

FIRST = ":KUBE-SERVICES - [0:0]\n"
DROP = "[5:500] -A INPUT -p udp -m udp --dport 8472 -j DROP\n"


def test_a_port_that_passes_nowhere_is_everybodys():
    bundle = healthy()
    probe(bundle, "udp/8472")
    (found,) = findings("vxlan-port-blocked", bundle)
    assert (found.severity, found.where) == ("error", NODES)


def test_the_receiver_that_all_failures_share_is_named():
    bundle = healthy()
    probe(bundle, "udp/8472", to="node2")
    assert findings("vxlan-port-blocked", bundle)[0].where == ["node2"]
    probe(bundle, "udp/8472", sender="node2")
    assert findings("vxlan-port-blocked", bundle)[0].where == ["node2"]


def test_a_rule_on_the_host_is_told_with_and_without_probes():
    bundle = healthy()
    rules(bundle, "node2", FIRST, FIRST + DROP)
    probe(bundle, "udp/8472", to="node2")
    (found,) = findings("vxlan-port-blocked", bundle)
    assert (found.where, found.evidence["chain"]) == (["node2"], "INPUT")
    for node in bundle["nodes"].values():
        del node["probes"]
    assert findings("vxlan-port-blocked", bundle)[0].where == ["node2"]


def test_a_rule_that_the_probe_disproves_is_not_reported():
    bundle = healthy()
    rules(bundle, "node2", FIRST, FIRST + DROP)
    assert findings("vxlan-port-blocked", bundle) == []


def test_hosts_that_do_not_reach_each_other_at_all_are_another_fault():
    bundle = healthy()
    probe(bundle, "udp/8472", to="node2")
    probe(bundle, "icmp-host/", to="node2")
    assert findings("vxlan-port-blocked", bundle) == []


def test_the_port_is_the_backends():
    bundle = healthy()
    probe(bundle, "udp/8472")
    conf = bundle["cluster"]["flannel_config"]
    conf["net-conf.json"] = '{"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan", "Port": 4789}}'
    assert findings("vxlan-port-blocked", bundle) == []
    conf["net-conf.json"] = '{"Network": "10.244.0.0/16", "Backend": {"Type": "host-gw"}}'
    assert findings("vxlan-port-blocked", bundle) == []


def test_without_probes_and_rules_it_is_undetermined():
    bundle = healthy()
    for key in ("probes", "iptables", "nft"):
        del bundle["nodes"]["node3"][key]
    assert undetermined("vxlan-port-blocked", bundle)[0].where == ["node3"]
