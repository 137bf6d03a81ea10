# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import daemonset, objects, remove_pods
from rules import findings, healthy, undetermined


def without_flannel() -> dict:
    bundle = healthy()
    objects(bundle, "daemonsets").remove(daemonset(bundle))
    remove_pods(bundle, "kube-flannel-ds-")
    return bundle


def test_no_daemonset_and_no_pod_is_an_error():
    (found,) = findings("flannel-absent", without_flannel())
    assert (found.severity, found.where) == ("error", ["cluster"])
    assert found.evidence == {"DaemonSets found": ["kube-system/kube-proxy"]}


def test_flannel_under_another_name_and_namespace_is_found():
    bundle = healthy()
    daemonset(bundle)["metadata"].update(name="network", namespace="infra")
    assert findings("flannel-absent", bundle) == []


def test_another_network_in_its_place_is_not_its_business():
    bundle = without_flannel()
    spec = {"containers": [{"name": "cilium-agent", "image": "quay.io/cilium/cilium:v1.18.3@sha256:aa"}]}
    metadata = {"name": "cilium", "namespace": "kube-system"}
    objects(bundle, "daemonsets").append({"metadata": metadata, "spec": {"template": {"spec": spec}}})
    assert findings("flannel-absent", bundle) == []


def test_k3s_runs_flannel_in_its_agent():
    bundle = without_flannel()
    for node in objects(bundle, "nodes"):
        node["status"]["nodeInfo"]["kubeletVersion"] = "v1.36.1+k3s1"
    assert findings("flannel-absent", bundle) == []


def test_without_daemonsets_it_is_undetermined():
    bundle = without_flannel()
    del bundle["cluster"]["daemonsets"]
    assert findings("flannel-absent", bundle) == []
    assert undetermined("flannel-absent", bundle)[0].key == "cluster.daemonsets"
