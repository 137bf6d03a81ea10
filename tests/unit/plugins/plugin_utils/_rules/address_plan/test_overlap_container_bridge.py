# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def bridge(name, address, length=16):
    info = [{"family": "inet", "local": address, "prefixlen": length}]
    return {"ifname": name, "flags": ["UP"], "mtu": 1500, "linkinfo": {"info_kind": "bridge"}, "addr_info": info}


def with_bridge(link, pod="10.244.0.0/16"):
    bundle = healthy("host")
    bundle["intent"]["pod_cidr"] = pod
    bundle["nodes"]["node2"]["ip_address"].append(link)
    return bundle


def test_dockers_bridge_in_the_pod_range():
    (found,) = findings("overlap-container-bridge", with_bridge(bridge("docker0", "172.17.0.1"), "172.17.0.0/16"))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_bridge_in_the_nodes_own_network():
    link = bridge("br-5f3a1c9e77d0", "192.168.0.1")
    (found,) = findings("overlap-container-bridge", with_bridge(link))
    assert found.where == ["node2"]


def test_a_bridge_with_a_range_of_its_own_is_right():
    assert findings("overlap-container-bridge", with_bridge(bridge("docker0", "172.17.0.1"))) == []
    assert findings("overlap-container-bridge", healthy("cluster-docker")) == []


def test_the_hosts_uplink_may_be_a_bridge():
    bundle = healthy("host")
    links = bundle["nodes"]["node2"]["ip_address"]
    links.append({**bridge("br0", "192.168.10.12", 24)})
    assert findings("overlap-container-bridge", bundle) == []


def test_dockers_default_in_a_plan_is_a_warning_until_hosts_were_looked_at():
    bundle = healthy("intent")
    bundle["intent"]["pod_cidr"] = "172.17.0.0/16"
    assert [one.severity for one in findings("overlap-container-bridge", bundle)] == ["warning"]
    bundle = healthy("host")
    bundle["intent"]["pod_cidr"] = "172.17.0.0/16"
    assert findings("overlap-container-bridge", bundle) == []
