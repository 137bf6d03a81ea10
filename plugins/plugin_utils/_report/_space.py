# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The address space of a cluster: every range that matters, by family, and which of them meet that must not."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from .._evidence._net import Network, network, overlapping
from ._facts import ClusterFacts, HostFacts

KINDS = {
    "pods": "Pods",
    "services": "Services",
    "flannel": "Flannel's network",
    "node-range": "One node's pods",
    "nodes": "Node networks",
    "bridge": "Container bridges",
    "vpn": "VPN",
    "route": "Other routes",
    "resolver": "Resolvers",
}
"""Kinds of ranges with what they are called, in the order of the picture's rows."""

# Which kinds must not meet; the picture's red.
_APART = {
    frozenset(pair)
    for pair in (
        [("pods", "services"), ("node-range",)]
        + [(own, other) for own in ("pods", "services") for other in ("nodes", "bridge", "vpn", "route", "resolver")]
        + [("nodes", "bridge")]
    )
}


def ranges(cluster: ClusterFacts, hosts: Iterable[HostFacts]) -> list[dict[str, Any]]:
    """One entry for each range: kind, network, family, label, hosts, and the indexes of those it wrongly meets."""
    found: dict[tuple[str, Network, str], dict[str, Any]] = {}

    def add(kind: str, label: str, one: Network | None, host: str = "") -> None:
        if one is None:
            return
        # The same network on many hosts is one range; a node's range on two nodes is two.
        key = (kind, one, label if kind == "node-range" else "")
        entry = found.setdefault(key, {"kind": kind, "label": label, "network": one, "hosts": []})
        if host and host not in entry["hosts"]:
            entry["hosts"].append(host)

    for text in cluster.pods:
        add("pods", "pods", network(text))
    for text in cluster.services:
        add("services", "services", network(text))
    if set(cluster.flannel_network) - set(cluster.pods):  # drawn where it is not the pods', which is a fault
        for text in cluster.flannel_network:
            add("flannel", "net-conf.json", network(text))
    for name, text in cluster.node_ranges:
        add("node-range", name, network(text), name)
    for host in hosts:
        for kind, label, one in host.ranges:
            add(kind, label, one, host.name)
    order = list(KINDS)
    entries = sorted(
        found.values(),
        key=lambda entry: (
            entry["network"].version,
            order.index(entry["kind"]),
            int(entry["network"].network_address),
            entry["network"].prefixlen,
            entry["label"],
        ),
    )
    meets: dict[int, set[int]] = {}
    for first, second in overlapping((str(i), entry["network"]) for i, entry in enumerate(entries)):
        pair = (int(first[0]), int(second[0]))
        if frozenset(entries[i]["kind"] for i in pair) in _APART:
            meets.setdefault(pair[0], set()).add(pair[1])
            meets.setdefault(pair[1], set()).add(pair[0])
    return [
        {
            "kind": entry["kind"],
            "label": entry["label"],
            "network": str(entry["network"]),
            "family": entry["network"].version,
            "hosts": entry["hosts"],
            "meets": sorted(meets.get(index, ())),
        }
        for index, entry in enumerate(entries)
    ]


def segments(entries: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """The stretches of the address space that hold ENTRIES (of one family): (first, last), apart and sorted.

    Ranges lie far apart; only what is used is drawn, with a gap between.
    """
    spans = sorted(
        (int(span.network_address), int(span.broadcast_address))
        for span in (ipaddress.ip_network(entry["network"]) for entry in entries)
    )
    found: list[tuple[int, int]] = []
    for first, last in spans:
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found
