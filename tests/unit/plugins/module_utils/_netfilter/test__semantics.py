# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people and tools get wrong about netfilter, one case each; all of it is held against the kernel by the fuzz."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import (
    FORWARD,
    Ruleset,
    standard_packets,
    walk,
)

PACKET = {"in": "cni0", "out": "flannel.1", "source": "10.244.1.5", "destination": "10.244.2.7"}
TABLES = {
    "raw": ("PREROUTING", "OUTPUT"),
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"),
    "filter": ("INPUT", "FORWARD", "OUTPUT"),
}


def save(**tables: str) -> str:
    """iptables-save of tables, given as rules divided by `;`; `:C` declares a chain, `P HOOK DROP` sets a policy."""
    lines = []
    for table, text in tables.items():
        words = [one.strip() for one in text.split(";") if one.strip()]
        policies = {one.split()[1]: one.split()[2] for one in words if one.startswith("P ")}
        lines += [f"*{table}", *(f":{hook} {policies.get(hook, 'ACCEPT')} [0:0]" for hook in TABLES[table])]
        lines += [f"{one} - [0:0]" for one in words if one.startswith(":")]
        lines += [f"[0:0] -A {one}" for one in words if not one.startswith((":", "P "))] + ["COMMIT"]
    return "\n".join(lines) + "\n"


def judge(text: str = "", nft: list[Any] | None = None, packet: dict[str, Any] | None = None, **node: Any) -> Any:
    evidence = {"iptables": {"nft": text, "legacy": ""}, "nft": {"nftables": nft or []}, **node}
    return walk(Ruleset.from_evidence(evidence), {**PACKET, **(packet or {})}, FORWARD)


def chain(name: str, *rules: list[Any], hook: str = "forward", prio: int = 0, **more: Any) -> list[Any]:
    place = {"family": "inet", "table": "t"}
    base = {"type": "filter", "hook": hook, "prio": prio} if hook else {}
    return [
        {"chain": {**place, "name": name, **base, **more}},
        *({"rule": {**place, "chain": name, "expr": one}} for one in rules),
    ]


