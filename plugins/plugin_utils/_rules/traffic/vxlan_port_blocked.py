# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The backend's port does not pass between nodes.

## What it means
Packets of pods travel between nodes inside UDP (8472 for vxlan, or Backend.Port; 51820 for wireguard). A rule on the
receiving host, a cloud's security group, or the network below drops them.

## How it looks
Pods of different nodes do not reach each other, nor DNS on another node; pods of one node, node ports and the API
server are fine. Only outgoing packets are seen in a capture. Nothing is logged.

## What looks like it but is not
- The same picture with missing routes: see `route-missing`, or with a wrong peer address: see `public-ip-wrong`.
- The nodes do not reach each other at all: then the port is not what is wrong, nothing is reported here.
- 8472 is open and the backend uses another port, which is closed: that is this fault.
- host-gw has no port.

## How it is told
A datagram to the port from every node to every other, where the nodes do reach each other; the rules of each host
walked for a packet from other nodes. Where all that fails has one receiver in common, that host is named.

## Mend
Open the port between nodes: podnet.kubeadm.repair on hosts whose own rules drop it; in the cloud, the security group.
Where the platform takes 8472 for itself, another `flannel_port`.

## Prevent
`firewall_mode: asserted` stops site where the plan's port is closed; `permitted` opens it.

## Sources
- flannel issues 1039, 423, 2388; `Documentation/backends.md`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..._evidence._forwarding import arriving
from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The backend's port does not pass between nodes",
    severity="error",
    needs=("nodes.probes", "nodes.iptables"),
    remedy="Open the backend's port between nodes: podnet.kubeadm.repair for the hosts' own rules (firewall_mode: "
    "permitted), the security group for the cloud's; or set another flannel_port.",
    repair="firewall:permitted",
    rank=40,
)


@dataclass(frozen=True)
class Fact:
    """Of one host: to whom the port passed or not, and the rule that drops it on arrival."""

    passed: frozenset[str]
    failed: frozenset[str]
    rule: dict[str, Any] | None


def collect(node: Host, view: View) -> Fact | None:
    port = view.overlay.port
    if port is None:
        return None
    passed, failed = _probes(node, port)
    if not node.has("probes") and not (node.has("iptables") or node.has("nft")):
        raise Missing(f"{node.path}.probes")
    return Fact(passed, failed, _rule(node, view, port))


def _probes(node: Host, port: int) -> tuple[frozenset[str], frozenset[str]]:
    """Hosts that the port reached, and those that it did not although something else did."""
    if not node.has("probes"):
        return frozenset(), frozenset()
    unreachable = {one.text("to") for one in node.probe("icmp-host/") if one.flag("ok") is False}
    unreachable -= {one.text("to") for one in node.probe("icmp-host/") if one.flag("ok") is True}
    tried = {one.text("to"): one.flag("ok") for one in node.probe(f"udp/{port}") if one.text("to") != node.name}
    passed = frozenset(name for name, ok in tried.items() if ok is True)
    return passed, frozenset(name for name, ok in tried.items() if ok is False and name not in unreachable)


def _rule(node: Host, view: View, port: int) -> dict[str, Any] | None:
    if not (node.has("iptables") or node.has("nft")) or not node.has("ip_address"):
        return None
    try:
        for source, verdict in arriving(node, view, "udp", port):
            if verdict.verdict == "drop" and verdict.by:
                by = verdict.by
                return {"from": source, "rule": by.rule, "chain": by.chain, "table": by.table, "owner": by.owner}
    except Missing:
        pass
    return None


def check_nodes(facts: dict[str, Fact], view: View) -> Iterator[Found]:
    port = view.overlay.port
    closed = {name: fact.rule for name, fact in facts.items() if fact.rule and not _reached(name, facts)}
    for name, rule in closed.items():
        seen = any(name in fact.failed for fact in facts.values())
        severity = None if seen or view.stage == "cluster" else "warning"
        yield Found(f"udp/{port} from other nodes is dropped by the host's own rules", rule or {}, name, severity)
    pairs = [
        (sender, receiver)
        for sender, fact in facts.items()
        for receiver in fact.failed
        if sender not in closed and receiver not in closed
    ]
    if pairs:
        deaf = sorted({receiver for _sender, receiver in pairs if not _reached(receiver, facts)})
        compared = {"failed": [f"{sender} to {receiver}" for sender, receiver in sorted(pairs)[:20]]}
        for name in deaf or sorted({name for pair in pairs for name in pair}):
            yield Found(f"udp/{port} does not pass between nodes that reach each other", compared, name)


def _reached(name: str, facts: dict[str, Fact]) -> bool:
    """Whether the port of a host was reached from anywhere."""
    return any(name in fact.passed for fact in facts.values())
