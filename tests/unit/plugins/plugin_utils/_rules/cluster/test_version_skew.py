# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import kube_node, pods
from rules import findings, healthy


@pytest.mark.parametrize(
    ("server", "kubelet", "told"),
    [
        ("v1.37.2", "v1.38.0", True),
        ("v1.37.2", "v1.37.9", False),
        ("v1.37.2", "v1.34.1", False),
        ("v1.37.2", "v1.33.1", True),
        ("v1.27.2", "v1.25.1", False),
        ("v1.27.2", "v1.24.1", True),
        ("v1.37.2+vendor", "v1.36.1-gke.100", False),
    ],
)
def test_kubelets_against_the_api_server(server, kubelet, told):
    bundle = healthy()
    bundle["cluster"]["version"]["serverVersion"]["gitVersion"] = server
    for name in ("node1", "node2", "node3"):
        kube_node(bundle, name)["status"]["nodeInfo"]["kubeletVersion"] = kubelet if name == "node2" else server
    for pod in pods(bundle, "kube-"):
        for one in pod["spec"]["containers"]:
            one["image"] = one["image"].partition(":")[0]
    found = findings("version-skew", bundle)
    assert [one.where for one in found] == ([["node2"]] if told else [])


def test_a_kube_proxy_newer_than_the_api_server():
    bundle = healthy()
    pods(bundle, "kube-proxy-", "node3")[0]["spec"]["containers"][0]["image"] = "registry.k8s.io/kube-proxy:v1.38.0"
    (found,) = findings("version-skew", bundle)
    assert (found.severity, found.where) == ("error", ["node3"])


def test_what_is_installed_against_what_is_asked_for():
    bundle = healthy("host")
    bundle["intent"]["kubernetes_version"] = "1.36.3"
    assert findings("version-skew", bundle)[0].where == ["node1", "node2", "node3"]


@pytest.mark.parametrize(
    ("kubelet", "kubeadm", "told"),
    [("v1.38.0", "v1.37.2", True), ("v1.37.0", "v1.36.0", True), ("v1.36.0", "v1.37.0", False)],
)
def test_a_host_that_wants_to_join(kubelet, kubeadm, told):
    bundle = healthy()
    bundle["cluster"]["nodes"]["items"].remove(kube_node(bundle, "node3"))
    bundle["nodes"]["node3"].update(kubelet_version=kubelet, kubeadm_version=kubeadm)
    assert [one.where for one in findings("version-skew", bundle)] == ([["node3"]] if told else [])


def test_a_newer_kubeadm_on_a_running_cluster_is_the_first_step_of_an_upgrade():
    bundle = healthy()
    bundle["nodes"]["node1"]["kubeadm_version"] = "v1.38.0"
    assert findings("version-skew", bundle) == []
