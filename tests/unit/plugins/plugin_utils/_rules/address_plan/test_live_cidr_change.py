# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    "change",
    [
        {"pod_cidr": "10.32.0.0/16"},
        {"pod_cidr": "10.240.0.0/12"},
        {"pod_cidr": "10.244.0.0/16,fd00::/56"},
        {"service_cidr": "10.112.0.0/12"},
        {"node_mask": 26},
    ],
)
def test_an_inventory_that_asks_for_something_else(change):
    bundle = healthy()
    bundle["intent"].update(change)
    (found,) = findings("live-cidr-change", bundle)
    assert (found.severity, found.where) == ("error", ["intent", "cluster"])


def test_a_range_changed_under_the_nodes():
    bundle = healthy()
    del bundle["intent"]
    flags = bundle["cluster"]["manifests"]["node1"]
    text = flags["kube-controller-manager.yaml"]
    flags["kube-controller-manager.yaml"] = text.replace("10.244.0.0/16", "10.32.0.0/16")
    (found,) = findings("live-cidr-change", bundle)
    assert found.where == ["cluster"]
    assert found.evidence["nodes outside"]["node1"] == "10.244.0.0/24"


def test_a_configuration_that_the_controller_managers_do_not_follow_is_another_cause():
    bundle = healthy()
    text = bundle["cluster"]["kubeadm_config"]
    bundle["cluster"]["kubeadm_config"] = text.replace("10.244.0.0/16", "10.32.0.0/16")
    assert findings("live-cidr-change", bundle) == []
    assert findings("flannel-network-mismatch", bundle) == []
    assert findings("pod-cidr-lost", bundle)


def test_a_range_that_meets_another_nodes_is_the_duplicates():
    bundle = healthy()
    bundle["cluster"]["nodes"]["items"][1]["spec"].update(podCIDR="10.244.0.0/23", podCIDRs=["10.244.0.0/23"])
    assert findings("live-cidr-change", bundle) == []


def test_a_family_that_running_nodes_lack():
    bundle = healthy("cluster-dual")
    for node in bundle["cluster"]["nodes"]["items"]:
        node["spec"]["podCIDRs"] = node["spec"]["podCIDRs"][:1]
    assert "every family" in findings("live-cidr-change", bundle)[0].summary


def test_a_mask_that_running_nodes_do_not_have():
    bundle = healthy()
    del bundle["intent"]
    flags = bundle["cluster"]["manifests"]["node1"]
    text = flags["kube-controller-manager.yaml"]
    flags["kube-controller-manager.yaml"] = text.replace(
        "    - --kubeconfig=", "    - --node-cidr-mask-size=26\n    - --kubeconfig="
    )
    assert "node mask" in findings("live-cidr-change", bundle)[0].summary


def test_running_clusters_as_planned():
    for name in ("cluster", "cluster-docker", "cluster-dual"):
        assert findings("live-cidr-change", healthy(name)) == []
