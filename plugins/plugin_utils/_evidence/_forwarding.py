# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the rules of a host do with pod traffic, walked once for each host and told by every rule that asks."""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ...module_utils._netfilter import INPUT, Place, Ruleset, Verdict, standard_packets, walk
from .._finding import Malformed, Missing
from .._view import View
from ._host import Host
from ._networks import BRIDGE, owner_of

POLICY_ENGINES = ("calico", "kube-router", "cilium", "weave", "antrea", "kube-network-policies")
"""Owners of rules that drop on purpose: what they enforce is a network policy."""

_IPTABLES_TABLES = ("filter", "mangle", "raw", "security", "nat")
PEERS = 10
"""How many other nodes are tried as senders on one host."""


@dataclass(frozen=True)
class Drop:
    """A kind of pod traffic that is dropped for certain, and the rule or policy that does it."""

    packet: str
    place: Place

    @property
    def by_policy(self) -> bool:
        return self.place.rule.startswith("(policy")

    @property
    def in_iptables(self) -> bool:
        """Whether it happens in the tables of iptables, of either backend, where flannel's own accept is."""
        return self.place.backend == "legacy" or (
            self.place.family in ("ip", "ip6") and self.place.table in _IPTABLES_TABLES
        )

    @property
    def code(self) -> str:
        if not self.in_iptables:
            return "forward-other-table"
        return "forward-policy-drop" if self.by_policy else "forward-rule-drop"


@dataclass(frozen=True)
class Forwarding:
    """``drops``: kinds of forwarded pod traffic that are dropped; ``unknown``: those that could not be told."""

    drops: tuple[Drop, ...]
    unknown: tuple[Drop, ...]


def ruleset(node: Host) -> Ruleset:
    """The host's rules; raises `Missing` where neither iptables nor nft was looked at."""
    if not node.has("iptables") and not node.has("nft"):
        raise Missing(f"{node.path}.iptables")
    with _readable(node):
        found: Ruleset = node.derived("ruleset", lambda: Ruleset.from_evidence(node.raw))
    return found


@contextlib.contextmanager
def _readable(node: Host) -> Iterator[None]:
    """Rules and routes are read where a packet first meets them: what cannot be read there is bad evidence."""
    try:
        yield
    except Missing:
        raise
    except Exception as error:  # whatever a host said
        raise Malformed(f"{node.path}.nft", str(error) or type(error).__name__) from error


def forwarding(node: Host, view: View) -> Forwarding:
    """Walks each kind of pod traffic over the host's forward path."""
    found: Forwarding = node.derived("forwarding", lambda: _walk_all(node, view))
    return found


def _walk_all(node: Host, view: View) -> Forwarding:
    rules = ruleset(node)
    pods = [str(one) for one in view.pod_networks]
    try:
        own = view.kube_node(node)
    except Missing:
        own = None
    local = [str(one) for one in own.pod_networks] if own else []
    bridges = {link.name for link in node.links if owner_of(link, node) == BRIDGE} if node.has("ip_address") else set()
    drops: list[Drop] = []
    unknown: list[Drop] = []
    with _readable(node):
        walked = [
            (name, packet, walk(rules, packet, hooks))
            for name, packet, hooks in standard_packets(node.raw, pods, local, rules.facts)
            if packet.get("in") and packet.get("out")  # what a host sends itself is not forwarded
        ]
    for name, packet, verdict in walked:
        if packet["out"] in bridges:  # a range that overlaps leads it there, see overlap-container-bridge
            continue
        if verdict.by is None or verdict.verdict == "accept":
            continue
        if verdict.by.lacks_address or verdict.by.owner in POLICY_ENGINES:
            continue
        (drops if verdict.verdict == "drop" else unknown).append(Drop(name, verdict.by))
    return Forwarding(tuple(drops), tuple(unknown))


def between_pods(drop: Drop) -> bool:
    """Whether it is traffic that the cluster needs: between pods, or to a service. Egress may be closed on purpose, and
    so may pings be."""
    return "outside" not in drop.packet and "ICMP" not in drop.packet


def severity_of(drops: list[Drop], view: View) -> str | None:
    """How bad they are: None for as bad as the rule says, less before a cluster is there and for traffic to outside."""
    if not any(between_pods(one) for one in drops):
        return "info"
    return None if view.stage == "cluster" else "warning"


def lets_pass(node: Host, view: View) -> bool:
    """Whether the host itself would forward between pods, by its switch and its rules, where looked at."""
    if node.has("sysctl") and node.sysctl.get("net.ipv4.ip_forward") == "0":
        return False
    try:
        return not any(between_pods(one) for one in forwarding(node, view).drops)
    except Missing:
        return True


def told(node: Host, view: View, code: str) -> list[Drop]:
    """The drops of that code; raises `Missing` where nothing is dropped and something could not be told."""
    found = forwarding(node, view)
    own = [one for one in found.drops if one.code == code]
    if not own and not found.drops:
        for one in found.unknown:
            if between_pods(one):
                raise Missing(
                    f"{node.path}.iptables", one.place.action or one.place.rule or "the rules were not all read"
                )
    return own


def shown(drops: list[Drop]) -> dict[str, Any]:
    """What a person compares: the rule, where it stands, whose it is, and which traffic it meets."""
    place = drops[0].place
    return {
        "rule": place.rule,
        "table": f"{place.family} {place.table}",
        "chain": place.chain,
        "backend": place.backend,
        "owner": place.owner,
        "traffic": [one.packet for one in drops],
    }


def arriving(node: Host, view: View, protocol: str, port: int | None) -> Iterator[tuple[str, Verdict]]:
    """What becomes of a packet to a port of the host from other nodes: their address and the verdict."""
    rules = ruleset(node)
    for source, destination, link in _ways(node, view):
        packet: dict[str, Any] = {"in": link, "source": source, "destination": destination, "protocol": protocol}
        if port is not None:
            packet["destination_port"] = port
        with _readable(node):
            verdict = walk(rules, packet, INPUT)
        yield source, verdict


def _ways(node: Host, view: View) -> Iterator[tuple[str, str, str]]:
    """Source, own address and link for some other nodes."""
    links = {str(one.ip): link.name for link, one in node.addresses()}
    try:
        own = view.kube_node(node)
        senders = view.senders
    except Missing:
        own, senders = None, []
    if own is not None:
        start = bisect_left(senders, (own.name, ""))
        mine = senders[start][1] if start < len(senders) and senders[start][0] == own.name else ""
        here = mine or next((str(one) for one in own.internal_addresses), "")
        following = (senders[index % len(senders)] for index in range(start, start + len(senders)))
        others = (address for name, address in following if name != own.name and address)
        for source in islice(others, PEERS):
            if here in links:
                yield source, here, links[here]
        return
    if node.has("inventory_address") and node.inventory_address in links:
        for _link, one in node.addresses(4):
            if str(one.ip) == node.inventory_address and one.network.num_addresses > 3:
                first, second = one.network[1], one.network[2]
                neighbour = second if first == one.ip else first
                yield str(neighbour), str(one.ip), links[str(one.ip)]
