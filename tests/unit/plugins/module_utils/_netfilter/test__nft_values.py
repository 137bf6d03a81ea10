# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import SIX, at, number, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._nft_values import constant, expression
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import (
    ABSENT,
    UNKNOWN,
    Choice,
    Unsupported,
)

UDP, ICMP = {"protocol": "udp", "destination_port": 53}, {"protocol": "icmp"}
LINKS = {
    "ip_address": [
        {"ifname": "cni0", "group": "default", "link_type": "ether", "linkinfo": {"info_kind": "bridge"}},
        {"ifname": "eth0", "group": "7", "link_type": "ether", "addr_info": [{"local": "192.0.2.5"}]},
    ],
    "ip_route": [{"dst": "default", "dev": "eth0"}, {"dst": "10.244.1.0/24", "dev": "cni0"}],
    "ip_rule": [],
}


def meta(key: str) -> dict[str, Any]:
    return {"meta": {"key": key}}


def field(protocol: str, name: str) -> dict[str, Any]:
    return {"payload": {"protocol": protocol, "field": name}}


def ct(key: str, direction: str = "") -> dict[str, Any]:
    return {"ct": {"key": key, **({"dir": direction} if direction else {})}}


@pytest.mark.parametrize(
    ("tree", "packet", "value"),
    [
        (meta("iifname"), {}, "cni0"),
        (meta("oif"), {}, "flannel.1"),
        (meta("mark"), {"mark": 7}, 7),
        (meta("l4proto"), UDP, 17),
        (meta("nfproto"), {}, 2),
        (meta("nfproto"), SIX, 10),
        (meta("protocol"), SIX, 0x86DD),
        (meta("pkttype"), {}, "host"),
        (meta("skuid"), {}, ABSENT),
        (meta("ipsec"), {}, False),
        (meta("iifgroup"), {}, 0),
        (meta("oifgroup"), {"out": "eth0"}, 7),
        (meta("iiftype"), {}, "ether"),
        (meta("rtclassid"), {}, UNKNOWN),
        ({"meta": "mark"}, {"mark": 7}, 7),
        (field("ip", "saddr"), {}, number("10.244.1.5")),
        (field("ip", "saddr"), SIX, ABSENT),
        (field("ip6", "daddr"), SIX, number("fd42:0:0:1::7")),
        (field("ip", "ttl"), {}, UNKNOWN),
        (field("ip", "ttl"), SIX, ABSENT),
        (field("ip", "version"), {}, 4),
        (field("tcp", "dport"), {}, 80),
        (field("tcp", "dport"), UDP, ABSENT),
        (field("th", "dport"), UDP, 53),
        (field("th", "dport"), ICMP, UNKNOWN),
        (field("tcp", "flags"), {}, 2),
        (field("tcp", "window"), {}, UNKNOWN),
        (field("udp", "length"), {}, ABSENT),
        (field("icmp", "type"), ICMP, 8),
        (field("icmp", "type"), {}, ABSENT),
        (field("icmpv6", "id"), ICMP, ABSENT),
        (field("ether", "saddr"), {}, UNKNOWN),
        (ct("state"), {}, 8),
        (ct("mark"), {"connmark": 7}, 7),
        (ct("direction"), {}, 0),
        (ct("status"), {}, 0),
        (ct("protocol"), UDP, 17),
        (ct("proto-dst", "original"), {}, 80),
        (ct("ip daddr", "original"), {}, number("10.244.2.7")),
        (ct("ip6 daddr", "original"), {}, ABSENT),
        (ct("bytes"), {}, UNKNOWN),
        ({"fib": {"result": "type", "flags": ["daddr"]}}, {"destination": "192.0.2.5"}, "local"),
        ({"fib": {"result": "type", "flags": ["daddr", "iif"]}}, {"destination": "192.0.2.5"}, UNKNOWN),
        ({"fib": {"result": "oif", "flags": ["saddr"]}}, {}, "cni0"),
        ({"fib": {"result": "oifname", "flags": "daddr"}}, {}, "eth0"),
        ({"fib": {"result": "oif", "flags": ["daddr", "oif"]}}, {}, UNKNOWN),
        ({"jhash": {"mod": 2, "expr": field("ip", "saddr")}}, {}, UNKNOWN),
        ({"jhash": {"mod": 2, "expr": field("ip6", "saddr")}}, {}, ABSENT),
        ({"numgen": {"mode": "random", "mod": 0}}, {}, UNKNOWN),
        ({"exthdr": {"name": "rt", "field": "type"}}, SIX, ABSENT),
        ({"exthdr": {"name": "frag"}}, SIX, False),
        ({"exthdr": {"name": "frag"}}, {}, ABSENT),
        ({"tcp option": {"name": "maxseg", "field": "size"}}, {}, UNKNOWN),
        ({"tcp option": {"name": "maxseg", "field": "size"}}, UDP, ABSENT),
        ({"&": [meta("mark"), 0xF]}, {"mark": 0x17}, 7),
        ({"|": [meta("mark"), 0x8]}, {"mark": 0x17}, 0x1F),
        ({"^": [meta("mark"), 0x7]}, {"mark": 0x17}, 0x10),
        ({"<<": [meta("mark"), 28]}, {"mark": 0x17}, 0x70000000),
        ({">>": [meta("mark"), 4]}, {"mark": 0x17}, 1),
        ({"&": [field("tcp", "dport"), 1]}, UDP, ABSENT),
        ({"&": [field("th", "dport"), 1]}, ICMP, UNKNOWN),
        ({"&": [field("ip", "frag-off"), 0x1FFF]}, {}, 0),  # no fragment
        ({"&": [field("ip", "frag-off"), 0x4000]}, {}, UNKNOWN),
        ({"concat": [field("ip", "saddr"), field("tcp", "dport")]}, {}, (number("10.244.1.5"), 80)),
        ({"concat": [field("ip", "saddr"), field("tcp", "dport")]}, UDP, ABSENT),
        ({"future": {}}, {}, UNKNOWN),
    ],
)
def test_what_an_expression_reads(tree: Any, packet: dict[str, Any], value: Any) -> None:
    getter, _kind = expression(tree)
    assert getter(state(**packet), at(**LINKS)) == value


