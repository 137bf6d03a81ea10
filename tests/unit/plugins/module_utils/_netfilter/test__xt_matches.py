# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shlex
from typing import Any

import pytest
from moments import SIX, at, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _xt_matches
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN, Unsupported


def options(text: str) -> list[tuple[bool, str, list[str]]]:
    """`! --dport 80 --syn` as the reader of a rule gives it."""
    found: list[tuple[bool, str, list[str]]] = []
    negated = False
    for word in shlex.split(text):
        if word == "!":
            negated = True
        elif word.startswith("--"):
            found.append((negated, word, []))
            negated = False
        else:
            found[-1][2].append(word)
    return found


@pytest.mark.parametrize(
    ("option", "value", "packet", "answer"),
    [
        ("-s", "10.244.0.0/16", {}, True),
        ("--source", "10.245.0.0/16", {}, False),
        ("-d", "10.244.2.7", {}, True),
        ("-i", "cni+", {}, True),
        ("-i", "eth0", {}, False),
        ("-i", "eth0", {"in": ""}, None),
        ("-o", "flannel.1", {}, True),
        ("-p", "tcp", {}, True),
        ("-p", "17", {}, False),
        ("-f", "", {}, False),
    ],
)
def test_what_each_rule_may_ask(option: str, value: str, packet: dict[str, Any], answer: Any) -> None:
    match = _xt_matches.GENERIC[option]([value], 4)
    assert match is not None and match(state(**packet), at()) is answer


def test_all_protocols_are_no_question() -> None:
    assert _xt_matches.GENERIC["-p"](["all"], 4) is None and _xt_matches.GENERIC["-p"](["0"], 4) is None


UDP, ICMP = {"protocol": "udp", "destination_port": 53}, {"protocol": "icmp"}
DEVICES = {"ip_address": [{"ifname": "cni0", "group": "default"}, {"ifname": "flannel.1", "group": "7"}]}


