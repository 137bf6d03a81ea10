# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, INPUT, Ruleset
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._model import Chain
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._path import CONNTRACK, NAT, Stop, path

LINKS = [
    {"ifname": "cni0", "linkinfo": {"info_kind": "bridge"}},
    {"ifname": "flannel.1", "linkinfo": {"info_kind": "vxlan"}},
    {"ifname": "eth0", "linkinfo": {"info_kind": "veth"}},
]
MARKS = [{"mangle": {"key": {"meta": {"key": "mark"}}, "value": 1}}]
ACCEPT: list[Any] = [{"accept": None}]


def chain(name: str, hook: str, prio: int = 0, *rules: Any, family: str = "inet", **more: Any) -> list[Any]:
    place = {"family": family, "table": "t"}
    body = {**place, "name": name, "type": "filter", "hook": hook, "prio": prio, "policy": "drop", **more}
    return [{"chain": body}, *({"rule": {**place, "chain": name, "expr": one}} for one in rules)]


def stops(
    *listed: list[Any],
    hooks: tuple[str, ...] = FORWARD,
    bridged: bool | None = False,
    packet: Any = None,
    calls: str = "1",
) -> list[Stop]:
    node = {
        "nft": {"nftables": [one for part in listed for one in part]},
        "ip_address": LINKS,
        "sysctl": {"net.bridge.bridge-nf-call-iptables": calls},
    }
    return list(path(Ruleset.from_evidence(node), state(**(packet or {})), hooks, bridged))


def told(found: list[Stop]) -> list[str]:
    """Each stop as hook:member+member, with ? where the packet may not come there."""

    def name(member: Any) -> str:
        return "CT" if member is CONNTRACK else "NAT" if member is NAT else str(member.name)

    return [
        f"{one.hook}:{'route' if one.routing else '+'.join(name(member) for member in one.members)}{'?' * one.maybe}"
        for one in found
    ]


def test_without_rules_the_kernel_itself_is_left() -> None:
    assert told(stops()) == ["prerouting:CT", "prerouting:route"]


def test_hooks_in_their_order_and_chains_by_priority() -> None:
    found = stops(
        chain("late", "forward", 5), chain("early", "forward", -5), chain("raw", "prerouting", -300),
        chain("mangle", "prerouting", -150), chain("out", "postrouting"), chain("in", "input"),
    )  # fmt: skip
    assert told(found) == [
        "prerouting:raw", "prerouting:CT", "prerouting:mangle", "prerouting:route", "forward:early", "forward:late",
        "postrouting:out",
    ]  # fmt: skip


def test_of_the_input_hook_only_what_the_packet_meets() -> None:
    listed = [*chain("f", "forward"), *chain("i", "input"), *chain("p", "postrouting")]
    assert "input:i" in told(stops(listed, hooks=INPUT))
    assert not {"forward:f", "postrouting:p"} & set(told(stops(listed, hooks=INPUT)))


def test_nat_is_called_by_the_kernel_whatever_its_chains_priority() -> None:
    found = stops(chain("n", "prerouting", 50, ACCEPT, type="nat"), chain("f", "prerouting", 0))
    assert told(found) == ["prerouting:CT", "prerouting:NAT", "prerouting:f", "prerouting:route"]
    assert [one.name for one in found[1].nat] == ["n"]


@pytest.mark.parametrize(
    ("listed", "members", "ordered"),
    [
        ([*chain("a", "forward"), *chain("b", "forward")], "a+b", True),
        ([*chain("a", "forward", 0, MARKS), *chain("b", "forward")], "a+b", False),
        # One without rules and with the policy accept says nothing.
        ([*chain("a", "forward", 0, MARKS), *chain("b", "forward", policy="accept")], "a", True),
        ([*chain("a", "forward", 0, ACCEPT, policy="accept"), *chain("b", "forward")], "a+b", True),
    ],
)
def test_the_order_of_equal_priority_counts_where_one_changes_packets(
    listed: list[Any], members: str, ordered: bool
) -> None:
    found = [one for one in stops(listed) if one.hook == "forward"]
    assert told(found) == [f"forward:{members}"] and found[0].ordered is ordered


