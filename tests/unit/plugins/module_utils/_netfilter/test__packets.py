# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which packets are asked about, from what a node says of itself."""

from __future__ import annotations

import ipaddress
from itertools import islice
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, Ruleset, standard_packets, walk

CIDR = "10.244.0.0/16"
LOCAL = ["10.244.1.0/24"]
ROUTES = [
    {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"},
    {"dst": "10.244.1.0/24", "dev": "cni0"},
    *({"dst": f"10.244.{number}.0/24", "gateway": f"10.244.{number}.0", "dev": "flannel.1"} for number in (0, 2, 3, 4)),
    {"dst": "10.244.9.0/24", "type": "blackhole"},
    {"dst": "10.96.0.0/16", "dev": "eth0"},
]
DROP = "-A FORWARD {} -j DROP"


def node(rule: str = "") -> dict[str, Any]:
    text = f"*filter\n:FORWARD ACCEPT [0:0]\n{rule}\nCOMMIT\n"
    return {"iptables": {"nft": text, "legacy": ""}, "nft": {"nftables": []}, "ip_route": ROUTES, "ip_rule": []}


def dropped(rule: str, peers: int = 3) -> list[str]:
    evidence = node(DROP.format(rule))
    rules = Ruleset.from_evidence(evidence)
    packets = standard_packets(evidence, CIDR, LOCAL, rules.facts, peers)
    return [name for name, packet, hooks in packets if walk(rules, packet, hooks).verdict == "drop"]


@pytest.mark.parametrize(("rule", "name"), [
    ("-p udp -m udp --dport 53", "pod to pod on another node, DNS"),
    ("-p udp -m udp --dport 53", "pod to outside, DNS"),
    ("-p udp ! --dport 53", "pod from pod on another node, UDP 30001"),
    ("-p icmp", "pod from pod on another node, ICMP echo"),
    ("-p tcp -m tcp --dport 1024:65535", "pod to pod on another node, TCP 30001"),
])  # fmt: skip
def test_what_is_not_tcp_to_port_80_is_seen(rule: str, name: str) -> None:
    found = dropped(rule)
    assert name in found
    assert "pod to pod on another node" not in found


@pytest.mark.parametrize("peer", [0, 2, 3, 4])
@pytest.mark.parametrize("end", ["-s", "-d"])
def test_a_rule_against_the_pods_of_one_node_is_seen(peer: int, end: str) -> None:
    assert dropped(f"{end} 10.244.{peer}.0/24", peers=4)


@pytest.mark.parametrize(("wide", "count"), [("10.244.0.0/16", 100), ("10.240.0.0/12", 4000)])
def test_of_many_nodes_some_are_asked_about_spread_over_all(wide: str, count: int) -> None:
    parts = [str(one) for one in islice(ipaddress.ip_network(wide).subnets(new_prefix=24), count)]
    routes = [{"dst": part, "dev": "flannel.1" if part != parts[1] else "cni0"} for part in parts]
    packets = standard_packets({"ip_route": routes, "ip_rule": []}, wide, [parts[1]], peers=4)
    ends = {packet["destination"] for _name, packet, hooks in packets if packet.get("out") == "flannel.1"}
    assert len(ends) == 4
    asked = sorted(parts.index(f"{end.rpartition('.')[0]}.0/24") for end in ends)
    assert asked[0] == 0 and asked[3] >= count * 3 // 4 - 1


def test_before_there_are_routes_both_ends_of_the_range_are_asked_about() -> None:
    packets = standard_packets({}, CIDR)
    sources = {packet["source"] for _name, packet, hooks in packets if hooks == FORWARD}
    assert {"10.244.0.5", "10.244.1.2", "10.244.255.2"} <= sources
    assert len({name for name, _packet, _hooks in packets}) == len(packets)
