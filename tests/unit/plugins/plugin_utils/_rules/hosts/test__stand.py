# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress

import pytest
from edits import kube_node
from host_edits import add_link
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._asked import Interfaces
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._rules.hosts._stand import (
    Peers,
    Stand,
    networks_of_most,
    shared,
    stand,
)
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View


def ip(text):
    return ipaddress.ip_address(text)


def standing(bundle, name="node2"):
    view = View(bundle)
    return stand(view.nodes[name], view)


def test_where_a_member_stands():
    found = standing(healthy())
    assert (found.node, found.chosen, found.asked) == ("node2", ip("192.168.10.12"), Interfaces())
    assert found.addresses[ip("192.168.10.12")] == (ipaddress.ip_network("192.168.10.0/24"), "eth0")
    assert not [one for one in found.addresses if one.is_link_local]
    assert found.machine == healthy()["nodes"]["node2"]["boot_id"]


@pytest.mark.parametrize(
    ("base", "gone", "node", "chosen"),
    [
        ("host", (), "", "192.168.10.12"),
        ("cluster", ("nodes",), "", "192.168.10.12"),
        ("cluster", ("ip_route",), "node2", None),
    ],
)
def test_what_was_not_looked_at_is_left_open(base, gone, node, chosen):
    bundle = healthy(base)
    for key in gone:
        (bundle["cluster"] if key == "nodes" else bundle["nodes"]["node2"]).pop(key)
    del bundle["nodes"]["node2"]["boot_id"]
    found = standing(bundle)
    assert (found.node, found.chosen, found.machine) == (node, chosen and ip(chosen), "")


def test_without_addresses_it_is_missing():
    bundle = healthy()
    del bundle["nodes"]["node2"]["ip_address"]
    with pytest.raises(Missing):
        standing(bundle)


def test_a_host_that_flannel_is_told_of_by_its_nodes_name():
    bundle = healthy()
    add_link(bundle["nodes"]["node2"], "eth1", "10.0.0.5/24")
    for pod in bundle["cluster"]["pods"]["items"]:
        if pod["spec"]["nodeName"] == "node2" and pod["metadata"]["namespace"] == "kube-flannel":
            pod["spec"]["containers"][0]["args"].append("--iface=eth1")
    assert (standing(bundle).chosen, standing(bundle, "node1").chosen) == (ip("10.0.0.5"), ip("192.168.10.11"))
    kube_node(bundle, "node2")["metadata"]["name"] = "other"
    for pod in bundle["cluster"]["pods"]["items"]:
        pod["spec"]["nodeName"] = pod["spec"]["nodeName"].replace("node2", "other")
    assert (standing(bundle).node, standing(bundle).chosen) == ("other", ip("10.0.0.5"))


def test_addresses_that_more_than_one_has():
    one, other = ip("10.0.0.1"), ip("10.0.0.2")
    assert list(shared({"a": one, "b": other, "c": one, "d": None, "e": None})) == [(one, ["a", "c"])]


@pytest.mark.parametrize(
    ("network", "count"),
    [("10.0.0.0/30", 3), ("10.0.0.2/31", 2), ("10.0.0.3/32", 1), ("10.1.0.0/16", 0), ("fd00::/64", 1), ("::/0", 1)],
)
def test_peers_in_a_network_are_counted(network, count):
    peers = Peers(map(ip, ["10.0.0.3", "10.0.0.1", "10.0.0.2", "10.0.0.4", "fd00::1"]))
    assert (peers.count(4), peers.count(6)) == (4, 1)
    assert peers.inside(ipaddress.ip_network(network)) == count


@pytest.mark.parametrize(
    ("own", "addresses", "peers", "found"),
    [
        ("10.1.0.1", ["10.1.0.1/24", "10.0.0.1/24"], ["10.0.0.2", "10.0.0.3"], "10.0.0.1"),
        ("10.1.0.1", ["10.1.0.1/24", "10.0.0.1/24"], ["10.0.0.2", "10.9.0.3"], "10.0.0.1"),  # half of them
        ("10.1.0.1", ["10.1.0.1/24", "10.0.0.1/24"], ["10.0.0.2", "10.9.0.3", "10.9.0.4"], None),
        ("10.1.0.1", ["10.1.0.1/24", "10.0.0.1/24"], ["10.1.0.2", "10.0.0.3"], None),  # one is in the own network
        ("10.1.0.1", ["10.1.0.1/24", "10.0.0.1/32"], ["10.0.0.1", "10.0.0.1"], None),
        ("10.1.0.1", ["10.1.0.1/24", "fd00::1/64"], ["fd00::2", "10.9.0.3"], None),
        ("10.1.0.1", ["10.1.0.1/24", "10.0.0.1/24"], [], None),
        ("10.8.0.1", ["10.1.0.1/24", "10.0.0.1/24"], ["10.0.0.2"], None),
    ],
)
def test_a_network_where_most_of_the_others_are(own, addresses, peers, found):
    interfaces = [ipaddress.ip_interface(one) for one in addresses]
    fact = Stand("n", {one.ip: (one.network, "x") for one in interfaces}, ip(own), Interfaces(), "")
    most = networks_of_most(fact, ip(own), Peers(map(ip, [own, *peers])))
    assert (most and most[0]) == found
    assert most is None or str(most[1]) == "10.0.0.0/24"
