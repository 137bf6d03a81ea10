# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset, rules
from host_edits import add_link, rename_uplink, unit
from reports import HOSTILE
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed, Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._facts import cluster_facts, host_facts, tell
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View


def facts(bundle, name="node2"):
    view = View(bundle)
    return host_facts(view.nodes[name], view)


@pytest.mark.parametrize("error", [Missing("a"), Malformed("a", "b"), ValueError(), AttributeError(), TypeError()])
def test_what_cannot_be_told_is_the_default(error):
    def ask():
        raise error

    assert tell(ask, "default") == "default"
    assert tell(lambda: "told", "default") == "told"
    with pytest.raises(KeyError):
        tell(lambda: {}["x"], "default")


def test_the_facts_of_a_host():
    found = facts(healthy()).as_dict()
    links = found.pop("links")
    assert found == {
        "name": "node2",
        "roles": ["worker"],
        "address": "192.168.10.12",
        "node": "node2",
        "system": "Debian GNU/Linux 13 (trixie)",
        "kernel": "6.12.57+deb13-amd64",
        "runtime": "containerd 2.1.5",
        "kubelet": "v1.37.2",
        "pod_ranges": ["10.244.1.0/24"],
        "subnet_env": {
            "FLANNEL_NETWORK": "10.244.0.0/16",
            "FLANNEL_SUBNET": "10.244.1.1/24",
            "FLANNEL_MTU": "1450",
            "FLANNEL_IPMASQ": "true",
        },
        "firewall": [],
    }
    assert [(one["name"], one["mtu"], one["up"]) for one in links] == [
        ("eth0", 1500, True),
        ("flannel.1", 1450, True),
        ("cni0", 1450, True),
    ]
    assert "192.168.10.12/24" in links[0]["addresses"]


@pytest.mark.parametrize("host", [{}, {"ip_address": 7, "runtime": [], "os_release": "x", "roles": HOSTILE, "nft": 1}])
def test_a_host_that_says_nothing_or_nonsense_has_empty_facts(host):
    found = facts({"nodes": {"node2": host}}).as_dict()
    assert found.pop("name") == "node2"
    assert not any(found.values())


def test_the_ranges_of_a_host_by_kind():
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    add_link(node, "docker0", "172.17.0.1/16", "bridge")
    add_link(node, "wg0", "10.8.0.2/24", "wireguard")
    node["ip_route"] += [
        {"dst": "10.9.0.0/16", "gateway": "192.168.10.1", "dev": "eth0"},
        {"dst": "10.10.0.0/16", "dev": "wg0"},
        {"dst": "10.244.2.0/24", "gateway": "192.168.10.13", "dev": "eth0"},  # flannel's host-gw
        {"dst": "10.11.0.0/16", "dev": "eth0", "table": "100"},
    ]
    node["resolv_conf"] += "nameserver 127.0.0.53\nnameserver 10.0.0.53\n"
    assert [(kind, label, str(network)) for kind, label, network in facts(bundle).ranges] == [
        ("nodes", "eth0", "192.168.10.0/24"),
        ("bridge", "docker0", "172.17.0.0/16"),
        ("vpn", "wg0", "10.8.0.0/24"),
        ("route", "route by eth0", "10.9.0.0/16"),
        ("vpn", "route by wg0", "10.10.0.0/16"),
        ("route", "route by eth0", "10.11.0.0/16"),
        ("resolver", "resolver", "192.168.10.1/32"),
        ("resolver", "resolver", "10.0.0.53/32"),
    ]


def test_a_bridge_that_is_the_hosts_uplink_is_its_network_whatever_its_name():
    bundle = healthy()
    rename_uplink(bundle["nodes"]["node2"], "br-0123456789ab", "bridge", ["eno1"])
    assert ("nodes", "br-0123456789ab") in [(kind, label) for kind, label, _network in facts(bundle).ranges]


