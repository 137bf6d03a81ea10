# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A route points to pods of a node that is gone.

## What it means
Flannel's route for a former node, or for a node's former range, is still there. It does no harm until the range is
given to another node; then packets for that node go astray on this host.

## How it looks
Nothing, or one pair of nodes that do not reach each other after a node was replaced.

## What looks like it but is not
- The node exists and flannel does not run on it: its route may stay.
- Routes of the kernel for the link itself, blackhole routes (`--ip-blackhole-route`), and routes that are not
  flannel's.
- Several clusters behind one host, whose ranges are outside this one's.

## How it is told
Routes over flannel's links, and routes into the pod range by a gateway, against the pod ranges of all nodes.

## Mend
podnet.kubeadm.repair lets flannel make its link anew, which takes its routes away. A restart of flannel alone does not:
it adds routes and leaves those that are there. Or `ip route del RANGE`, where no node stands behind it.

## Prevent
Drain and delete nodes while flannel runs on the others.

## Sources
- flannel issue 2554; tried with v0.28.10: the route was still there after flannel was restarted
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._item import Item
from ..._evidence._net import Network, covered, network
from ..._evidence._overlay import is_flannel_link
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A route points to pods of a node that is gone",
    severity="warning",
    needs=("nodes.ip_route", "cluster.nodes"),
    remedy="Run ip route del for these ranges on that node.",
    explains=("fdb-stale",),
    rank=60,
)

_RELINK = "Run podnet.kubeadm.repair, which lets flannel make its link anew, or ip route del for these ranges there."


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.kube_node(node) is None:
        return
    pods = view.pod_networks
    stale = {
        dst: node.main_by_text(version)[dst]
        for version in (4, 6)
        if version == 4 or node.has("ip6_route")
        for dst in sorted(node.main_by_text(version).keys() - view.node_texts)
        if _flannels(Item(node.main_by_text(version)[dst])) and _a_nodes(network(dst), pods)
    }
    if stale:
        summary = f"routes to pod ranges that no node has: {', '.join(list(stale)[:5])}"
        compared = {"routes": list(stale)[:50]}
        if all(is_flannel_link(str(one.get("dev"))) for one in stale.values()):
            yield Found(summary, compared, remedy=_RELINK, repair="flannel:relink")
        else:
            yield Found(summary, compared)


def _flannels(route: Item) -> bool:
    """Whether flannel may have written the route."""
    if route.text("protocol") in ("kernel", "ra", "dhcp", "static"):
        return False
    return is_flannel_link(route.text("dev")) or bool(route.text("gateway"))


def _a_nodes(found: Network | None, pods: list[Network]) -> bool:
    """Whether it is a part of the pod range, as one node's share is."""
    return found is not None and covered(found, pods) and found not in pods
