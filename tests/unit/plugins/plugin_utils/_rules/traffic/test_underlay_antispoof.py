# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import probe, route
from rules import findings, healthy


def host_gw() -> dict:
    """A cluster with host-gw whose pods do not reach node2's pods, nor those the others'."""
    bundle = healthy()
    conf = bundle["cluster"]["flannel_config"]
    conf["net-conf.json"] = '{"Network": "10.244.0.0/16", "Backend": {"Type": "host-gw"}}'
    for index, name in enumerate(bundle["nodes"]):
        for peer in range(3):
            if peer != index:
                route(bundle, name, f"10.244.{peer}.0/24").update(
                    dev="eth0", gateway=f"192.168.10.1{peer + 1}", flags=[]
                )
    for what in ("tcp/pod", "icmp/", "udp/dns"):
        probe(bundle, what, sender="node2")
        probe(bundle, what, to="node2")
    return bundle


def test_nodes_reach_each_other_and_their_pods_do_not():
    (found,) = findings("underlay-antispoof", host_gw())
    assert found.severity == "error"
    assert found.evidence["pairs"] == ["node1 and node2", "node2 and node3"]


def test_nodes_reach_each_other_by_hostports():
    bundle = host_gw()
    for node in bundle["nodes"].values():
        for one in node["probes"]:
            if one["what"].startswith("icmp-host/"):
                one["what"] = "tcp/hostport"
    assert len(findings("underlay-antispoof", bundle)) == 1


def test_a_host_that_would_not_forward_itself():
    bundle = host_gw()
    bundle["nodes"]["node2"]["sysctl"]["net.ipv4.ip_forward"] = "0"
    assert findings("underlay-antispoof", bundle) == []


def test_a_missing_route_and_a_tunnel_are_other_faults():
    bundle = host_gw()
    bundle["nodes"]["node2"]["ip_route"].remove(route(bundle, "node2", "10.244.0.0/24"))
    bundle["nodes"]["node2"]["ip_route"].remove(route(bundle, "node2", "10.244.2.0/24"))
    assert findings("underlay-antispoof", bundle) == []
    bundle = healthy()
    probe(bundle, "tcp/pod")
    assert findings("underlay-antispoof", bundle) == []