def test_beside_connection_tracking_the_order_counts_too() -> None:
    assert [one.ordered for one in stops(chain("a", "prerouting", -200)) if CONNTRACK in one.members] == [False]


BRIDGE = [
    *(one for hook in ("prerouting", "input", "forward", "output", "postrouting")
      for one in chain(f"b{hook}", hook, family="bridge")),
    *chain("ip", "forward"),
]  # fmt: skip
ON_BRIDGE = {"out": "cni0", "destination": "10.244.1.6"}


@pytest.mark.parametrize(
    ("bridged", "calls", "packet", "expected"),
    [
        # Routed from a bridge to another link: it leaves the bridge by its input hook.
        (False, "1", {}, ["bprerouting", "binput", "ip"]),
        (False, "1", {"in": "eth0"}, ["ip"]),
        (False, "1", {"in": "eth0", "out": "cni0"}, ["ip", "boutput", "bpostrouting"]),
        # From port to port.
        (True, "1", ON_BRIDGE, ["bprerouting", "bforward", "ip", "bpostrouting"]),
        (True, "0", ON_BRIDGE, ["bprerouting", "bforward", "bpostrouting"]),
        (None, "1", ON_BRIDGE, ["bprerouting", "binput?", "bforward?", "ip", "boutput?", "bpostrouting"]),
        (None, "0", ON_BRIDGE, ["bprerouting", "binput?", "bforward?", "ip?", "boutput?", "bpostrouting"]),
    ],
)
def test_a_bridge_has_hooks_of_its_own(bridged: bool | None, calls: str, packet: Any, expected: list[str]) -> None:
    found = told(stops(BRIDGE, bridged=bridged, calls=calls, packet=packet))
    names = [one.partition(":")[2] for one in found]
    assert [one for one in names if "CT" not in one and "route" not in one] == expected


@pytest.mark.parametrize(
    ("device", "packet", "expected"),
    [
        ("eth0", {"in": "eth0"}, ["ingress:i"]),
        ("eth1", {"in": "eth0"}, []),
        ("eth0", {"in": ""}, ["ingress:i?"]),
        ("veth1", {}, ["ingress:i?"]),  # a port of the bridge
        ("", {"in": "eth0"}, ["ingress:i?"]),  # nft 1.0 does not tell it
    ],
)
def test_chains_of_a_device(device: str, packet: dict[str, str], expected: list[str]) -> None:
    found = stops(chain("i", "ingress", family="netdev", dev=device), packet=packet)
    assert [one for one in told(found) if one.startswith("ingress")] == expected
    assert all(one.blind is (packet.get("in") != "eth0") for one in found if one.hook == "ingress")


def test_chains_of_the_device_that_a_packet_leaves_by() -> None:
    listed = chain("e", "egress", family="netdev", dev="flannel.1")
    assert told(stops(listed))[-1] == "egress:e" and "egress:e" not in told(stops(listed, hooks=INPUT))


def test_the_orders_in_which_nat_chains_may_be_asked() -> None:
    table = Ruleset.from_evidence({"nft": {"nftables": [
        *chain("a", "prerouting", -100, ACCEPT), *chain("b", "prerouting", -100, ACCEPT),
        *chain("last", "prerouting", -90, ACCEPT), *chain("empty", "prerouting", -100, policy="accept"),
    ]}}).tables[0]  # fmt: skip
    stop = Stop("prerouting", "ip", nat=list(table.chains.values()))
    orders = [tuple(one.name for one in order) for order in stop.nat_orders()]
    assert sorted(orders) == [("a", "b", "last"), ("b", "a", "last")]
    many = Stop("prerouting", "ip", nat=[Chain(f"{n}", table, policy="drop") for n in range(9)])
    assert len(many.nat_orders()) == 25 and Stop("prerouting", "ip").nat_orders() == [()]
