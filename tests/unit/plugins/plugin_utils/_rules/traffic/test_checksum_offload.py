# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import NODES, probe, rules
from rules import findings, healthy, undetermined


@pytest.mark.parametrize(
    ("ms", "told"), [(63041.0, True), (1010.2, True), (3020.0, True), (20.0, False), (5200.0, False), (10**400, False)]
)
def test_times_of_syns_sent_again(ms, told):
    bundle = healthy()
    probe(bundle, "tcp/service", ok=True, ms=ms)
    assert [one.where for one in findings("checksum-offload", bundle)] == ([NODES] if told else [])


def test_ping_passes_and_nothing_else_does():
    bundle = healthy()
    for what in ("tcp/pod", "udp/dns"):
        probe(bundle, what)
    (found,) = findings("checksum-offload", bundle)
    assert (found.severity, found.where) == ("error", NODES)
    for node in bundle["nodes"].values():
        node["link_offload"]["flannel.1"]["tx-checksum-ip-generic"] = False
    assert findings("checksum-offload", bundle) == []


def test_one_direction_is_only_a_suspicion_without_the_kernels_word():
    bundle = healthy()
    for what in ("tcp/pod", "udp/dns"):
        probe(bundle, what, sender="node2")
    assert [one.severity for one in findings("checksum-offload", bundle)] == ["warning"]
    bundle["nodes"]["node3"]["journal"]["kernel"] = "UDP: bad checksum. From 192.168.10.12:4 to 192.168.10.13:8472"
    assert [one.severity for one in findings("checksum-offload", bundle)] == ["error"]


def test_udp_alone_with_the_kernels_word():
    bundle = healthy()
    probe(bundle, "udp/dns")
    assert findings("checksum-offload", bundle) == []
    bundle["nodes"]["node1"]["journal"]["kernel"] = "UDP: bad checksum. From 192.168.10.12:4 to 192.168.10.11:8472"
    assert [one.severity for one in findings("checksum-offload", bundle)] == ["error"]


def test_other_pictures():
    bundle = healthy()
    probe(bundle, "tcp/pod")
    assert findings("checksum-offload", bundle) == []  # TCP alone
    probe(bundle, "udp/dns")
    probe(bundle, "icmp/")
    assert findings("checksum-offload", bundle) == []  # nothing passes
    del bundle["nodes"]["node1"]["probes"]
    assert undetermined("checksum-offload", bundle)[0].where == ["node1"]


def test_a_rule_that_lets_ping_pass_is_not_the_card():
    bundle = healthy()
    for what in ("tcp/pod", "udp/dns"):
        probe(bundle, what, sender="node2")
        probe(bundle, what, to="node2")
    assert findings("checksum-offload", bundle) != []
    first = ":KUBE-SERVICES - [0:0]\n"
    rules(bundle, "node2", first, f"{first}-A FORWARD ! -p icmp -j DROP\n")
    assert findings("checksum-offload", bundle) == []
    assert findings("forward-rule-drop", bundle)[0].where == ["node2"]


def test_a_policy_at_work_is_no_checksum():
    bundle = healthy()
    for name in NODES:
        for one in bundle["nodes"][name]["probes"]:
            if one["what"] in ("tcp/pod", "udp/dns"):
                one.update(ok=False, ms=None)
    assert findings("checksum-offload", bundle)
    add_on = {"name": "policies", "image": "registry.k8s.io/networking/kube-network-policies:v1.0.0"}
    bundle["cluster"]["daemonsets"]["items"][0]["spec"]["template"]["spec"]["containers"].append(add_on)
    policy = {"metadata": {"name": "deny", "namespace": "default"}, "spec": {"podSelector": {}}}
    bundle["cluster"]["network_policies"]["items"].append(policy)
    assert findings("checksum-offload", bundle) == []
