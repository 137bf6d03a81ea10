# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import kube_node
from rules import findings, healthy


def test_a_stopped_runtime():
    bundle = healthy()
    bundle["nodes"]["node2"]["units"]["containerd"]["active"] = "inactive"
    (found,) = findings("runtime-down", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_unit_of_another_runtime_does_not_matter():
    bundle = healthy()
    bundle["nodes"]["node2"]["units"]["docker"] = {"active": "failed", "enabled": "enabled"}
    assert findings("runtime-down", bundle) == []
    bundle["nodes"]["node2"]["runtime"]["name"] = "cri-o"
    bundle["nodes"]["node2"]["units"].update(
        containerd={"active": "inactive", "enabled": "not-found"}, crio={"active": "active", "enabled": "enabled"}
    )
    assert findings("runtime-down", bundle) == []


def test_a_runtime_that_says_nothing_at_all():
    bundle = healthy()
    bundle["nodes"]["node2"]["units"]["containerd"]["active"] = "failed"
    del bundle["nodes"]["node2"]["runtime"]
    assert findings("runtime-down", bundle)[0].where == ["node2"]
    del bundle["nodes"]["node2"]["kubelet_config"]
    assert findings("runtime-down", bundle)[0].where == ["node2"]


def test_a_runtime_that_runs_and_does_not_answer():
    bundle = healthy()
    ready = next(one for one in kube_node(bundle, "node3")["status"]["conditions"] if one["type"] == "Ready")
    ready.update(status="False", reason="KubeletNotReady", message="[container runtime is down, PLEG is not healthy]")
    assert findings("runtime-down", bundle)[0].where == ["node3"]


def test_without_evidence_of_the_host_the_node_object_tells():
    bundle = healthy()
    del bundle["nodes"]["node3"]
    ready = next(one for one in kube_node(bundle, "node3")["status"]["conditions"] if one["type"] == "Ready")
    ready.update(status="False", reason="KubeletNotReady", message="[container runtime is down, PLEG is not healthy]")
    assert findings("runtime-down", bundle)[0].where == ["node3"]


def test_before_the_cluster_only_a_runtime_that_failed_is_told():
    bundle = healthy("host")
    unit = bundle["nodes"]["node2"]["units"]["containerd"]
    unit["active"] = "inactive"
    assert findings("runtime-down", bundle) == []
    unit["active"] = "failed"
    assert [(one.severity, one.where) for one in findings("runtime-down", bundle)] == [("warning", ["node2"])]
