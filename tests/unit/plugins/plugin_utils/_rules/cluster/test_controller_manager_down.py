# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy

from edits import log, objects, pods, remove_pods, waits
from rules import findings, healthy


def test_the_only_one_crashes():
    bundle = healthy()
    pod = pods(bundle, "kube-controller-manager-")[0]
    waits(pod, "CrashLoopBackOff")
    log(bundle, pod, "Must specify --cluster-cidr if --allocate-node-cidrs is set", "kube-controller-manager")
    (found,) = findings("controller-manager-down", bundle)
    assert (found.severity, found.where) == ("error", ["cluster", "node1"])
    assert "--cluster-cidr" in found.evidence["end of log"]["node1"]


def test_a_static_pod_file_without_a_pod():
    bundle = healthy()
    remove_pods(bundle, "kube-controller-manager-")
    assert findings("controller-manager-down", bundle)[0].evidence["no pod"] == ["node1"]


def test_hosts_that_the_inventory_calls_otherwise():
    """Seen on a healthy cluster: the inventory said cp1, the host and its Node n1."""
    bundle = healthy()
    bundle["nodes"] = {name.replace("node", "machine"): host for name, host in bundle["nodes"].items()}
    manifests = bundle["cluster"]["manifests"]
    bundle["cluster"]["manifests"] = {name.replace("node", "machine"): files for name, files in manifests.items()}
    assert findings("controller-manager-down", bundle) == []
    remove_pods(bundle, "kube-controller-manager-")
    assert findings("controller-manager-down", bundle)[0].evidence["no pod"] == ["machine1"]


def test_a_static_pod_file_that_was_taken_away():
    bundle = healthy()
    remove_pods(bundle, "kube-controller-manager-")
    del bundle["cluster"]["manifests"]["node1"]["kube-controller-manager.yaml"]
    assert findings("controller-manager-down", bundle)[0].evidence["no pod"] == ["node1"]


def test_one_of_two_is_a_warning():
    bundle = healthy()
    second = copy.deepcopy(pods(bundle, "kube-controller-manager-")[0])
    second["metadata"]["name"] = "kube-controller-manager-node2"
    second["spec"]["nodeName"] = "node2"
    objects(bundle, "pods").append(second)
    waits(second, "CrashLoopBackOff")
    assert [(one.severity, one.where) for one in findings("controller-manager-down", bundle)] == [
        ("warning", ["node2"])
    ]


def test_a_control_plane_that_is_not_in_pods():
    bundle = healthy()
    remove_pods(bundle, "kube-controller-manager-")
    bundle["cluster"]["manifests"] = {}
    assert findings("controller-manager-down", bundle) == []
