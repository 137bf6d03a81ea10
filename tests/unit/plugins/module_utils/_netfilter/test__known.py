# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is known of a packet beside its header, and what is not; each case was held against the kernel by the fuzz."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, Ruleset, walk

PACKET = {"in": "cni0", "out": "flannel.1", "source": "10.244.1.5", "destination": "10.244.2.7"}
LINKS = [
    {"ifname": "cni0", "link_type": "ether", "group": "default", "linkinfo": {"info_kind": "bridge"}, "addr_info": []},
    {"ifname": "veth1", "master": "cni0", "addr_info": []},
    {"ifname": "flannel.1", "link_type": "ether", "group": "7", "linkinfo": {"info_kind": "vxlan"}, "addr_info": []},
]
SWITCHES = {"net.bridge.bridge-nf-call-iptables": "1"}
DROP, ACCEPT = {"drop": None}, {"accept": None}


def judge(save: str = "", nft: list[Any] | None = None, legacy: str = "", **packet: Any) -> str:
    node = {"iptables": {"nft": save, "legacy": legacy}, "nft": {"nftables": nft or []}, "ip_address": LINKS,
            "sysctl": SWITCHES}  # fmt: skip
    return walk(Ruleset.from_evidence(node), {**PACKET, **packet}, FORWARD).verdict


def filters(*rules: str, policy: str = "ACCEPT") -> str:
    return "\n".join(["*filter", f":FORWARD {policy} [0:0]", *(f"-A FORWARD {one}" for one in rules), "COMMIT", ""])


def chain(*expressions: list[Any], hook: str = "forward", prio: int = 0, **more: Any) -> list[Any]:
    place = {"family": "inet", "table": "t"}
    rules = [{"rule": {**place, "chain": hook, "expr": one}} for one in expressions]
    return [{"chain": {**place, "name": hook, "type": "filter", "hook": hook, "prio": prio, **more}}, *rules]


