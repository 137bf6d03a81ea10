# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import kube_node
from rules import findings, healthy


@pytest.mark.parametrize("state", ["inactive", "failed", "activating"])
def test_a_members_kubelet_that_does_not_run(state):
    bundle = healthy()
    bundle["nodes"]["node2"]["units"]["kubelet"]["active"] = state
    (found,) = findings("kubelet-down", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_host_that_has_not_joined_is_not_reported():
    bundle = healthy()
    node = bundle["nodes"]["node3"]
    node["units"]["kubelet"]["active"] = "activating"
    node["kubernetes_files"].remove("/etc/kubernetes/kubelet.conf")
    assert findings("kubelet-down", bundle) == []


def test_one_that_will_not_come_back_is_a_warning():
    bundle = healthy()
    bundle["nodes"]["node2"]["units"]["kubelet"]["enabled"] = "disabled"
    assert [one.severity for one in findings("kubelet-down", bundle)] == ["warning"]


def test_without_evidence_of_the_host_the_node_object_tells():
    bundle = healthy()
    ready = next(one for one in kube_node(bundle, "node3")["status"]["conditions"] if one["type"] == "Ready")
    ready.update(status="Unknown", reason="NodeStatusUnknown", message="Kubelet stopped posting node status.")
    assert findings("kubelet-down", bundle) == []  # the host's kubelet runs: another cause
    del bundle["nodes"]["node3"]
    assert findings("kubelet-down", bundle)[0].where == ["node3"]


def test_a_kubelet_that_never_reported():
    bundle = healthy()
    bundle["nodes"].pop("node3")
    for one in bundle["cluster"]["nodes"]["items"][2]["status"]["conditions"]:
        one.update(status="Unknown", reason="NodeStatusNeverUpdated")
    assert "never" in findings("kubelet-down", bundle)[0].summary
