# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import flannel_pod, not_ready, objects, rules
from rules import findings, healthy, undetermined

POLICY = (
    ":FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:FLANNEL-FWD",
    ":FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n:FLANNEL-FWD",
)
JUMP = ' -A FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD'


def test_the_policy_alone_is_healthy_behind_flannels_accepts():
    bundle = healthy()
    rules(bundle, "node2", *POLICY)
    assert findings("forward-policy-drop", bundle) == []
    assert findings("forward-policy-drop", healthy("cluster-docker")) == []


def test_without_the_accepts_it_meets_pod_traffic():
    bundle = healthy()
    rules(bundle, "node2", *POLICY)
    rules(bundle, "node2", JUMP, JUMP.replace("-j FLANNEL-FWD", "-i docker0 -j FLANNEL-FWD"))
    (found,) = findings("forward-policy-drop", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence["chain"] == "FORWARD"
    assert "pod to pod on another node" in found.evidence["traffic"]


def test_a_drop_in_the_other_backend_is_final_too():
    bundle = healthy()
    bundle["nodes"]["node2"]["iptables"]["legacy"] = (
        "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [9:540]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
    )
    (found,) = findings("forward-policy-drop", bundle)
    assert (found.where, found.evidence["backend"]) == (["node2"], "legacy")


def test_before_the_cluster_is_built_it_is_a_warning():
    bundle = healthy("host")
    text = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
    bundle["nodes"]["node2"]["iptables"]["nft"] = text
    bundle["nodes"]["node2"].pop("nft", None)
    assert [one.severity for one in findings("forward-policy-drop", bundle)] == ["warning"]


def test_without_any_rules_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["iptables"], bundle["nodes"]["node2"]["nft"]
    assert [one.where for one in undetermined("forward-policy-drop", bundle)] == [["node2"]]
    assert findings("forward-policy-drop", bundle) == []


def test_where_flannel_does_not_run_its_accepts_will_come():
    bundle = healthy()
    rules(bundle, "node2", *POLICY)
    rules(bundle, "node2", JUMP, JUMP.replace("-j FLANNEL-FWD", "-i docker0 -j FLANNEL-FWD"))
    not_ready(flannel_pod(bundle))
    assert [one.severity for one in findings("forward-policy-drop", bundle)] == ["info"]
    objects(bundle, "nodes")[:] = [one for one in objects(bundle, "nodes") if one["metadata"]["name"] != "node2"]
    assert {one.severity for one in findings("forward-policy-drop", bundle)} <= {"warning"}
