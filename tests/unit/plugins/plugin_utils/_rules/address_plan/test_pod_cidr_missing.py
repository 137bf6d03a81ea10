# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def without_range(allocate: str = "", cidr: str = "") -> dict:
    bundle = healthy()
    for node in bundle["cluster"]["nodes"]["items"]:
        node["spec"].pop("podCIDR")
        node["spec"].pop("podCIDRs")
    flags = bundle["cluster"]["manifests"]["node1"]
    text = flags["kube-controller-manager.yaml"]
    text = text.replace("    - --allocate-node-cidrs=true\n", allocate)
    flags["kube-controller-manager.yaml"] = text.replace("    - --cluster-cidr=10.244.0.0/16\n", cidr)
    return bundle


def test_no_range_in_the_plan():
    bundle = healthy("intent")
    del bundle["intent"]["pod_cidr"]
    (found,) = findings("pod-cidr-missing", bundle)
    assert (found.severity, found.where) == ("error", ["intent"])


def test_a_range_in_a_users_own_file_is_one():
    bundle = healthy("intent")
    del bundle["intent"]["pod_cidr"]
    bundle["intent"]["kubeadm_config"] = "kind: ClusterConfiguration\nnetworking:\n  podSubnet: 10.1.0.0/16\n"
    assert findings("pod-cidr-missing", bundle) == []


def test_a_file_that_cannot_be_read_is_undetermined():
    bundle = healthy("intent")
    del bundle["intent"]["pod_cidr"]
    bundle["intent"]["kubeadm_config"] = "kind: ClusterConfiguration\nnetworking: [\n"
    assert [one.kind for one in undetermined("pod-cidr-missing", bundle)] == ["malformed"]


def test_nodes_without_ranges_and_a_controller_manager_without_flags():
    (found,) = findings("pod-cidr-missing", without_range())
    assert found.where == ["cluster"]
    assert found.evidence["--allocate-node-cidrs"] is None


def test_a_cluster_cidr_without_allocation_gives_none_either():
    assert len(findings("pod-cidr-missing", without_range(cidr="    - --cluster-cidr=10.244.0.0/16\n"))) == 1


def test_nodes_without_ranges_and_right_flags_are_another_fault():
    flags = ("    - --allocate-node-cidrs=true\n", "    - --cluster-cidr=10.244.0.0/16\n")
    assert findings("pod-cidr-missing", without_range(*flags)) == []
