# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters with other rules beside: firewalls, their traces, and what engines of policies write."""

from __future__ import annotations

import copy

import pytest
from edits import FORWARD, daemonset, nft_table, rules
from host_edits import nodes, unit
from oddities import Oddities

oddity = Oddities()
CHAINS = ":KUBE-SERVICES - [0:0]\n"  # the last chain of the filter table; what follows is in front of all rules


def in_front(bundle, lines, nodes=("node1", "node2", "node3")):
    """Lines of iptables-save (chains and rules) in front of the filter table's own rules."""
    for name in nodes:
        rules(bundle, name, CHAINS, CHAINS + lines)


@oddity()
def firewalld_inactive_but_installed(bundle):
    for node in nodes(bundle):
        node["units"]["firewalld"] = {"active": "inactive", "enabled": "disabled", "since": ""}


@oddity()
def firewalld_with_the_clusters_networks_trusted(bundle):
    for node in nodes(bundle):
        unit(node, "firewalld")
        node["firewalld"] = {
            "active": True,
            "zones": "public (active)\n  target: default\n  interfaces: eth0\n  ports: 6443/tcp 10250/tcp 8472/udp\n"
            "trusted (active)\n  target: ACCEPT\n  interfaces: cni0 flannel.1\n  sources: 10.244.0.0/16 10.96.0.0/12\n",
            "policies": "",
        }


@oddity()
def ufw_that_lets_the_cluster_through(bundle):
    for node in nodes(bundle):
        unit(node, "ufw")
        node["ufw"] = (
            "Status: active\nLogging: on (low)\nDefault: deny (incoming), allow (outgoing), allow (routed)\n"
            "22/tcp ALLOW IN Anywhere\n6443/tcp ALLOW IN Anywhere\n"
            "10250/tcp ALLOW IN Anywhere\n8472/udp ALLOW IN Anywhere\n"
        )


@oddity()
def legacy_tables_that_are_empty(bundle):
    for node in nodes(bundle):
        node["iptables"]["legacy"] = (
            "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
        )


@oddity()
def the_legacy_backend_everywhere(bundle):
    for node in nodes(bundle):
        for table in ("iptables", "ip6tables"):
            node[table] = {"nft": "", "legacy": node[table]["nft"], "selected": "legacy"}
        node["nft"] = {"nftables": []}
        node["modules"] += ["ip_tables", "iptable_filter", "iptable_nat"]


@oddity()
def marks_of_the_kubelet_in_the_other_backend(bundle):
    for node in nodes(bundle):
        node["iptables"]["legacy"] = (
            "*mangle\n:PREROUTING ACCEPT [0:0]\n:KUBE-IPTABLES-HINT - [0:0]\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n"
        )


@oddity()
def firewalld_with_pods_in_the_zone_trusted(bundle):
    for name, node in bundle["nodes"].items():
        node["units"]["firewalld"] = {"active": "active", "enabled": "enabled"}
        node["firewalld"] = {"active": True, "zones": "trusted (active)\n  sources: 10.244.0.0/16\n", "policies": ""}
        chain = {**FORWARD, "name": "filter_FORWARD", "prio": 10}
        source = {"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}}}
        source["match"]["right"] = {"prefix": {"addr": "10.244.0.0", "len": 16}}
        target = copy.deepcopy(source)
        target["match"]["left"]["payload"]["field"] = "daddr"
        reject = {"reject": {"type": "icmpx", "expr": "admin-prohibited"}}
        nft_table(
            bundle, name, "inet", "firewalld", chain, [source, {"accept": None}], [target, {"accept": None}], [reject]
        )


@oddity()
def the_empty_table_of_debians_nftables(bundle):
    for name in bundle["nodes"]:
        nft_table(bundle, name, "inet", "filter", FORWARD)


@oddity()
def crowdsec_and_fail2ban(bundle):
    for name in bundle["nodes"]:
        chain = {"name": "crowdsec-chain-input", "type": "filter", "hook": "input", "prio": -10, "policy": "accept"}
        saddr = {
            "match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": "198.51.100.7"}
        }
        nft_table(bundle, name, "ip", "crowdsec", chain, [saddr, {"drop": None}])
    in_front(bundle, ":f2b-sshd - [0:0]\n-A INPUT -p tcp -m multiport --dports 22 -j f2b-sshd\n-A f2b-sshd -j RETURN\n")


