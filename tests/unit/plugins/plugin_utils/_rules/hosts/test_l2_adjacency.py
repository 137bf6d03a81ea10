# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def spread(backend="host-gw"):
    bundle = healthy("host")
    bundle["intent"]["flannel"]["backend"] = backend
    node = bundle["nodes"]["node2"]
    for link in node["ip_address"]:
        if link["ifname"] == "eth0":
            link["addr_info"][0]["local"] = "198.51.100.12"
    node["ip_route"] = [{"dst": "default", "gateway": "198.51.100.1", "dev": "eth0"}]
    return bundle


def test_host_gw_over_two_networks():
    (found,) = findings("l2-adjacency", spread())
    assert (found.severity, found.where) == ("error", ["node2"])


def test_host_gw_on_one_link():
    bundle = healthy("host")
    bundle["intent"]["flannel"]["backend"] = "host-gw"
    assert findings("l2-adjacency", bundle) == []


def test_a_tunnel_needs_no_shared_link():
    assert findings("l2-adjacency", spread("vxlan")) == []


def test_a_route_without_a_gateway_is_a_shared_link():
    bundle = spread()
    bundle["nodes"]["node2"]["ip_route"].append({"dst": "192.168.10.0/24", "dev": "eth0"})
    for name in ("node1", "node3"):
        bundle["nodes"][name]["ip_route"].append({"dst": "198.51.100.0/24", "dev": "eth0"})
    assert findings("l2-adjacency", bundle) == []


def test_direct_routing_over_a_vpn():
    bundle = healthy("host")
    bundle["intent"]["flannel"].update(backend="vxlan", direct_routing=True, interface="wg0")
    for index, node in enumerate(bundle["nodes"].values(), 11):
        node["ip_address"].append(
            {
                "ifname": "wg0",
                "flags": ["POINTOPOINT", "NOARP", "UP"],
                "addr_info": [{"family": "inet", "local": f"10.9.0.{index}", "prefixlen": 24}],
            }
        )
    (found,) = findings("l2-adjacency", bundle)
    assert found.severity == "warning"
    bundle["intent"]["flannel"]["direct_routing"] = False
    assert findings("l2-adjacency", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = spread()
    del bundle["nodes"]["node1"]["ip_address"]
    assert [missed.key for missed in undetermined("l2-adjacency", bundle)] == ["nodes.*.ip_address"]
