# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import flannel_pod, kube_node, not_ready, route
from rules import findings, healthy, undetermined


def without(node: str, *destinations: str) -> dict:
    bundle = healthy()
    for dst in destinations:
        bundle["nodes"][node]["ip_route"].remove(route(bundle, node, dst))
    return bundle


def test_one_route():
    (found,) = findings("route-missing", without("node2", "10.244.2.0/24"))
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence["missing"] == {"node3": "10.244.2.0/24"}


def test_a_consequence_where_flannel_does_not_run():
    bundle = without("node2", "10.244.0.0/24", "10.244.2.0/24")
    not_ready(flannel_pod(bundle))
    assert [one.severity for one in findings("route-missing", bundle)] == ["info"]


def test_a_peer_without_a_lease_has_no_route():
    bundle = without("node2", "10.244.2.0/24")
    kube_node(bundle, "node3")["metadata"]["annotations"] = {}
    assert findings("route-missing", bundle) == []


def test_a_peer_with_more_ranges_than_flannel_takes_has_no_route():
    bundle = healthy()
    kube_node(bundle, "node3")["spec"]["podCIDRs"] = ["10.244.2.0/24", "10.244.201.0/24", "10.244.202.0/24"]
    assert findings("route-missing", bundle) == []


def test_one_route_for_the_whole_network():
    bundle = without("node2", "10.244.0.0/24", "10.244.2.0/24")
    bundle["cluster"]["flannel_config"]["net-conf.json"] = (
        '{"Network": "10.244.0.0/16", "Backend": {"Type": "wireguard"}}'
    )
    bundle["nodes"]["node2"]["ip_route"].append({"dst": "10.244.0.0/16", "dev": "flannel-wg", "scope": "link"})
    assert [one.where for one in findings("route-missing", bundle)] == []


def test_routes_by_address_are_routes():
    bundle = without("node2", "10.244.2.0/24")
    bundle["nodes"]["node2"]["ip_route"].append({"dst": "10.244.2.0/24", "gateway": "192.168.10.13", "dev": "eth0"})
    assert findings("route-missing", bundle) == []


def test_both_families_are_compared():
    bundle = healthy("cluster-dual")
    routes = bundle["nodes"]["node1"]["ip6_route"]
    routes.remove(next(one for one in routes if one["dst"] == "fd00:10:244:1::/64"))
    assert findings("route-missing", bundle)[0].evidence["missing"] == {"node2": "fd00:10:244:1::/64"}


def test_without_routes_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["ip_route"]
    assert undetermined("route-missing", bundle)[0].key == "nodes.*.ip_route"