@oddity()
def logs_limits_and_bridged_packets(bundle):
    in_front(
        bundle,
        '-A FORWARD -m limit --limit 5/min -j LOG --log-prefix "FWD "\n'
        "-A FORWARD -m physdev --physdev-is-bridged -j ACCEPT\n"
        "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n",
    )


@oddity()
def a_reject_behind_flannels_accept(bundle):
    for name in bundle["nodes"]:
        text = bundle["nodes"][name]["iptables"]["nft"]
        last = next(line for line in text.splitlines() if "-A FORWARD" in line and "FLANNEL-FWD" in line)
        rules(bundle, name, last, f"{last}\n[0:0] -A FORWARD -j REJECT --reject-with icmp-host-prohibited")


@oddity()
def libvirts_own_rejects(bundle):
    in_front(
        bundle,
        ":LIBVIRT_FWI - [0:0]\n-A FORWARD -j LIBVIRT_FWI\n"
        "-A LIBVIRT_FWI -o virbr0 -j REJECT --reject-with icmp-port-unreachable\n",
    )


@oddity()
def calico_that_enforces_policies_beside_flannel(bundle):
    containers = daemonset(bundle)["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "calico-node", "image": "docker.io/calico/node:v3.31.0"})
    in_front(
        bundle,
        ":cali-FORWARD - [0:0]\n:cali-from-wl-dispatch - [0:0]\n-A FORWARD -j cali-FORWARD\n"
        "-A cali-FORWARD -i cali+ -j cali-from-wl-dispatch\n-A cali-from-wl-dispatch -j DROP\n",
    )


@oddity()
def kube_router_that_enforces_policies(bundle):
    in_front(
        bundle,
        ":KUBE-ROUTER-FORWARD - [0:0]\n:KUBE-POD-FW-AAAA - [0:0]\n-A FORWARD -j KUBE-ROUTER-FORWARD\n"
        "-A KUBE-ROUTER-FORWARD -d 10.244.1.2/32 -j KUBE-POD-FW-AAAA\n-A KUBE-POD-FW-AAAA -j REJECT\n",
        ("node2",),
    )


@oddity()
def docker_with_its_raw_table(bundle):
    rule = "-A PREROUTING -d 172.17.0.2/32 ! -i docker0 -j DROP"
    for node in bundle["nodes"].values():
        raw = f"*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n{rule}\nCOMMIT\n"
        node["iptables"]["nft"] = raw + node["iptables"]["nft"]
        node.pop("nft")


@oddity()
def input_closed_but_for_the_cluster(bundle):
    for name in bundle["nodes"]:
        rules(bundle, name, "*filter\n:INPUT ACCEPT", "*filter\n:INPUT DROP")
    in_front(
        bundle,
        "-A INPUT -i lo -j ACCEPT\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
        "-A INPUT -i cni0 -j ACCEPT\n"
        "-A INPUT -s 192.168.10.0/24 -j ACCEPT\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n",
    )


@oddity()
def the_api_server_closed_to_strangers(bundle):
    in_front(bundle, "-A INPUT ! -s 192.168.10.0/24 -i eth0 -p tcp -m tcp --dport 6443 -j DROP\n", ("node1",))


@oddity()
def martians_dropped_at_the_door(bundle):
    in_front(
        bundle,
        "-A FORWARD -s 127.0.0.0/8 -j DROP\n-A FORWARD -s 224.0.0.0/4 -j DROP\n"
        "-A FORWARD -m conntrack --ctstate INVALID -j DROP\n",
    )


@pytest.mark.parametrize("name", oddity.changes)
def test_a_healthy_oddity_is_no_fault(name):
    errors, warnings = oddity.judged(name)
    assert errors == []
    assert len(warnings) <= 1, warnings
