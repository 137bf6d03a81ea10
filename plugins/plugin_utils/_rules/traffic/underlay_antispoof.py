# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The network below the nodes drops frames that carry pod addresses.

## What it means
With host-gw (or DirectRouting) packets of pods travel bare: their source is a pod's address with the node's MAC.
Clouds and hypervisors that check the source of every frame (OpenStack port security, EC2's source/destination check,
vSphere's and Hyper-V's spoof guards) drop them.

## How it looks
Nodes reach each other, no pod reaches a pod of another node; routes and rules are right on both sides; nothing
arrives.

## What looks like it but is not
- A tunnel backend: its packets carry the nodes' own addresses.
- Routes that are missing, or go by a router: see `route-missing`, `l2-adjacency`.
- Rules of the hosts that drop: see `forward-policy-drop` and its neighbours.

## How it is told
Probes: the nodes reach each other and their pods do not, in both directions, with host-gw, with routes and accepting
rules on the hosts at both ends. It cannot be seen in any configuration.

## Mend
Allow the pod range on the ports of the nodes (allowed address pairs, source/destination check off), or change the
backend: `flannel_backend: vxlan`.

## Prevent
vxlan, unless the network is yours.

## Sources
- OpenStack "port security"; AWS "source/destination checks"; flannel `Documentation/backends.md`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..._evidence._forwarding import lets_pass
from ..._evidence._host import Host
from ..._evidence._overlay import is_flannel_link
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The network below the nodes drops frames that carry pod addresses",
    severity="error",
    needs=("nodes.probes", "cluster.flannel_config", "nodes.ip_route"),
    remedy="Allow the pod range on the nodes' ports (allowed address pairs, source check off), or set "
    "flannel_backend: vxlan and run podnet.kubeadm.site.",
    rank=60,
)

_OWN_ADDRESSES = ("icmp-host/", "tcp/hostport")
"""Probes whose packets have the nodes' own addresses on the way."""


@dataclass(frozen=True)
class Fact:
    """Of one host: targets whose node answers and whose pods do not, and whether the host itself would let them."""

    bare: frozenset[str]
    clean: bool


def collect(node: Host, view: View) -> Fact | None:
    conf = view.overlay
    own = view.kube_node(node)
    if own is None or not (conf.backend == "host-gw" or conf.direct):
        return None
    nodes = {one.text("to") for what in _OWN_ADDRESSES for one in node.probe(what) if one.flag("ok") is True}
    pods = {one.text("to"): one.flag("ok") for one in node.probe("tcp/pod") if one.text("to") != node.name}
    bare = {to for to, ok in pods.items() if ok is False and to in nodes}
    if not bare:
        return Fact(frozenset(), True)
    leases, present = view.lease_by_text[4], node.main_by_text(4)
    direct = {dst for dst, one in present.items() if one.get("gateway") and not is_flannel_link(str(one.get("dev")))}
    bare &= {view.place(leases[dst].node) for dst in direct & leases.keys()}
    routed = not leases.keys() - present.keys() - set(map(str, own.pod_networks))
    return Fact(frozenset(bare), routed and lets_pass(node, view))


def check_nodes(facts: dict[str, Fact], view: View) -> Iterator[Found]:
    pairs = [
        (name, other)
        for name, fact in sorted(facts.items())
        for other in sorted(fact.bare)
        if name < other and other in facts and name in facts[other].bare and fact.clean and facts[other].clean
    ]
    if pairs:
        compared = {"pairs": [f"{one} and {other}" for one, other in pairs[:20]]}
        where = tuple(dict.fromkeys(name for pair in pairs for name in pair))
        yield Found("nodes reach each other and their pods do not, with bare packets", compared, where)
