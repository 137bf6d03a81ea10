# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from traces import judged, last, recorded

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace_reason import NOTHING_FOUND
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace_tell import report


@pytest.mark.parametrize(
    "name, where, reason",
    [
        ("reject", "there, n1 bridge", "drops it at the forward hook: -A FORWARD -j REJECT"),
        ("drop2", "there, n2 tunnel", "drops it at the forward hook: -A FORWARD -j DROP"),
        ("vxlan", "there, n2 nic", "a rule of n2 drops it at the input hook: -A INPUT -p udp -m udp --dport 8472"),
        ("vxlanback", "back, n1 nic", "a rule of n1 drops it at the input hook: -A INPUT -p udp -m udp --dport 8472"),
        ("fdb", "there, n1 tunnel", "flannel.1 of n1 has no FDB entry for"),
        ("neigh", "there, n1 bridge", "neighbour entry of 10.244.1.0 on flannel.1 of n1 is missing"),
        (
            "route",
            "there, n1 bridge",
            "n1 has no route to 10.244.1.3 (10.244.1.0/24, n2) by flannel.1; it left by eth0",
        ),
        ("forward", "there, n1 bridge", "net.ipv4.ip_forward of n1 is 0"),
        ("forward2", "there, n2 tunnel", "net.ipv4.ip_forward of n2 is 0"),
        ("nftother", "there, n1 bridge", "drops it at the forward hook: (policy drop) (table inet x, chain f)"),
        ("fdbwrong", "there, n1 tunnel", "to 10.211.3.99; the lease of n2 says 10.211.3.12"),
        (
            "untranslated",
            "there, n1 bridge",
            "n1 did not translate the service's address 10.107.41.253: see kube-proxy",
        ),
        ("podsilent", "back, n2 pod", "it came to pod shop/web, which sent nothing back"),
        ("hostgwroute", "there, n1 nic", "n1 sent it to 10.211.3.1; the lease of n2 says 10.211.3.12"),
        (
            "rpfilter",
            "there, n2 tunnel",
            "rp_filter of n2 is strict and 10.244.0.6 is routed by eth0, not flannel.1; it counted 3 such packets",
        ),
    ],
)
def test_a_fault_is_told_with_its_hop(name: str, where: str, reason: str) -> None:
    found, why = judged(recorded(name))
    assert last(found) == where
    assert reason in " ".join(why)
    assert found.answered is False


def test_a_gateway_that_is_another_than_the_lease_says() -> None:
    """As it was seen with a gateway that nobody is: nothing leaves the host, for nobody answers to ARP."""
    one = recorded("hostgw")
    one["seen"]["n1"]["packets"] = [
        packet
        for packet in one["seen"]["n1"]["packets"]
        if packet["source"] == "10.244.0.6" and packet["link"] != "eth0"
    ]
    one["seen"]["n2"]["packets"] = []
    for route in one["nodes"]["n1"]["ip_route"]:
        if route["dst"] == "10.244.1.0/24":
            route["gateway"] = "10.211.3.99"
    found, why = judged({**one, "client": {"outcome": "no answer", "ms": 3000.0}})
    assert last(found) == "there, n1 bridge"
    assert why == ["n1 sends 10.244.1.0/24 to 10.211.3.99; the lease of n2 says 10.211.3.12"]


def test_a_node_that_cannot_send() -> None:
    one = recorded("fromnode")
    one["seen"] = {host: {"packets": [], "drops": {}} for host in one["seen"]}
    one["plan"]["tunnel"] = "flannel.1"
    one["plan"]["source"]["address"], one["plan"]["ends"] = "10.211.3.11", recorded("healthy")["plan"]["ends"]
    route = recorded("route")["nodes"]["n1"]
    one["nodes"] = {host: {**node, **route} for host, node in recorded("healthy")["nodes"].items()}
    found, why = judged({**one, "client": {"outcome": "no answer", "ms": 3000.0}})
    assert "It was seen nowhere:" in report(found, why)
    assert "n1 has no route to 10.244.1.3 (10.244.1.0/24, n2) by flannel.1; it goes by eth0 instead" in why


def test_an_answer_that_the_pod_does_not_take() -> None:
    found, why = judged({**recorded("healthy"), "client": {"outcome": "no answer", "ms": 3000.0}})
    assert why == ["its answer came back to pod shop/client, which did not take it: see the rules in the pod"]
    assert not found.answered


def test_without_the_fault_in_the_evidence_no_reason_is_made_up() -> None:
    """What was lost, judged with the evidence of hosts on which nothing is wrong."""
    for name in ("fdb", "forward", "route", "vxlan", "drop2"):
        one = recorded(name)
        healthy = recorded("healthy")
        for answer in one["seen"].values():
            answer["drops"] = {}
        found, why = judged({**one, "nodes": healthy["nodes"]})
        assert found.way == "there" and why == [NOTHING_FOUND], name


def test_a_refusal_by_a_rule_is_not_the_answer_of_the_pod() -> None:
    found, why = judged(recorded("reject"))
    assert found.outcome == "refused" and not found.answered
    assert why[0] == "n1 (10.244.0.1 on cni0) answered with ICMP: port unreachable"


def test_what_is_lost_between_the_hosts() -> None:
    one = recorded("vxlan")
    one["seen"]["n2"]["packets"] = []
    found, why = judged(one)
    assert last(found) == "there, n1 nic"
    assert "what lies between them drops UDP port 8472" in why[0]


def test_what_is_sent_to_a_wrong_host() -> None:
    one = recorded("vxlan")
    one["seen"]["n2"]["packets"] = []
    for packet in one["seen"]["n1"]["packets"]:
        if "outer_destination" in packet:
            packet["outer_destination"] = "192.0.2.99"
    _found, why = judged(one)
    assert "n1 sent it to 192.0.2.99; the lease of n2 says 10.211.3.12" in why


def test_an_answer_that_is_lost_on_its_way_to_the_wire() -> None:
    one = recorded("healthy")
    start = one["plan"]["source"]["address"]
    for host, answer in one["seen"].items():
        answer["packets"] = [
            packet
            for packet in answer["packets"]
            if packet["source"] == start
            or (host == "n2" and packet["link"] not in ("eth0", "flannel.1"))
            or (packet["place"] != "host" and host == "n2")
        ]
    one["nodes"]["n2"]["sysctl"]["net.ipv4.ip_forward"] = "0"
    found, why = judged({**one, "client": {"outcome": "no answer", "ms": 3000.0}})
    assert last(found) == "back, n2 bridge"
    assert why[0] == "net.ipv4.ip_forward of n2 is 0: it forwards nothing"


def test_an_answer_that_does_not_come_from_a_host_that_is_not_watched() -> None:
    one = recorded("vxlan")
    del one["seen"]["n2"], one["nodes"]["n2"]
    one["plan"]["ends"][0]["host"] = ""
    found, why = judged(one)
    assert last(found) == "back, n1 nic"
    assert why[0].startswith("nothing came back from there, and host n2 was not watched")


def test_nothing_was_sent() -> None:
    one = recorded("healthy")
    one["seen"] = {host: {"packets": [], "drops": {}} for host in one["seen"]}
    found, why = judged({**one, "client": {"outcome": "network is unreachable", "ms": 0.1}})
    assert why == ["the pod sent nothing: the kernel said 'network is unreachable'; see the routes in the pod"]
    assert "It was seen nowhere:" in report(found, why)