def test_what_drops_traffic_on_a_host():
    bundle = healthy()
    kube = "-A FORWARD -m comment --comment KUBE-X -j DROP\n-A OUTPUT -j DROP\n"
    rules(bundle, "node2", ":FORWARD ACCEPT [0:0]\n", f":FORWARD DROP [0:0]\n-A FORWARD -i eth9 -j DROP\n{kube}")
    chain = {"family": "inet", "table": "filter", "name": "input", "hook": "input", "policy": "drop"}
    bundle["nodes"]["node2"]["nft"] = {"nftables": [{"chain": chain}, {"chain": {**chain, "hook": "output"}}, 7]}
    unit(bundle["nodes"]["node2"], "ufw")
    unit(bundle["nodes"]["node2"], "firewalld", active=False)
    assert facts(bundle).firewall == [
        "iptables (nft): policy DROP on FORWARD",
        "iptables (nft): -A FORWARD -i eth9 -j DROP",
        "nftables: table inet filter: policy drop on input, chain input",
        "ufw runs",
    ]


def test_the_facts_of_the_cluster():
    bundle = healthy("cluster-dual")
    bundle["cluster"]["network_policies"]["items"] = [{"metadata": {"name": "deny", "namespace": "shop"}}]
    bundle["cluster"]["services"]["items"] += [
        {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"type": "NodePort"}},
        {"metadata": {"name": "ext", "namespace": "shop"}, "spec": {"type": "ClusterIP", "externalIPs": ["192.0.2.1"]}},
    ]
    assert cluster_facts(View(bundle)).as_dict() == {
        "version": "v1.37.2",
        "endpoint": "192.168.10.11:6443",
        "pods": ["10.244.0.0/16", "fd00:10:244::/56"],
        "services": ["10.96.0.0/12", "fd00:10:96::/112"],
        "dns": ["10.96.0.10"],
        "backend": "vxlan",
        "flannel_version": "v0.28.10",
        "flannel_network": ["10.244.0.0/16", "fd00:10:244::/56"],
        "flannel_namespace": "kube-flannel",
        "port": 8472,
        "kube_proxy_mode": "iptables",
        "policies": ["shop/deny"],
        "node_ranges": [
            ["node1", "10.244.0.0/24"],
            ["node1", "fd00:10:244::/64"],
            ["node2", "10.244.1.0/24"],
            ["node2", "fd00:10:244:1::/64"],
            ["node3", "10.244.2.0/24"],
            ["node3", "fd00:10:244:2::/64"],
        ],
        "exposed": ["default/web (NodePort)", "shop/web (NodePort)", "shop/ext (ClusterIP)"],
    }


def test_before_there_is_a_cluster_the_facts_are_those_of_the_intent():
    bundle = healthy("intent")
    bundle["intent"] |= {
        "flannel": {"backend": "wireguard", "port": 51999, "version": "v0.28.9"},
        "cluster_dns": "10.96.0.9",
    }
    found = cluster_facts(View(bundle))
    assert (found.version, found.endpoint, found.dns) == ("1.37.2", "192.168.10.11:6443", ["10.96.0.9"])
    assert (found.backend, found.port, found.flannel_version) == ("wireguard", 51999, "v0.28.9")
    assert (found.pods, found.flannel_network, found.node_ranges) == (["10.244.0.0/16"], [], [])


def test_of_nothing_nothing_is_told():
    assert not any(cluster_facts(View({})).as_dict().values())


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("ghcr.io/flannel-io/flannel:v0.28.4@sha256:00", "v0.28.4"),
        ("registry:5000/mirrored-flannel:v0.28.4", "v0.28.4"),
        ("ghcr.io/flannel-io/flannel@sha256:00", "v0.28.10"),  # the intent's
    ],
)
def test_flannels_version_is_its_images_tag(image, version):
    bundle = healthy()
    spec = daemonset(bundle)["spec"]["template"]["spec"]
    spec["containers"][0]["image"] = spec["initContainers"][1]["image"] = image
    assert cluster_facts(View(bundle)).flannel_version == version
