# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


def hosts(pod="10.244.0.0/16", routes=(), links=()):
    bundle = healthy("host")
    bundle["intent"]["pod_cidr"] = pod
    bundle["nodes"]["node2"]["ip_route"] += list(routes)
    bundle["nodes"]["node2"]["ip_address"] += list(links)
    return bundle


def test_the_nodes_network_in_the_pod_range_is_one_finding():
    (found,) = findings("overlap-host-network", hosts("192.168.0.0/16"))
    assert (found.severity, found.where) == ("error", ["node1", "node2", "node3"])
    assert found.evidence["node2"]["host has"] == ["192.168.10.12/24 on eth0"]


def test_the_uplink_of_a_host_that_is_a_container_is_a_network_of_the_host():
    bundle = hosts("192.168.0.0/16")
    for link in bundle["nodes"]["node2"]["ip_address"]:
        if link["ifname"] == "eth0":
            link["linkinfo"] = {"info_kind": "veth"}
    assert findings("overlap-host-network", bundle)[0].where == ["node1", "node2", "node3"]


@pytest.mark.parametrize("route", ["10.244.7.0/24", "10.244.0.0/16", "10.96.0.0/16"])
def test_a_route_into_a_range(route):
    found = findings("overlap-host-network", hosts(routes=[{"dst": route, "gateway": "192.168.10.1", "dev": "eth0"}]))
    assert [(one.severity, one.where) for one in found] == [("error", ["node2"])]


def test_a_wider_route_through_a_gateway_is_a_warning():
    found = findings(
        "overlap-host-network", hosts(routes=[{"dst": "10.0.0.0/8", "gateway": "192.168.10.1", "dev": "eth0"}])
    )
    assert [one.severity for one in found] == ["warning"]


@pytest.mark.parametrize(
    "route",
    [
        {"dst": "default", "gateway": "192.168.10.1", "dev": "eth0"},
        {"dst": "0.0.0.0/1", "gateway": "192.168.10.1", "dev": "eth0"},
        {"dst": "172.20.0.0/16", "gateway": "192.168.10.1", "dev": "eth0"},
        {"dst": "10.244.1.0/24", "dev": "cni0"},
        {"type": "blackhole", "dst": "10.244.0.0/16"},
    ],
)
def test_routes_that_take_nothing_away(route):
    assert findings("overlap-host-network", hosts(routes=[route])) == []


def test_a_running_clusters_own_links_and_routes_are_not_foreign():
    for name in ("cluster", "cluster-docker", "cluster-dual"):
        assert findings("overlap-host-network", healthy(name)) == []


def test_host_gw_routes_over_the_hosts_own_link_are_the_clusters():
    bundle = healthy()
    for route in bundle["nodes"]["node2"]["ip_route"]:
        if route.get("dev") == "flannel.1" and route.get("table") is None:
            route.update(dev="eth0", gateway="192.168.10.11", flags=[])
    assert findings("overlap-host-network", bundle) == []


def test_without_links_it_is_undetermined():
    bundle = hosts()
    del bundle["nodes"]["node2"]["ip_address"]
    assert [one.where for one in undetermined("overlap-host-network", bundle)] == [["node2"]]
