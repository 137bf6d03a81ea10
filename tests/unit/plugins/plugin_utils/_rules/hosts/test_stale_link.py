# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, heard_of_node2, undetermined


def link(name, base="cluster"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    return bundle, node, next(one for one in node["ip_address"] if one["ifname"] == name)


@pytest.mark.parametrize(("address", "prefix"), [("10.244.7.1", 24), ("10.244.1.1", 16), ("192.168.1.1", 24)])
def test_a_bridge_with_another_address(address, prefix):
    bundle, _node, bridge = link("cni0")
    bridge["addr_info"][0].update(local=address, prefixlen=prefix)
    (found,) = findings("stale-link", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_bridge_that_lost_its_address():
    bundle, node, bridge = link("cni0")
    bridge["addr_info"] = []
    assert "lost" in findings("stale-link", bundle)[0].summary
    node["ip_address"] = [one for one in node["ip_address"] if one.get("master") != "cni0"]
    assert findings("stale-link", bundle) == []


def test_no_bridge_yet():
    bundle, node, _bridge = link("cni0")
    node["ip_address"] = [one for one in node["ip_address"] if one["ifname"] != "cni0"]
    assert findings("stale-link", bundle) == []


def test_a_tunnel_of_another_range():
    bundle, _node, tunnel = link("flannel.1")
    tunnel["addr_info"][0]["local"] = "10.42.3.0"
    (found,) = findings("stale-link", bundle)
    assert "10.244.1.0" in found.summary


def test_a_tunnel_whose_parent_is_gone():
    bundle, _node, tunnel = link("flannel.1")
    tunnel["linkinfo"]["info_data"]["link"] = "if60"
    assert "index 60" in findings("stale-link", bundle)[0].summary


def test_a_tunnel_that_sends_from_an_address_of_the_past():
    bundle, _node, tunnel = link("flannel.1")
    tunnel["linkinfo"]["info_data"]["local"] = "192.168.10.99"
    assert "192.168.10.99" in findings("stale-link", bundle)[0].summary


def test_a_second_tunnel_of_another_vni_is_a_warning():
    bundle, node, tunnel = link("flannel.1")
    old = {**tunnel, "ifname": "flannel.7", "linkinfo": {"info_kind": "vxlan", "info_data": {"id": 7}}}
    node["ip_address"].append(old)
    assert [found.severity for found in findings("stale-link", bundle)] == ["warning"]


def test_a_range_not_yet_assigned_is_another_code():
    bundle, node, bridge = link("cni0")
    bridge["addr_info"][0]["local"] = "10.9.9.1"
    kube = next(one for one in bundle["cluster"]["nodes"]["items"] if one["metadata"]["name"] == "node2")
    del kube["spec"]["podCIDR"], kube["spec"]["podCIDRs"]
    node["subnet_env"] = ""
    assert findings("stale-link", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["ip_address"]
    assert [missed.key for missed in undetermined("stale-link", bundle)] == ["nodes.*.ip_address"]


@pytest.mark.parametrize(
    "words",
    [
        'failed to create bridge "cni0": "cni0" already exists but is not a bridge',
        "failed to ensure address of interface flannel.1: link has incompatible addresses. Remove additional addresses",
    ],
)
def test_words_are_enough_where_the_link_is_not_seen(words):
    assert findings("stale-link", heard_of_node2(words))[0].where == ["node2"]
    assert findings("stale-link", heard_of_node2(words, "journal")) == []
