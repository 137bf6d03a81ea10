# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined

PREFIX = "flannel.alpha.coreos.com/"


def annotated(name, address, **more):
    bundle = healthy()
    node = next(one for one in bundle["cluster"]["nodes"]["items"] if one["metadata"]["name"] == name)
    node["metadata"]["annotations"].update({PREFIX + "public-ip": address, **more})
    return bundle


def second_address(bundle, name, address, prefix, link="eth0"):
    node = bundle["nodes"][name]
    found = [one for one in node["ip_address"] if one["ifname"] == link]
    if not found:
        found = [{"ifname": link, "flags": ["UP"], "addr_info": []}]
        node["ip_address"] += found
    found[0]["addr_info"].insert(0, {"family": "inet", "local": address, "prefixlen": prefix})


def test_an_address_that_the_host_does_not_have():
    (found,) = findings("public-ip-wrong", annotated("node2", "192.0.2.10"))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_an_address_that_is_gone_counts_whatever_the_node_says():
    bundle = annotated("node2", "192.0.2.10")
    node = next(one for one in bundle["cluster"]["nodes"]["items"] if one["metadata"]["name"] == "node2")
    node["status"]["addresses"][0]["address"] = "192.0.2.10"
    assert [found.where for found in findings("public-ip-wrong", bundle)] == [["node2"]]


def test_behind_nat_it_is_asked_for():
    assert (
        findings("public-ip-wrong", annotated("node2", "192.0.2.10", **{PREFIX + "public-ip-overwrite": "192.0.2.10"}))
        == []
    )


def test_two_nodes_with_one_address():
    (found,) = findings("public-ip-wrong", annotated("node2", "192.168.10.13"))
    assert found.where == ["node2", "node3"]


def test_the_floating_address_of_the_control_plane():
    bundle = annotated("node1", "192.168.10.100")
    second_address(bundle, "node1", "192.168.10.100", 24)
    bundle["intent"]["control_plane_endpoint"] = "192.168.10.100:6443"
    (found,) = findings("public-ip-wrong", bundle)
    assert found.where == ["node1"] and "floating" in found.summary


def test_a_floating_address_behind_the_nodes_own_is_not_taken():
    bundle = healthy()
    second_address(bundle, "node1", "192.168.10.100", 32)
    assert findings("public-ip-wrong", bundle) == []


def test_another_network_than_the_peers():
    bundle = annotated("node2", "10.0.0.5")
    second_address(bundle, "node2", "10.0.0.5", 24, "eth1")
    (found,) = findings("public-ip-wrong", bundle)
    assert "192.168.10.0/24" in found.summary


def test_a_vpn_that_all_nodes_are_in():
    bundle = healthy()
    for index, (name, node) in enumerate(zip(bundle["nodes"], bundle["cluster"]["nodes"]["items"]), 11):
        node["metadata"]["annotations"][PREFIX + "public-ip"] = f"10.9.0.{index}"
        second_address(bundle, name, f"10.9.0.{index}", 24, "wg0")
    assert findings("public-ip-wrong", bundle) == []


def test_without_the_hosts_the_other_nodes_tell():
    bundle = annotated("node2", "192.0.2.10")
    bundle["nodes"] = {"node1": bundle["nodes"]["node1"]}
    (found,) = findings("public-ip-wrong", bundle)
    assert found.where == ["node2"]


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["cluster"]["nodes"]
    assert {missed.key for missed in undetermined("public-ip-wrong", bundle)} == {"cluster.nodes"}


def test_a_floating_address_with_the_networks_own_prefix():
    bundle = healthy()
    bundle["cluster"]["nodes"]["items"][1]["metadata"]["annotations"]["flannel.alpha.coreos.com/public-ip"] = (
        "192.168.10.100"
    )
    floating = {"family": "inet", "local": "192.168.10.100", "prefixlen": 24, "scope": "global"}
    bundle["nodes"]["node2"]["ip_address"][1]["addr_info"].insert(0, floating)
    (found,) = findings("public-ip-wrong", bundle)
    assert (found.where, found.severity) == (["node2"], "warning")


def test_an_overwrite_that_flannel_does_not_obey():
    bundle = healthy()
    annotations = bundle["cluster"]["nodes"]["items"][1]["metadata"]["annotations"]
    annotations["flannel.alpha.coreos.com/public-ip-overwrite"] = "203.0.113.7"
    assert "asks for 203.0.113.7" in findings("public-ip-wrong", bundle)[0].summary


def test_an_overwrite_at_which_nothing_arrives():
    bundle = healthy()
    annotations = bundle["cluster"]["nodes"]["items"][1]["metadata"]["annotations"]
    for key in ("public-ip", "public-ip-overwrite"):
        annotations[f"flannel.alpha.coreos.com/{key}"] = "203.0.113.7"
    assert findings("public-ip-wrong", bundle) == []  # behind a NAT of one to one it is right
    for host in bundle["nodes"].values():
        for one in host["probes"]:
            if "node2" in (one["from"], one["to"]) and one["what"] in ("icmp/1422", "tcp/pod", "udp/dns"):
                one.update(ok=False, ms=None)
    assert findings("public-ip-wrong", bundle)[0].where == ["node2"]
