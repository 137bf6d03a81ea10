# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which probes one node makes.

PRIVATE to the collection. Pure. The paths are a table: adding one is adding a line, and its function
in C(_probe_asker).
"""

from __future__ import annotations

import fnmatch
import hashlib
from dataclasses import dataclass, field
from typing import Any

PATHS = {
    "tcp/pod": "TCP to a pod of another node",
    "udp/pod": "UDP to a pod of another node",
    "icmp/pod": "a full packet, not to be cut, to a pod of another node",
    "bulk/pod": "1 MiB there and back to a pod of another node",
    "tcp/local": "TCP to another pod of the same node",
    "tcp/vip": "TCP to the address of a service, until each of its pods has answered",
    "udp/vip": "UDP to the address of a service",
    "tcp/hairpin": "a pod to itself through its service",
    "udp/name": "the name of a service, from the cluster's DNS over UDP",
    "tcp/name": "the name of a service, from the cluster's DNS over TCP",
    "tcp/service": "the API server through its service address",
    "tcp/kubelet": "the kubelet of the pod's own node",
    "tcp/node": "TCP from a node itself to a pod of another node",
    "tcp/hostport": "TCP to the hostPort of another node",
    "tcp/outside": "TCP to an address outside of the cluster",
}
# Beyond this number of nodes each asks the next PEERS ones instead of all.
ALL_PAIRS, PEERS = 12, 10


@dataclass(frozen=True)
class Probe:
    """One path. target: the other node, or this one. address: what is asked. where: it starts, C(pod) or C(node)."""

    what: str
    target: str
    address: str
    where: str = "pod"
    extra: dict[str, Any] = field(default_factory=dict, hash=False)


def chosen(what: str, patterns: list[str]) -> bool:
    """Whether *what* is among *patterns*: shell patterns, C(!) excludes, and none chooses everything."""
    included = [pattern for pattern in patterns if not pattern.startswith("!")]
    excluded = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    if any(fnmatch.fnmatch(what, pattern) for pattern in excluded):
        return False
    return not included or any(fnmatch.fnmatch(what, pattern) for pattern in included)


def unknown_patterns(patterns: list[str]) -> list[str]:
    """Those of *patterns* that match no path: a typo would otherwise silently test nothing."""
    return [one for one in patterns if not any(fnmatch.fnmatch(what, one.lstrip("!")) for what in PATHS)]


def partners(node: str, nodes: list[str], all_pairs: bool) -> list[str]:
    """The nodes that *node* asks: all others, or in a large cluster the next ones on a ring by hash (O(nodes))."""
    others = [one for one in nodes if one != node]
    if all_pairs or len(nodes) <= ALL_PAIRS:
        return others
    ring = sorted(nodes, key=lambda one: hashlib.sha256(one.encode()).digest())
    at = ring.index(node) if node in ring else 0
    return [ring[(at + step) % len(ring)] for step in range(1, PEERS + 1)]


def plan(
    node: str, peers: list[dict[str, Any]], targets: dict[str, Any], patterns: list[str], all_pairs: bool
) -> list[Probe]:
    """The probes of *node*.

    peers: per node C(name), C(addresses) (its probe pod's), C(local_addresses) (another pod on it, if any),
    C(host_addresses). targets: C(services) (addresses), C(name), C(dns) (addresses), C(api) (addresses),
    C(host_port), C(outside) (C(HOST:PORT) list); each may be missing, which leaves out its paths.
    """
    by_name = {peer["name"]: peer for peer in peers}
    mine = by_name.get(node, {})
    others = [by_name[name] for name in partners(node, list(by_name), all_pairs)]
    probes = []
    for peer in others:
        for address in peer.get("addresses") or []:
            for what in ("tcp/pod", "udp/pod", "icmp/pod", "bulk/pod"):
                probes.append(Probe(what, peer["name"], address))
            probes.append(Probe("tcp/node", peer["name"], address, "node"))
        if targets.get("host_port"):
            for address in peer.get("host_addresses") or []:
                probes.append(Probe("tcp/hostport", peer["name"], address))
    probes += [Probe("tcp/local", node, address) for address in mine.get("local_addresses") or []]
    names = sorted(name for name, peer in by_name.items() if peer.get("addresses"))
    for address in targets.get("services") or []:
        extra = {"expected": names}
        probes += [Probe(what, node, address, extra=extra) for what in ("tcp/vip", "udp/vip")]
    for address in targets.get("dns") or []:
        probes += [Probe(what, node, address) for what in ("udp/name", "tcp/name")]
    probes += [Probe("tcp/service", node, address) for address in targets.get("api") or []]
    probes += [Probe("tcp/kubelet", node, address) for address in (mine.get("host_addresses") or [])[:1]]
    probes += [Probe("tcp/outside", node, address) for address in targets.get("outside") or []]
    # tcp/hairpin is told from the answers of tcp/vip, so it has no probe of its own.
    asked = [probe for probe in probes if chosen(probe.what, patterns)]
    if not any(probe.what == "tcp/vip" for probe in asked) and chosen("tcp/hairpin", patterns):
        asked += [probe for probe in probes if probe.what == "tcp/vip"]
    return asked