def is_(kind: str, body: Any, right: Any, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": {kind: body}, "right": right}}


@pytest.mark.parametrize(("match", "packet", "expected"), [
    # No packet of these is under IPsec.
    ("-m policy --dir in --pol ipsec", {}, "accept"),
    ("-m policy --dir in --pol none", {}, "drop"),
    ("-m devgroup --src-group default", {}, "drop"),
    ("-m devgroup --dst-group 0x7", {}, "drop"),
    ("-m devgroup ! --dst-group 0x7", {}, "accept"),
    ("-m conntrack --ctorigsrc 10.244.1.0/24", {}, "drop"),
    ("-m conntrack ! --ctorigsrc 10.244.1.0/24", {}, "accept"),
    ("-m conntrack --ctorigsrcport 1:1023", {}, "accept"),
    ("-m conntrack --ctorigsrcport 1:1023", {"protocol": "icmp"}, "undetermined"),
    ("-m conntrack --ctorigdstport 2048", {"protocol": "icmp"}, "undetermined"),
    ("-m conntrack --ctorigsrc 10.244.1.5", {"state": "established"}, "undetermined"),
    ("-m conntrack --ctorigsrc 10.244.1.5", {"state": "established", "direction": "original"}, "drop"),
    # What came by a bridge and leaves by no port of one fulfils no test of that port, negated or not.
    ("-m physdev --physdev-out veth1", {}, "accept"),
    ("-m physdev ! --physdev-out veth1", {}, "accept"),
    ("-m physdev ! --physdev-out veth1", {"in": "flannel.1", "out": "cni0"}, "drop"),
    ("-m physdev ! --physdev-in veth1", {}, "accept"),
])  # fmt: skip
def test_iptables(match: str, packet: dict[str, Any], expected: str) -> None:
    assert judge(filters(f"{match} -j DROP"), **packet) == expected


@pytest.mark.parametrize(("expression", "packet", "expected"), [
    ([is_("meta", {"key": "ipsec"}, True)], {}, "accept"),
    ([is_("meta", {"key": "ipsec"}, False)], {}, "drop"),
    ([is_("meta", {"key": "iiftype"}, "ether")], {}, "drop"),
    ([is_("meta", {"key": "iiftype"}, "loopback", "!=")], {}, "drop"),
    ([is_("meta", {"key": "skuid"}, 0, "!=")], {}, "accept"),
    ([is_("payload", {"protocol": "ip", "field": "hdrlength"}, 5)], {}, "drop"),
    ([is_("exthdr", {"name": "hbh", "field": "nexthdr"}, "tcp")], {}, "accept"),
    ([is_("payload", {"protocol": "icmp", "field": "code"}, "net-unreachable")], {"protocol": "icmp"}, "drop"),
    ([is_("payload", {"protocol": "icmp", "field": "code"}, "host-unreachable", "!=")], {"protocol": "icmp"}, "drop"),
    # nft 1.0 writes a port so where it does not see of which protocol.
    ([is_("ct", {"key": "proto-dst", "dir": "original"}, "0x50 [invalid type]")], {}, "drop"),
    ([is_("ct", {"key": "proto-src", "dir": "original"}, {"range": [1, 1023]})], {}, "accept"),
    ([is_("ct", {"key": "ip saddr", "dir": "original"}, "10.244.1.5")], {}, "drop"),
    ([is_("ct", {"key": "protocol"}, "tcp")], {}, "drop"),
    ([{"mangle": {"key": {"payload": {"protocol": "ip", "field": "ttl"}}, "value": 64}}], {}, "drop"),
    ([{"mangle": {"key": {"meta": {"key": "pkttype"}}, "value": "host"}}], {}, "drop"),
])  # fmt: skip
def test_nft(expression: list[Any], packet: dict[str, Any], expected: str) -> None:
    assert judge(nft=chain([*expression, DROP]), **packet) == expected


def test_stripping_an_option_ends_no_packet() -> None:
    reset = {"reset": {"tcp option": {"name": "sack-perm"}}}
    assert judge(nft=chain([reset, ACCEPT])) == "accept"
    assert judge(nft=chain([reset, DROP])) == "undetermined"


@pytest.mark.parametrize(("hook", "expected"), [("prerouting", "accept"), ("forward", "undetermined")])
def test_a_destination_that_is_rewritten_after_routing_goes_another_way(hook: str, expected: str) -> None:
    routes = [{"dst": "10.244.0.0/16", "dev": "flannel.1"}]
    change = {"mangle": {"key": {"payload": {"protocol": "ip", "field": "daddr"}}, "value": "10.244.3.3"}}
    node = {"iptables": {"nft": "", "legacy": ""}, "nft": {"nftables": chain([change], hook=hook)},
            "ip_address": LINKS, "ip_route": routes, "ip_rule": []}  # fmt: skip
    assert walk(Ruleset.from_evidence(node), PACKET, FORWARD).verdict == expected


@pytest.mark.parametrize(("link", "expected"), [("cni0", "undetermined"), ("flannel.1", "accept")])
def test_a_bridge_receives_what_was_at_prerouting_already(link: str, expected: str) -> None:
    ingress = chain([is_("ct", {"key": "mark"}, 0), DROP], hook="ingress", dev=link)
    assert judge(nft=ingress, **{"in": link, "out": "eth0"}) == expected
    assert judge(nft=chain([DROP], hook="ingress", dev="flannel.1"), **{"in": "flannel.1"}) == "drop"


def test_the_order_of_a_table_without_rules_is_of_no_matter() -> None:
    marks = "*mangle\n:PREROUTING ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n{}COMMIT\n"
    rule = "-A PREROUTING -m recent --name r --rcheck -j MARK --set-xmark 0x1/0xffffffff\n"
    text = marks.format(rule) + filters("-m mark --mark 0x1 -j ACCEPT")
    node = {"iptables": {"nft": text, "legacy": marks.format("")}, "nft": {"nftables": []}}
    verdict = walk(Ruleset.from_evidence(node), PACKET, FORWARD)
    assert verdict.verdict == "accept"
    assert "same priority" not in str(verdict.trail)


@pytest.mark.parametrize(("raw", "state", "expected"), [
    # Before connection tracking a packet is invalid, unless a rule has given it a template of a connection.
    ("", "new", "drop"),
    ("-A PREROUTING -j CT --zone 3", "new", "accept"),
    ("-A PREROUTING -j CT --ctevents new", "new", "accept"),
    ("-A PREROUTING -j CT --ctevents new", "invalid", "accept"),
    ("-A PREROUTING -j CT --notrack\n-A PREROUTING -j CT --zone 3", "new", "accept"),
])  # fmt: skip
def test_a_template_of_a_connection_is_new(raw: str, state: str, expected: str) -> None:
    text = f"*raw\n:PREROUTING ACCEPT [0:0]\n{raw}\n-A PREROUTING -m conntrack --ctstate INVALID -j DROP\nCOMMIT\n"
    assert judge(text, state=state) == expected
    closed = filters("-m conntrack --ctstate INVALID -j DROP")
    if expected == "accept":
        assert judge(text + closed, state=state) == ("drop" if state == "invalid" else "accept")


def test_a_zone_that_is_set_late_makes_what_is_not_tracked_new() -> None:
    zone = {"mangle": {"key": {"ct": {"key": "zone"}}, "value": 3}}
    new = is_("ct", {"key": "state"}, "new", "in")
    late = chain([zone], [new, ACCEPT], hook="postrouting", prio=10, policy="drop")
    assert judge(nft=late, state="invalid") == "accept"
    assert judge(nft=late, state="established") == "drop"
