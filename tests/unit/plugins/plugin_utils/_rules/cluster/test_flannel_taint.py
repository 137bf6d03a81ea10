# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import daemonset, kube_node, remove_pods
from rules import findings, healthy

GPU = {"key": "gpu", "value": "yes", "effect": "NoExecute"}


def tainted(taint: dict, tolerations: list[dict] | None = None) -> dict:
    """node3 with a taint and without flannel's pod."""
    bundle = healthy()
    kube_node(bundle, "node3")["spec"]["taints"] = [taint]
    if tolerations is not None:
        daemonset(bundle)["spec"]["template"]["spec"]["tolerations"] = tolerations
    remove_pods(bundle, "kube-flannel-ds-", "node3")
    return bundle


def test_upstreams_manifest_does_not_tolerate_noexecute():
    (found,) = findings("flannel-taint", tainted(GPU))
    assert (found.severity, found.where) == ("error", ["node3"])
    assert found.evidence["taints"] == ["gpu=yes:NoExecute"]


def test_not_ready_is_not_tolerated_by_itself():
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    assert findings("flannel-taint", tainted(taint, []))[0].where == ["node3"]


def test_what_the_controller_tolerates_is_not_reported():
    for key, effect in (
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
        ("node.kubernetes.io/network-unavailable", "NoSchedule"),
    ):
        assert findings("flannel-taint", tainted({"key": key, "effect": effect}, [])) == []


def test_tolerations_match_by_key_value_and_effect():
    right = [{"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoExecute"}]
    assert findings("flannel-taint", tainted(GPU, right)) == []
    assert findings("flannel-taint", tainted(GPU, [{**right[0], "value": "no"}])) != []
    assert findings("flannel-taint", tainted(GPU, [{"operator": "Exists"}])) == []


def test_a_taint_that_came_after_the_pod_is_not_reported():
    bundle = healthy()
    kube_node(bundle, "node3")["spec"]["taints"] = [GPU]
    assert findings("flannel-taint", bundle) == []


def test_nodes_that_are_not_flannels_are_not_reported():
    bundle = tainted(GPU)
    kube_node(bundle, "node3")["metadata"]["labels"]["kubernetes.io/os"] = "windows"
    assert findings("flannel-taint", bundle) == []
    out = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    assert findings("flannel-taint", tainted(out)) == []