@pytest.mark.parametrize(
    ("module", "text", "packet", "answer"),
    [
        ("comment", "--comment x", {}, "none"),
        ("tcp", "", {}, "none"),
        ("tcp", "--dport 80", {}, True),
        ("tcp", "--dport 79:81 --sport 40000", {}, True),
        ("tcp", "! --dport 80", {}, False),
        ("tcp", "--syn", {}, True),
        ("tcp", "--syn", {"tcp_flags": "syn,ack"}, False),
        ("tcp", "--tcp-flags FIN,SYN,RST,ACK SYN", {}, True),
        ("tcp", "--tcp-flags ALL NONE", {}, False),
        ("tcp", "--tcp-flags ALL SYN", {"tcp_flags": "syn,ack"}, False),
        ("tcp", "--tcp-flags ACK NONE", {}, True),
        ("tcp", "--syn", {"state": "established"}, None),
        ("udp", "--dport 53", UDP, True),
        ("udp", "--dport 53", ICMP, False),
        ("multiport", "--dports 22,79:81", {}, True),
        ("multiport", "! --dports 22,79:81", {}, False),
        ("multiport", "--sports 22,40000", {}, True),
        ("multiport", "--ports 40000", {}, True),
        ("multiport", "! --ports 1", ICMP, False),
        ("icmp", "--icmp-type 8", ICMP, True),
        ("icmp", "--icmp-type echo-request", ICMP, True),
        ("icmp", "--icmp-type any", ICMP, True),
        ("icmp", "--icmp-type 3/4", {**ICMP, "icmp_type": 3, "icmp_code": 4}, True),
        ("icmp", "--icmp-type 3/1", {**ICMP, "icmp_type": 3, "icmp_code": 4}, False),
        ("icmp", "! --icmp-type 8", ICMP, False),
        ("icmp", "--icmp-type any", {}, False),
        ("conntrack", "--ctstate NEW", {}, True),
        ("state", "--state ESTABLISHED", {}, False),
        ("mark", "--mark 0x4000/0x4000", {"mark": 0x4000}, True),
        ("connmark", "! --mark 1", {}, True),
        ("iprange", "--src-range 10.244.1.4-10.244.1.6", {}, True),
        ("iprange", "! --src-range 10.244.1.4-10.244.1.6", {}, False),
        ("iprange", "--dst-range 10.244.2.8-10.244.2.9", {}, False),
        ("physdev", "--physdev-is-in", {"physdev_in": "veth1"}, True),
        ("pkttype", "--pkt-type unicast", {}, True),
        ("pkttype", "! --pkt-type multicast", {}, True),
        ("pkttype", "--pkt-type broadcast", {}, False),
        ("owner", "--uid-owner 0", {}, False),
        ("owner", "! --uid-owner 0", {}, True),  # a forwarded packet has no socket
        ("owner", "--uid-owner 0", {"in": ""}, None),
        ("addrtype", "--dst-type LOCAL", {"destination": "127.0.0.1"}, True),
        ("addrtype", "! --dst-type LOCAL --limit-iface-in", {}, True),
        ("rpfilter", "", {"in": "new0"}, True),
        ("rpfilter", "--invert", {"in": "new0"}, False),
        ("policy", "--dir in --pol none", {}, True),
        ("policy", "--dir in --pol ipsec", {}, False),
        ("devgroup", "--src-group 0", {}, True),
        ("devgroup", "--src-group default", {}, True),
        ("devgroup", "--dst-group 0x7/0x3", {}, False),
        ("devgroup", "--dst-group 0x3/0x3", {}, True),
        ("devgroup", "--dst-group 1", {"out": "eth9"}, None),
    ],
)
def test_matches(module: str, text: str, packet: dict[str, Any], answer: Any) -> None:
    match = _xt_matches.build(module, options(text), 4)
    if answer == "none":
        assert match is None
    else:
        assert match is not None and match(state(**packet), at(**DEVICES)) is answer


@pytest.mark.parametrize(
    ("module", "text", "answer"),
    [
        ("icmp6", "--icmpv6-type echo-request", True),
        ("ipv6-icmp", "--icmpv6-type 129", False),
        ("icmp6", "--icmpv6-type 255", False),  # in IPv6 a type like others
        ("rt", "! --rt-type 0", False),
        ("frag", "", False),
    ],
)
def test_matches_of_ipv6(module: str, text: str, answer: bool) -> None:
    match = _xt_matches.build(module, options(text), 6)
    assert match is not None and match(state(**SIX, protocol="icmp"), at()) is answer


def test_owner_is_asked_on_the_way_out_of_the_host() -> None:
    match = _xt_matches.build("owner", options("--uid-owner 0"), 4)
    assert match is not None and match(state(), at("output")) is None
    assert match(state({"iif": UNKNOWN}), at("postrouting")) is None


def test_there_is_no_incoming_device_where_the_host_sends() -> None:
    match = _xt_matches.build("devgroup", options("--src-group 0"), 4)
    assert match is not None and match(state(), at("output", **DEVICES)) is False


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("limit", "--limit 3/min"), ("set", "--match-set x src"), ("statistic", "--mode random"), ("u32", "--u32 x"),
        ("tcp", "--tcp-option 3"), ("tcp", "--dport no-such-port"), ("multiport", "--fports 1"),
        ("icmp", "--icmp-type x"), ("icmp", "--code 3"), ("addrtype", "--type x"), ("rpfilter", "--strange"),
        ("iprange", "--range 1-2"),
        ("iprange", "--src-range a-b"), ("devgroup", "--any 1"), ("mark", "--set 1"),
    ],
)  # fmt: skip
def test_what_the_rules_alone_do_not_tell_is_unsupported(module: str, text: str) -> None:
    with pytest.raises(Unsupported):
        _xt_matches.build(module, options(text), 4)
