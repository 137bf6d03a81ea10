# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View


@pytest.mark.parametrize(
    ("bundle", "stage"),
    [
        ({}, "intent"),
        ({"nodes": {"n1": {}}}, "host"),
        ({"cluster": {"nodes": {}}}, "cluster"),
        ({"stage": "host"}, "host"),
    ],
)
def test_the_stage_is_what_is_said_or_what_there_is(bundle, stage):
    assert View(bundle).stage == stage


def test_a_running_clusters_ranges_come_before_the_intents():
    bundle = healthy()
    bundle["intent"]["pod_cidr"] = "10.1.0.0/16"
    assert [str(one) for one in View(bundle).pod_networks] == ["10.244.0.0/16"]
    del bundle["cluster"]
    assert [str(one) for one in View(bundle).pod_networks] == ["10.1.0.0/16"]


def test_unknown_ranges_are_missing_or_empty():
    with pytest.raises(Missing):
        _read = View({}).pod_networks
    assert View({}).known_pod_networks() == []


def test_a_host_finds_its_node_by_name_by_inventory_name_and_by_address():
    bundle = healthy()
    for changes in ({}, {"hostname": "other"}, {"hostname": "NODE2"}):
        bundle["nodes"]["node2"].update(changes)
        view = View(bundle)
        node = view.kube_node(view.nodes["node2"])
        assert node is not None
        assert node.name == "node2"
    bundle["nodes"]["inventory"] = {**bundle["nodes"].pop("node2"), "hostname": "other"}
    view = View(bundle)
    found = view.kube_node(view.nodes["inventory"])
    assert found is not None
    assert found.name == "node2"


def test_an_intent_given_beside_the_evidence_replaces_its_own():
    assert View(healthy(), {"pod_cidr": "10.9.0.0/16"}).intent.pod_texts == ["10.9.0.0/16"]


@pytest.mark.parametrize(
    ("asked", "backend", "port", "tunnel", "direct"),
    [
        ({}, "vxlan", 8472, "flannel.1", False),
        ({"vni": 0, "port": 0, "direct_routing": False}, "vxlan", 8472, "flannel.1", False),
        ({"vni": 9, "port": "4789", "direct_routing": True}, "vxlan", 4789, "flannel.9", True),
        ({"backend": "wireguard", "port": 51999}, "wireguard", 51999, "flannel-wg", False),
        ({"backend": "host-gw"}, "host-gw", None, None, False),
    ],
)
def test_before_there_is_a_cluster_the_overlay_is_what_the_variables_ask_for(asked, backend, port, tunnel, direct):
    bundle = {"intent": {"pod_cidr": "10.244.0.0/16", "flannel": asked}}
    overlay = View(bundle).overlay
    assert (overlay.backend, overlay.port, overlay.tunnels.get(4), overlay.direct) == (backend, port, tunnel, direct)
    bundle["intent"]["net_conf"] = '{"Backend": {"Type": "ipip"}}'
    assert View(bundle).overlay.backend == "ipip"


def test_without_flannels_configuration_the_overlay_is_that_of_its_leases():
    bundle = healthy("cluster-dual")
    del bundle["cluster"]["flannel_config"]
    bundle["intent"]["flannel"] = {"backend": "host-gw"}
    assert View(bundle).overlay.tunnels == {4: "flannel.1", 6: "flannel-v6.1"}
    with pytest.raises(Missing):
        _read = View({"cluster": {"pods": {}}}).overlay


def test_another_machine_of_the_name_is_not_the_node():
    bundle = healthy()
    bundle["nodes"]["node3"]["hostname"] = "node2"
    nodes = bundle["cluster"]["nodes"]
    nodes["items"] = [one for one in nodes["items"] if one["metadata"]["name"] != "node3"]
    view = View(bundle)
    found = {name: view.kube_node(host) for name, host in view.nodes.read()}
    assert found["node2"].name == "node2"
    assert found["node3"] is None
