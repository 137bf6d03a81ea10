# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The packets that a node of a flannel cluster has to forward."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

from ._facts import Facts
from ._walk import FORWARD, OUTPUT

Packet = dict[str, Any]
# Of a root name server (a.root-servers.net): public and in no list of addresses that routers shall not see, as those
# for documentation are. They are only walked through the rules; nothing is ever sent there.
OUTSIDE = {4: "198.41.0.4", 6: "2001:503:ba3e::2:30"}


def standard_packets(
    node: Mapping[str, Any],
    pod_cidrs: str | Sequence[str],
    local_cidrs: Sequence[str] = (),
    facts: Facts | None = None,
    peers: int = 3,
) -> list[tuple[str, Packet, tuple[str, ...]]]:
    """(name, packet, hooks) for each kind of pod traffic, for each IP version of the pod ranges.

    `pod_cidrs`: the cluster's pod ranges. `local_cidrs`: this node's own; else those of its subnet.env, else the first
    /24 (/64) of the range. Interfaces: those of the node's routes, else cni0, flannel.1 and the default route's.
    `facts`: those of the node's rule set, where it was read already. `peers`: how many other nodes' pods are walked.
    """
    facts = facts or Facts(node)
    ranges = [pod_cidrs] if isinstance(pod_cidrs, str) else list(pod_cidrs)
    found: list[tuple[str, Packet, tuple[str, ...]]] = []
    for text in ranges:
        cluster = ipaddress.ip_network(text, strict=False)
        local = _local(node, cluster, local_cidrs)
        found += _packets(facts, cluster, local, peers)
    return found


def complete(node: Mapping[str, Any], pod_cidrs: str | Sequence[str], packet: Mapping[str, Any]) -> Packet:
    """The packet with its interfaces, where they are left out and the node's routes or its pod range tell them."""
    facts = Facts(node)
    ranges = [pod_cidrs] if isinstance(pod_cidrs, str) else list(pod_cidrs)
    result = dict(packet)
    for key, end in (("in", "source"), ("out", "destination")):
        if result.get(key) or not result.get(end):
            continue
        try:
            address = ipaddress.ip_address(str(result[end]))
        except ValueError:
            continue  # the walk says what is wrong with it
        device = _device(facts, str(address), address.version, "")
        if not device:
            device = _pod_device(node, ranges, address)
        result[key] = device or None
    return result


def _pod_device(node: Mapping[str, Any], ranges: Sequence[str], address: Any) -> str:
    for text in _subnet_env(node):
        net = ipaddress.ip_network(text, strict=False)
        if net.version == address.version and address in net:
            return "cni0"
    for text in ranges:
        net = ipaddress.ip_network(text, strict=False)
        if net.version == address.version and address in net and _subnet_env(node):
            return "flannel.1" if net.version == 4 else "flannel-v6.1"
    return ""


def _local(node: Mapping[str, Any], cluster: Any, given: Sequence[str]) -> Any:
    for text in [*given, *_subnet_env(node)]:
        net = ipaddress.ip_network(text, strict=False)
        if net.version == cluster.version and cluster.supernet_of(net):
            return net
    length = min(max(24 if cluster.version == 4 else 64, cluster.prefixlen), cluster.max_prefixlen)
    return next(cluster.subnets(new_prefix=length))


def _subnet_env(node: Mapping[str, Any]) -> list[str]:
    found = []
    for line in str(node.get("subnet_env") or "").splitlines():
        name, _equals, value = line.partition("=")
        if name.strip() in ("FLANNEL_SUBNET", "FLANNEL_IPV6_SUBNET") and value.strip():
            found.append(value.strip())
    return found


def _remotes(facts: Facts, cluster: Any, local: Any, most: int) -> list[str]:
    """Addresses of pods of other nodes, one for each: of the ranges that the node has routes to, else of the range's
    first part that is not its own and of its last."""
    version, first, last = cluster.version, int(cluster.network_address), int(cluster.broadcast_address)
    here = range(int(local.network_address), int(local.broadcast_address) + 1)
    routes = facts.routes[version]
    # Spread over all of them: which node a rule is about is not known.
    chosen = routes.within(first, cluster.prefixlen, most, here) if routes else []
    guesses = (first + local.num_addresses, first, last + 1 - local.num_addresses)
    candidates = [one + 2 for one in chosen or guesses if first <= one + 2 <= last and one + 2 not in here]
    ends = list(dict.fromkeys(candidates or [last - 1]))[:most]
    return [str(type(cluster.network_address)(one)) for one in ends]


# Beside TCP to port 80: what a rule may drop by itself. DNS, pings, and a port that no service is known by.
_OTHER: tuple[tuple[str, Packet], ...] = (
    ("DNS", {"protocol": "udp", "destination_port": 53}),
    ("ICMP echo", {"protocol": "icmp"}),
    ("TCP 30001", {"protocol": "tcp", "destination_port": 30001}),
    ("UDP 30001", {"protocol": "udp", "destination_port": 30001}),
)


def _packets(facts: Facts, cluster: Any, local: Any, peers: int) -> list[tuple[str, Packet, tuple[str, ...]]]:
    version = cluster.version
    pod = str(local.network_address + min(5, local.num_addresses - 1))
    far, *others = _remotes(facts, cluster, local, peers)
    bridge = "cni0"
    outward = _device(facts, OUTSIDE[version], version, "")
    gateway = str(local.network_address + 1)

    def both(there: str) -> tuple[Packet, Packet]:
        tunnel = _device(facts, there, version, "flannel.1" if version == 4 else "flannel-v6.1", default_counts=False)
        return (
            {"in": bridge, "out": tunnel, "source": pod, "destination": there},
            {"in": tunnel, "out": bridge, "source": there, "destination": pod},
        )

    away, arriving = both(far)
    suffix = "" if version == 4 else " (IPv6)"
    service = {"original_destination": str(ipaddress.ip_address("192.0.2.10" if version == 4 else "2001:db8::10"))}
    outside = {"in": bridge, "out": outward, "source": pod, "destination": OUTSIDE[version]}
    packets: list[tuple[str, Packet, tuple[str, ...]]] = [
        ("pod to pod on another node", away, FORWARD),
        ("pod from pod on another node", arriving, FORWARD),
        ("answer to pod on another node", {**away, "state": "established"}, FORWARD),
        ("answer from pod on another node", {**arriving, "state": "established"}, FORWARD),
        ("pod to outside", outside, FORWARD),
        (
            "answer from outside",
            {"in": outward, "out": bridge, "source": OUTSIDE[version], "destination": pod, "state": "established"},
            FORWARD,
        ),
        ("node to pod", {"out": bridge, "source": gateway, "destination": pod}, OUTPUT),
        ("pod to a service", {**away, **service}, FORWARD),
    ]
    for name, kind in _OTHER:
        packets.append((f"pod to pod on another node, {name}", {**away, **kind}, FORWARD))
        packets.append((f"pod from pod on another node, {name}", {**arriving, **kind}, FORWARD))
    packets.append(("pod to outside, DNS", {**outside, **dict(_OTHER)["DNS"]}, FORWARD))
    for there in others:
        away, arriving = both(there)
        packets.append((f"pod to pod {there}", away, FORWARD))
        packets.append((f"pod from pod {there}", arriving, FORWARD))
    return [(name + suffix, packet, hooks) for name, packet, hooks in packets]


def _device(facts: Facts, address: str, version: int, otherwise: str, default_counts: bool = True) -> str:
    device = facts.device_for(int(ipaddress.ip_address(address)), version, default_counts)
    return device if isinstance(device, str) and device else otherwise
