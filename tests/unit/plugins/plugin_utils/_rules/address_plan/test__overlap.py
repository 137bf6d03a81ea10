# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from host_edits import add_link
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._networks import BRIDGE, HOST
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._rules.address_plan._overlap import (
    cluster_ranges,
    compare,
    foreign,
)
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View


def compared(*routes, pod="10.244.0.0/16", owner=HOST):
    bundle = healthy("host")
    bundle["intent"]["pod_cidr"] = pod
    node = bundle["nodes"]["node2"]
    node["ip_route"] += [{"dst": dst, "gateway": "192.168.10.1", "dev": "eth0"} for dst in routes]
    add_link(node, "docker0", "172.17.0.1/16", "bridge")
    view = View(bundle)
    return list(compare(view.nodes["node2"], view, owner, "the hosts' network"))


def test_the_ranges_of_the_cluster_without_services_where_none_are_known():
    both = cluster_ranges(View({"intent": {"pod_cidr": "10.1.0.0/16", "service_cidr": "10.2.0.0/16"}}))
    assert {name: list(map(str, found)) for name, found in both.items()} == {
        "pod": ["10.1.0.0/16"],
        "service": ["10.2.0.0/16"],
    }
    assert list(cluster_ranges(View({"intent": {"pod_cidr": "10.1.0.0/16"}}))) == ["pod"]
    with pytest.raises(Missing):
        cluster_ranges(View({"intent": {"service_cidr": "10.2.0.0/16"}}))


def test_the_clusters_own_networks_are_not_foreign_and_are_looked_for_once():
    view = View(healthy())
    node = view.nodes["node2"]
    assert [one.text for one in foreign(node, view)] == ["192.168.10.12/24 on eth0"]
    assert foreign(node, view) is foreign(node, view)


def test_what_meets_is_one_error_that_names_each_range_once():
    (found,) = compared("10.244.1.0/24", "10.244.2.0/24", "10.96.7.0/24", "10.0.0.0/8")
    assert found.summary == "the pod range 10.244.0.0/16 and the service range 10.96.0.0/12 meets the hosts' network"
    assert found.severity is None
    assert found.evidence["host has"] == [
        f"route {dst} via 192.168.10.1 dev eth0" for dst in ("10.244.1.0/24", "10.244.2.0/24", "10.96.7.0/24")
    ]


def test_of_many_the_first_five_are_shown():
    (found,) = compared(*(f"10.244.{number}.0/24" for number in range(9)))
    assert len(found.evidence["host has"]) == 5


def test_a_wider_route_through_a_gateway_alone_is_a_warning():
    (found,) = compared("10.0.0.0/8")
    assert found.severity == "warning"
    assert found.summary.endswith("cuts into a wider route of the hosts' network")
    assert found.evidence["host has"] == ["route 10.0.0.0/8 via 192.168.10.1 dev eth0"]


@pytest.mark.parametrize(
    ("pod", "owner", "count"), [("192.168.0.0/16", HOST, 1), ("172.17.0.0/24", HOST, 0), ("172.17.0.0/24", BRIDGE, 1)]
)
def test_each_rule_tells_of_the_networks_of_one_owner(pod, owner, count):
    assert len(compared(pod=pod, owner=owner)) == count
