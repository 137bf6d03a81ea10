# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def sized(base="cluster", **mtus):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    for link in node["ip_address"]:
        link["mtu"] = mtus.get(link["ifname"].replace(".", "_"), link["mtu"])
    return bundle, node


def pinged(*sizes, base="host"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    node["probes"] = [{"from": "node2", "to": "node1", "what": f"icmp-host/{size}", "ok": ok} for size, ok in sizes]
    return bundle


def test_a_tunnel_as_large_as_its_interface():
    bundle, _node = sized(flannel_1=1500, cni0=1450)
    found = [one for one in findings("mtu-mismatch", bundle) if one.severity == "error"]
    assert [one.where for one in found] == [["node2"]]
    assert "room for 1450" in found[0].summary


def test_pods_larger_than_the_tunnel():
    bundle, node = sized(cni0=1500)
    (found,) = findings("mtu-mismatch", bundle)
    assert found.severity == "warning"
    for link in node["ip_address"]:
        if link["ifname"] == "cni0":
            link["flags"].remove("LOWER_UP")
    assert findings("mtu-mismatch", bundle) == []


def test_nodes_of_different_size():
    bundle, _node = sized(eth0=9000, flannel_1=8950)
    (found,) = findings("mtu-mismatch", bundle)
    assert (found.severity, found.where) == ("warning", ["node2"])


def test_any_size_that_fits():
    bundle, _node = sized(eth0=9000)
    assert findings("mtu-mismatch", bundle) == []


def test_a_path_that_loses_full_packets():
    (found,) = findings("mtu-mismatch", pinged((1472, False), (1422, True)))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_icmp_that_is_dropped_says_nothing():
    assert findings("mtu-mismatch", pinged((1472, False), (1422, False))) == []
    assert findings("mtu-mismatch", pinged((1472, False))) == []


def test_a_path_that_carries_what_the_tunnel_needs():
    bundle = pinged((1472, False), (1422, True), base="cluster")
    for node in bundle["nodes"].values():
        for link in node["ip_address"]:
            if link["ifname"] != "eth0" and link["ifname"] != "lo":
                link["mtu"] = 1400
    assert findings("mtu-mismatch", bundle) == []


def test_a_tunnel_that_loses_full_packets():
    bundle = healthy()
    for probe in bundle["nodes"]["node2"]["probes"]:
        if probe["what"] == "icmp/1422":
            probe.update(ok=False, ms=None)
    assert [found.where for found in findings("mtu-mismatch", bundle)] == [["node2"]]
    for probe in bundle["nodes"]["node2"]["probes"]:
        if probe["what"] == "tcp/pod":
            probe.update(ok=False, ms=None)
    assert findings("mtu-mismatch", bundle) == []


def test_dual_stack_over_vxlan_is_information():
    assert [found.severity for found in findings("mtu-mismatch", healthy("cluster-dual"))] == ["info"]


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["ip_address"]
    assert {missed.key for missed in undetermined("mtu-mismatch", bundle)} == {"nodes.*.ip_address"}