def is_(left: Any, right: Any, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": left, "right": right}}


MARK = {"meta": {"key": "mark"}}
STATE = {"ct": {"key": "state"}}
IIF = {"meta": {"key": "iifname"}}
DROP, ACCEPT = {"drop": None}, {"accept": None}


@pytest.mark.parametrize(("rules", "packet", "expected"), [
    ({"filter": "FORWARD -i cni+ -j DROP"}, {}, "drop"),
    ({"filter": "FORWARD ! -i cni+ -j DROP"}, {}, "accept"),
    ({"filter": "FORWARD -i + -j DROP"}, {}, "drop"),
    ({"filter": "FORWARD -p tcp -m multiport --dports 22,79:81 -j DROP"}, {}, "drop"),
    ({"filter": "FORWARD -p tcp -m multiport ! --dports 22,79:81 -j DROP"}, {}, "accept"),
    ({"filter": "FORWARD -p udp -m udp ! --dport 53 -j DROP"}, {}, "accept"),  # not UDP at all
    ({"filter": "FORWARD -f -j DROP"}, {}, "accept"),
    ({"filter": "FORWARD -s 10.244.0.5/255.255.0.255 -j DROP"}, {}, "drop"),  # a mask with a hole
    ({"filter": "FORWARD -m iprange --src-range 10.244.1.4-10.244.1.6 -j DROP"}, {}, "drop"),
    # MARK and CONNMARK go on; an accept in mangle or raw skips nothing of filter.
    ({"mangle": "FORWARD -j MARK --set-xmark 0x1/0xffffffff; FORWARD -j ACCEPT",
      "filter": "FORWARD -m mark --mark 0x1 -j DROP"}, {}, "drop"),
    ({"raw": "PREROUTING -j ACCEPT", "mangle": "PREROUTING -j ACCEPT", "filter": "P FORWARD DROP"}, {}, "drop"),
    ({"mangle": "PREROUTING -j MARK --set-xmark 0x4/0x0; PREROUTING -j CONNMARK --save-mark --nfmask 0xffffffff "
      "--ctmask 0xffffffff; FORWARD -m connmark --mark 0x4 -j DROP"}, {}, "drop"),
    ({"mangle": "P FORWARD DROP"}, {}, "drop"),
    # A drop outside of the forward hook is one.
    ({"raw": "PREROUTING -s 10.244.0.0/16 -j DROP"}, {}, "drop"),
    ({"mangle": "POSTROUTING -o flannel.1 -j DROP"}, {}, "drop"),
    # Connection tracking: NOTRACK, and what raw sees of the state.
    ({"raw": "PREROUTING -j CT --notrack", "filter": "FORWARD -m conntrack --ctstate UNTRACKED -j DROP"}, {}, "drop"),
    ({"raw": "PREROUTING -m conntrack --ctstate NEW -j DROP"}, {}, "accept"),
    ({"raw": "PREROUTING -m conntrack --ctstate INVALID -j DROP"}, {}, "drop"),
    ({"filter": "FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT; P FORWARD DROP"}, {}, "drop"),
    ({"filter": "FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT; P FORWARD DROP"},
     {"state": "established"}, "accept"),
    # nat sees the first packet of a connection only; what it has translated counts for later rules.
    ({"nat": "PREROUTING -p tcp -j DNAT --to-destination 10.244.2.9", "filter": "FORWARD -d 10.244.2.9/32 -j DROP"}, {},
     "drop"),
    ({"nat": "PREROUTING -p tcp -j DNAT --to-destination 10.244.2.9", "filter": "FORWARD -d 10.244.2.9/32 -j DROP"},
     {"state": "established"}, "accept"),
    ({"nat": "PREROUTING -p tcp -j DNAT --to-destination 10.244.2.9",
      "filter": "FORWARD -m conntrack --ctstate DNAT -j ACCEPT; P FORWARD DROP"}, {}, "undetermined"),
    # ipsets, limits and chance are not in any listing.
    ({"filter": "FORWARD -m set --match-set blocked src -j DROP"}, {}, "undetermined"),
    ({"filter": "FORWARD -m statistic --mode random --probability 0.5 -j DROP"}, {}, "undetermined"),
    ({"filter": "FORWARD -m set --match-set blocked src -j MARK --set-xmark 0x1/0x1; P FORWARD DROP"}, {}, "drop"),
    ({"filter": "FORWARD -j NOSUCHTARGET"}, {}, "undetermined"),
    # physdev means nothing without a bridge; addrtype asks what the address is to the host.
    ({"filter": "FORWARD -m addrtype --dst-type LOCAL -j DROP"}, {}, "accept"),
    ({"filter": "FORWARD -m addrtype --src-type UNICAST -j DROP"}, {}, "drop"),
])  # fmt: skip
def test_iptables(rules: dict[str, str], packet: dict[str, Any], expected: str) -> None:
    facts = {"ip_address": [{"ifname": "eth0", "addr_info": [{"local": "192.0.2.5"}]}]}
    if "DNAT -j ACCEPT" in str(rules):
        facts = {}  # then no one can tell whether 10.244.2.9 is the host itself
    assert judge(save(**rules), packet=packet, **facts).verdict == expected


@pytest.mark.parametrize(("items", "packet", "expected"), [
    (chain("c", [DROP], prio=300), {}, "drop"),
    (chain("c", [ACCEPT], prio=-10) + chain("d", [DROP]), {}, "drop"),
    (chain("c", [is_(STATE, ["established", "related"], "in"), ACCEPT], policy="drop"), {}, "drop"),
    (chain("c", [is_(STATE, "untracked", "in"), DROP]) +
     chain("r", [{"notrack": None}], hook="prerouting", prio=-300), {}, "drop"),
    # A verdict map may jump, goto and return; goto does not come back.
    (chain("x", [{"return": None}], hook="") +
     chain("c", [{"vmap": {"key": IIF, "data": {"set": [["cni0", {"jump": {"target": "x"}}]]}}}],
           [DROP]), {}, "drop"),
    (chain("x", [{"return": None}], hook="") +
     chain("c", [{"vmap": {"key": IIF, "data": {"set": [["cni*", {"goto": {"target": "x"}}]]}}}],
           [DROP]), {}, "accept"),
    # A rule of several statements stops at the first test that fails, with what it did before.
    (chain("c", [{"mangle": {"key": MARK, "value": 7}}, is_({"meta": {"key": "oifname"}}, "eth9"), ACCEPT],
           [is_(MARK, 7), DROP]), {}, "drop"),
    # A set that rules fill is known only at the moment of the listing.
    ([{"set": {"family": "inet", "table": "t", "name": "s", "type": "ipv4_addr", "flags": ["dynamic"]}}] +
     chain("p", [{"set": {"op": "add", "elem": {"payload": {"protocol": "ip", "field": "saddr"}}, "set": "@s"}}],
           hook="prerouting") +
     chain("c", [is_({"payload": {"protocol": "ip", "field": "saddr"}}, "@s"), DROP]), {}, "undetermined"),
    # numgen chooses, but where all choices end alike the end is certain.
    (chain("c", [{"vmap": {"key": {"numgen": {"mode": "random", "mod": 2, "offset": 0}},
                           "data": {"set": [[0, DROP], [1, DROP]]}}}]), {}, "drop"),
    (chain("c", [{"vmap": {"key": {"numgen": {"mode": "random", "mod": 2, "offset": 0}},
                           "data": {"set": [[0, DROP], [1, ACCEPT]]}}}]), {}, "undetermined"),
    # A flow table carries established connections past the hook.
    ([{"flowtable": {"family": "inet", "table": "t", "name": "f", "dev": ["cni0", "flannel.1"]}}] +
     chain("c", policy="drop"), {"state": "established"}, "undetermined"),
    # A reset in an inet table may be meant for one IP version, which nft leaves out of its listing.
    (chain("c", [{"reject": {"type": "tcp reset"}}]), {}, "undetermined"),
    (chain("c", [{"reject": {"type": "icmpv6"}}]), {}, "accept"),
    # Another conntrack zone knows other connections.
    (chain("z", [{"mangle": {"key": {"ct": {"key": "zone"}}, "value": 3}}], hook="prerouting", prio=-300) +
     chain("c", [is_(STATE, "established", "in"), ACCEPT], policy="drop"), {"state": "established"}, "undetermined"),
    # An unknown statement may do anything, and so may one that nft has no JSON for and writes as text.
    (chain("c", [{"futurestatement": {}}]), {}, "undetermined"),
    (chain("c", ["jump {\n\t\tdrop\n\t}"], policy="accept"), {}, "undetermined"),
    # A statement about IPv4 or TCP ends the rule for any other packet, by a test that nft does not list.
    (chain("c", [{"mangle": {"key": {"payload": {"protocol": "ip6", "field": "dscp"}}, "value": "cs1"}}, DROP]), {},
     "accept"),
    (chain("c", [{"mangle": {"key": {"payload": {"protocol": "ip6", "field": "hoplimit"}}, "value": 9}}, DROP]), {},
     "accept"),
    (chain("c", [{"vmap": {"key": {"jhash": {"mod": 2, "expr": {"payload": {"protocol": "ip6", "field": "saddr"}}}},
                           "data": {"set": [[0, DROP], [1, DROP]]}}}]), {}, "accept"),
    # In a table ip nft lists `meta protocol ip6 jhash ip saddr ...` without its first test.
    (chain("c", [{"vmap": {"key": {"jhash": {"mod": 2, "expr": {"payload": {"protocol": "ip", "field": "saddr"}}}},
                           "data": {"set": [[0, ACCEPT], [1, ACCEPT]]}}}], policy="drop"), {}, "undetermined"),
    (chain("c", [{"mangle": {"key": {"tcp option": {"name": "maxseg", "field": "size"}}, "value": 1400}}, DROP]),
     {"protocol": "udp"}, "undetermined"),
    # An object that is looked up in a map is not always there.
    (chain("c", [{"counter": {"map": {"key": IIF, "data": {"set": [["eth9", "web"]]}}}}, DROP]), {}, "undetermined"),
    (chain("c", [{"flow": {"op": "add", "flowtable": "@f"}}, DROP]), {}, "undetermined"),
    ([{"table": {"family": "inet", "name": "t", "flags": "dormant"}}] + chain("c", policy="drop"), {}, "accept"),
    # nft 1.0 writes a single flag as a word of chance; what is not firewalld's is asleep then.
    ([{"table": {"family": "inet", "name": "t", "flags": "tcp"}}] + chain("c", policy="drop"), {}, "accept"),
    ([{"table": {"family": "inet", "name": "t", "flags": "owner"}}] + chain("c", policy="drop"), {}, "drop"),
    # `meta protocol ip6 reject with icmp ...`, which never matches, is listed so; with `meta nfproto` it is not.
    (chain("c", [is_({"meta": {"key": "nfproto"}}, "ipv4"), {"reject": {"type": "icmp"}}]), {}, "undetermined"),
    (chain("c", [{"reject": {"type": "icmp"}}]), {}, "drop"),
])  # fmt: skip
def test_nft(items: list[Any], packet: dict[str, Any], expected: str) -> None:
    assert judge(nft=items, packet=packet).verdict == expected


def test_the_order_of_equal_priority_counts_where_marks_pass_and_is_not_known() -> None:
    marks = chain("a", [{"mangle": {"key": MARK, "value": 1}}])
    asks = chain("b", [is_(MARK, 1), DROP])
    assert judge(nft=marks + asks).verdict == "undetermined"
    assert judge(nft=marks + chain("b", [is_(MARK, 1), DROP], prio=1)).verdict == "drop"


def test_the_order_of_many_chains_of_equal_priority_is_not_known_either() -> None:
    plain = [one for name in "cdef" for one in chain(name, [ACCEPT])]
    marks = chain("a", [{"mangle": {"key": MARK, "value": 1}}])
    assert judge(nft=chain("b", [is_(MARK, 1), DROP]) + plain + marks).verdict == "undetermined"
    assert judge(nft=chain("b", [is_(IIF, "eth9"), DROP]) + plain + marks).verdict == "accept"
    assert judge(nft=chain("b", [DROP]) + plain + marks).verdict == "drop"


@pytest.mark.parametrize(("expr", "line", "expected"), [
    # iptables-nft-save 1.8.9 leaves out the set, and prints only one of two matches of a field.
    ([is_({"payload": {"protocol": "ip", "field": "saddr"}}, {"set": ["192.0.2.1"]}), DROP], "-j DROP", "accept"),
    ([is_({"payload": {"protocol": "ip", "field": "saddr"}}, "@blocked"), DROP], "-j DROP", "undetermined"),
    ([is_({"payload": {"protocol": "ip", "field": "saddr"}}, "192.0.2.1"),
      is_({"payload": {"protocol": "ip", "field": "saddr"}}, "10.0.0.0", "!="), DROP], "! -s 10.0.0.0/32 -j DROP",
     "accept"),
    ([is_({"payload": {"protocol": "ip", "field": "saddr"}}, {"range": ["10.244.1.1", "10.244.1.9"]}), DROP],
     "-s 10.244.1.9/32 -j DROP", "drop"),
    # What an extension means only iptables-nft-save tells.
    ([{"xt": {"type": "match", "name": "conntrack"}}, DROP], "-m conntrack --ctstate INVALID -j DROP", "accept"),
])  # fmt: skip
def test_what_only_nft_can_say_is_read_from_nft(expr: list[Any], line: str, expected: str) -> None:
    place = {"family": "ip", "table": "filter"}
    listed = [
        {"table": {"family": "ip", "name": "filter"}},
        {"chain": {**place, "name": "FORWARD", "type": "filter", "hook": "forward", "prio": 0, "policy": "accept"}},
        {"rule": {**place, "chain": "FORWARD", "handle": 4, "expr": expr}},
    ]
    assert judge(save(filter=f"FORWARD {line}"), nft=listed).verdict == expected


def test_the_order_of_nat_chains_of_equal_priority_is_not_known() -> None:
    def dnat(name: str, address: str, prio: int) -> list[Any]:
        return chain(name, [{"dnat": {"family": "ip", "addr": address}}], hook="prerouting", prio=prio, type="nat")

    facts = {"ip_address": [{"ifname": "eth0", "addr_info": [{"local": "192.0.2.5"}]}],
             "ip_route": [{"dst": "10.244.0.0/16", "dev": "flannel.1"}]}  # fmt: skip
    closed = chain("f", [is_({"payload": {"protocol": "ip", "field": "daddr"}}, "10.244.2.9"), DROP])
    first = dnat("a", "10.244.2.9", -100)
    assert judge(nft=first + dnat("b", "10.244.2.8", -100) + closed, **facts).verdict == "undetermined"
    assert judge(nft=first + dnat("b", "10.244.2.8", -90) + closed, **facts).verdict == "drop"
    assert judge(nft=first + dnat("b", "10.244.2.8", -110) + closed, **facts).verdict == "accept"
    assert judge(nft=first + dnat("b", "10.244.2.9", -100) + closed, **facts).verdict == "drop"


def test_a_changed_destination_leads_to_other_hooks_of_bridges() -> None:
    text = save(nat="PREROUTING -j DNAT --to-destination 203.0.113.9")
    routes = [{"dst": "10.244.1.0/24", "dev": "cni0"}, {"dst": "default", "dev": "eth0"}]
    links = [{"ifname": "cni0", "linkinfo": {"info_kind": "bridge"}, "addr_info": []}]
    closed = {"chain": {"family": "bridge", "table": "b", "name": "c", "type": "filter", "hook": "postrouting",
                        "prio": 0, "policy": "drop"}}  # fmt: skip
    switches = {"net.bridge.bridge-nf-call-iptables": "1"}
    on_bridge = {"source": "10.244.1.5", "destination": "10.244.1.6", "in": "cni0", "out": "cni0"}
    found = judge(text, [closed], on_bridge, ip_address=links, ip_route=routes, sysctl=switches)
    assert found.verdict == "undetermined"


def test_a_destination_that_no_route_leads_to_is_another_way() -> None:
    text = save(nat="PREROUTING -j DNAT --to-destination 203.0.113.9")
    links = [{"ifname": "eth0", "addr_info": [{"local": "192.0.2.5"}]}]
    routes = [{"dst": "10.244.0.0/16", "dev": "flannel.1"}]
    assert judge(text, ip_address=links, ip_route=routes).verdict == "undetermined"
    assert judge(text, ip_address=links, ip_route=[*routes, {"dst": "default", "dev": "eth0"}]).verdict == "accept"


def test_a_bridge_table_sees_what_comes_by_a_bridge_only() -> None:
    closed = [
        {"chain": {"family": "bridge", "table": "b", "name": "c", "type": "filter", "hook": "input", "prio": 0,
                   "policy": "drop"}}
    ]  # fmt: skip
    links = [
        {"ifname": "cni0", "linkinfo": {"info_kind": "bridge"}, "addr_info": []},
        {"ifname": "eth0", "addr_info": [], "linkinfo": {"info_kind": "veth"}},
    ]
    assert judge(nft=closed, ip_address=links).verdict == "drop"
    assert judge(nft=closed, ip_address=links, packet={"in": "eth0"}).verdict == "accept"


def test_a_packet_has_no_extension_headers() -> None:
    six = {"source": "fd42::5", "destination": "fd42:0:0:1::7"}
    text = save(filter="FORWARD -m rt --rt-type 0 -j DROP; FORWARD -m rt ! --rt-type 0 -j DROP")
    evidence = {"ip6tables": {"nft": text, "legacy": ""}, "nft": {"nftables": []}}
    assert walk(Ruleset.from_evidence(evidence), {**PACKET, **six}, FORWARD).verdict == "accept"
    field = {"exthdr": {"name": "rt", "field": "type"}}
    for rule, expected in (
        ([is_(field, 0), DROP], "accept"), ([is_(field, 0, "!="), DROP], "accept"),
        ([is_({"exthdr": {"name": "frag"}}, True), DROP], "accept"),
        ([is_({"exthdr": {"name": "frag"}}, False), DROP], "drop"),
    ):  # fmt: skip
        evidence = {"ip6tables": {"nft": "", "legacy": ""}, "nft": {"nftables": chain("c", rule)}}
        assert walk(Ruleset.from_evidence(evidence), {**PACKET, **six}, FORWARD).verdict == expected


def test_a_link_that_is_not_there_yet_comes_with_its_routes() -> None:
    fib = {"fib": {"result": "oif", "flags": ["saddr", "mark", "iif"]}}
    rule = chain("c", [is_(fib, False), DROP], hook="prerouting")
    links = [{"ifname": "eth0", "addr_info": [{"local": "192.0.2.5"}]}]
    routes = [{"dst": "default", "dev": "eth0"}]
    assert judge(nft=rule, ip_address=links, ip_route=routes).verdict == "accept"
    there = [*links, {"ifname": "cni0", "addr_info": []}]
    assert judge(nft=rule, ip_address=there, ip_route=routes).verdict == "drop"


def test_fib_by_interface_does_not_count_the_addresses_of_others() -> None:
    links = [{"ifname": "eth0", "addr_info": [{"local": PACKET["destination"]}]}]
    for flags, expected in ((["daddr"], "drop"), (["daddr", "iif"], "undetermined")):
        rule = [is_({"fib": {"result": "type", "flags": flags}}, "local"), DROP]
        assert judge(nft=chain("c", rule, hook="prerouting"), ip_address=links).verdict == expected


def kube_proxy(services: int) -> str:
    """The rules that kube-proxy writes for so many services of three endpoints, after a recording of it."""
    nat = ["*nat", ":PREROUTING ACCEPT [0:0]", ":POSTROUTING ACCEPT [0:0]", ":KUBE-SERVICES - [0:0]"]
    rules = ['-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES']
    for number in range(services):
        service = f"KUBE-SVC-{number:016d}"
        address = f"10.96.{number // 250}.{number % 250 + 2}"
        nat.append(f":{service} - [0:0]")
        rules.append(f'-A KUBE-SERVICES -d {address}/32 -p tcp -m comment --comment "default/s{number} cluster IP" '
                     f"-m tcp --dport 80 -j {service}")  # fmt: skip
        for end in range(3):
            endpoint = f"KUBE-SEP-{number:014d}{end:02d}"
            pod = f"10.244.{end + 1}.{number % 250 + 2}"
            nat.append(f":{endpoint} - [0:0]")
            chance = f" -m statistic --mode random --probability {1 / (3 - end):.11f}" if end < 2 else ""
            rules.append(f'-A {service} -m comment --comment "default/s{number} -> {pod}:80"{chance} -j {endpoint}')
            rules.append(f'-A {endpoint} -s {pod}/32 -m comment --comment "default/s{number}" -j KUBE-MARK-MASQ')
            rules.append(f'-A {endpoint} -p tcp -m comment --comment "default/s{number}" -m tcp -j DNAT '
                         f"--to-destination {pod}:80")  # fmt: skip
    nat += [":KUBE-MARK-MASQ - [0:0]"]
    rules.append("-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000")
    return "\n".join([*nat, *rules, "COMMIT", ""]) + save(
        filter=":KUBE-FORWARD; FORWARD -j KUBE-FORWARD; FORWARD -s 10.244.0.0/16 -j ACCEPT; P FORWARD DROP; "
        "KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP; KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT"
    )


def test_the_walks_of_a_host_with_200_services_take_at_most_0_3_seconds() -> None:
    text = kube_proxy(200)
    node = {"iptables": {"nft": text, "legacy": ""}, "nft": {"nftables": []}, "ip_address": []}
    started = time.process_time()
    rules = Ruleset.from_evidence(node)
    verdicts = [walk(rules, packet, hooks).verdict for _name, packet, hooks in standard_packets(node, "10.244.0.0/16")]
    verdicts.append(walk(rules, {**PACKET, "destination": "10.96.0.150"}, FORWARD).verdict)
    assert time.process_time() - started < 0.3
    assert verdicts[0] == verdicts[-1] == "accept"