@pytest.mark.parametrize("tracking", ["none", "untracked"])
def test_without_a_connection_its_keys_are_absent(tracking: str) -> None:
    packet = state({"tracking": tracking})
    assert expression(ct("mark"))[0](packet, at()) is ABSENT and expression(ct("bytes"))[0](packet, at()) is ABSENT
    assert expression(ct("state"))[0](packet, at()) in (1, 64)
    assert expression(ct("mark"))[0](state({"tracking": "template"}), at()) is UNKNOWN


def test_one_of_several_numbers_is_a_choice() -> None:
    found = expression({"numgen": {"mode": "inc", "mod": 3, "offset": 5}})[0](state(), at())
    assert isinstance(found, Choice) and found.values == [5, 6, 7]


@pytest.mark.parametrize(
    ("hook", "packet", "value"),
    [
        ("prerouting", {}, ABSENT),
        ("output", {}, UNKNOWN),
        ("postrouting", {}, ABSENT),
        ("postrouting", {"in": ""}, UNKNOWN),
    ],
)
def test_a_packet_of_the_host_itself_has_a_socket(hook: str, packet: dict[str, Any], value: Any) -> None:
    assert expression(meta("skuid"))[0](state(**packet), at(hook)) is value


def test_before_routing_there_is_no_outgoing_device() -> None:
    assert expression(meta("oifgroup"))[0](state(), at("prerouting", **LINKS)) is ABSENT


@pytest.mark.parametrize("tree", [None, 7, "x", [], {}, {"meta": {}, "ct": {}}])
def test_what_is_no_expression_is_unsupported(tree: Any) -> None:
    with pytest.raises(Unsupported):
        expression(tree)


@pytest.mark.parametrize(
    ("tree", "kind", "value"),
    [
        ("10.244.1.5", "address", number("10.244.1.5")),
        ("fd42::5", "address", number("fd42::5")),
        (80, "port", 80),
        ("http", "port", 80),
        ("0x50", "port", 80),
        ("80 [invalid type]", "port", 80),
        ("udp", "protocol", 17),
        ("new", "ctstate", 8),
        (["established", "related"], "ctstate", 6),
        ({"|": ["syn", "ack"]}, "tcpflags", 18),
        ({"elem": {"val": "syn"}}, "tcpflags", 2),
        ("echo-request", "icmp", 8),
        ("nd-neighbor-solicit", "icmpv6", 135),
        ("ipv6", "nfproto", 10),
        ("default", "group", 0),
        ("0x10", "mark", 16),
        (7, "name", "7"),
        ("local", "word", "local"),
    ],
)
def test_constants_as_they_are_written_for_a_kind(tree: Any, kind: Any, value: Any) -> None:
    assert constant(tree, kind) == value


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        ("x", "mark"),
        ("pods", "address"),
        (True, "mark"),
        (7, "opaque"),
        ({"range": [1, 2]}, "port"),
        ("new", "tcpflags"),
    ],
)
def test_a_constant_that_cannot_be_read_is_unsupported(tree: Any, kind: Any) -> None:
    with pytest.raises(Unsupported):
        constant(tree, kind)
