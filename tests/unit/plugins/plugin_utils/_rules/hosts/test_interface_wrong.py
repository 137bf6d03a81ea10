# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, heard_alone, undetermined


def nat(bundle, *names, address="10.0.2.15"):
    """Gives hosts a first card with one and the same address and the default route; what was eth0 becomes eth1."""
    for name in names:
        node = bundle["nodes"][name]
        for link in node["ip_address"]:
            link["ifname"] = "eth1" if link["ifname"] == "eth0" else link["ifname"]
        node["ip_address"].append(
            {
                "ifname": "eth0",
                "flags": ["UP"],
                "mtu": 1500,
                "addr_info": [{"family": "inet", "local": address, "prefixlen": 24}],
            }
        )
        for route in node["ip_route"]:
            if route["dst"] == "default":
                route.update(gateway="10.0.2.2", dev="eth0")
            elif route["dev"] == "eth0":
                route["dev"] = "eth1"
    return bundle


def registered(bundle, name, address):
    node = next(one for one in bundle["cluster"]["nodes"]["items"] if one["metadata"]["name"] == name)
    node["status"]["addresses"][0]["address"] = address


def test_one_address_everywhere_before_the_cluster():
    (found,) = findings("interface-wrong", nat(healthy("host"), "node1", "node2", "node3"))
    assert (found.severity, found.where) == ("error", ["node1", "node2", "node3"])


def test_one_host_that_would_take_another_network_than_the_others():
    (found,) = findings("interface-wrong", nat(healthy("host"), "node2"))
    assert (found.severity, found.where) == ("warning", ["node2"])


def test_two_cards_with_the_default_route_over_the_nodes_own():
    bundle = healthy("host")
    for index, node in enumerate(bundle["nodes"].values(), 5):
        node["ip_address"].append(
            {"ifname": "eth1", "addr_info": [{"family": "inet", "local": f"172.16.0.{index}", "prefixlen": 24}]}
        )
        node["inventory_address"] = f"172.16.0.{index}"
    assert findings("interface-wrong", bundle) == []


def test_nodes_registered_with_one_address():
    bundle = nat(healthy(), "node2", "node3")
    registered(bundle, "node2", "10.0.2.15")
    registered(bundle, "node3", "10.0.2.15")
    (found,) = findings("interface-wrong", bundle)
    assert (found.severity, found.where) == ("error", ["node2", "node3"])


def test_a_node_registered_in_another_network():
    bundle = nat(healthy(), "node2")
    registered(bundle, "node2", "10.0.2.15")
    (found,) = findings("interface-wrong", bundle)
    assert found.where == ["node2"]


def test_a_node_registered_with_an_address_that_nobody_has():
    bundle = healthy()
    registered(bundle, "node2", "192.168.10.99")
    (found,) = findings("interface-wrong", bundle)
    assert found.severity == "warning" and "no interface" in found.summary


def test_nodes_in_networks_of_their_own_that_are_routed():
    bundle = healthy()
    for index, name in enumerate(bundle["nodes"], 1):
        address = f"10.7.{index}.10"
        registered(bundle, name, address)
        for link in bundle["nodes"][name]["ip_address"]:
            if link["ifname"] == "eth0":
                link["addr_info"][0]["local"] = address
    assert findings("interface-wrong", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["ip_address"]
    assert [missed.key for missed in undetermined("interface-wrong", bundle)] == ["nodes.*.ip_address"]


def test_flannels_words_against_the_inventory():
    bundle = heard_alone("I1130 15:46:10.1 1 main.go:545] Using interface with name eth0 and address 10.0.2.15")
    links = [("eth0", "10.0.2.15"), ("eth1", "192.168.10.12")]
    addresses = [
        {"ifname": name, "addr_info": [{"family": "inet", "local": one, "prefixlen": 24, "scope": "global"}]}
        for name, one in links
    ]
    bundle["nodes"] = {"node2": {"inventory_address": "192.168.10.12", "ip_address": addresses}}
    assert findings("interface-wrong", bundle)[0].where == ["node2"]
    bundle["nodes"]["node2"]["inventory_address"] = "10.0.2.15"
    assert findings("interface-wrong", bundle) == []
