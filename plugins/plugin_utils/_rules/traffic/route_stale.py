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
Restart flannel's pod on the host. Remove by hand only entries that no node stands behind.

## Prevent
Drain and delete nodes while flannel runs on the others.

## Sources
- flannel issue 2554
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
    remedy="Run podnet.kubeadm.repair, which restarts flannel's pod on that node.",
    repair="flannel:restart",
    explains=("fdb-stale",),
    rank=60,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.kube_node(node) is None:
        return
    pods = view.pod_networks
    stale = sorted(
        dst
        for version in (4, 6)
        if version == 4 or node.has("ip6_route")
        for dst in node.main_by_text(version).keys() - view.node_texts
        if _flannels(Item(node.main_by_text(version)[dst])) and _a_nodes(network(dst), pods)
    )
    if stale:
        yield Found(f"routes to pod ranges that no node has: {', '.join(stale[:5])}", {"routes": stale[:50]})


def _flannels(route: Item) -> bool:
    """Whether flannel may have written the route."""
    if route.text("protocol") in ("kernel", "ra", "dhcp", "static"):
        return False
    return is_flannel_link(route.text("dev")) or bool(route.text("gateway"))


def _a_nodes(found: Network | None, pods: list[Network]) -> bool:
    """Whether it is a part of the pod range, as one node's share is."""
    return found is not None and covered(found, pods) and found not in pods
