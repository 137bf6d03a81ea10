# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A route to another node's pods is missing.

## What it means
flanneld writes one route for every other node when it sees that node. The vxlan backend does not look again: a route
that somebody took away stays away until flannel is restarted.

## How it looks
Pods of two nodes do not reach each other, in both directions, while every other pair does. No log line.

## What looks like it but is not
- Flannel does not run on the node, or its link is gone: the routes are then a consequence, an info.
- A node without a lease (flannel never ran there, or it has no pod CIDR): nobody has a route to it.
- DirectRouting and host-gw: the route goes by the other node's address instead of the tunnel.
- The udp and wireguard backends have one route for the whole network.

## How it is told
The main table of the host against the leases of all other nodes.

## Mend
Restart flannel's pod on the node; do not add routes by hand, the next one would be missing again.

## Prevent
What takes the routes away is often a network manager: see `host-network-manager`.

## Sources
- flannel issues 1070, 1434, 1759; tried: a deleted route was still missing after 60 s
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._net import covered, network
from ..._evidence._overlay import ROUTED, Lease, is_flannel_link
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A route to another node's pods is missing",
    severity="error",
    needs=("nodes.ip_route", "cluster.flannel_config", "cluster.nodes", "cluster.pods"),
    remedy="Run podnet.kubeadm.repair, which restarts flannel's pod on that node.",
    repair="flannel:restart",
    explains=("fdb-stale",),
    rank=45,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    runs = view.flannel_runs(node)
    own = view.kube_node(node)
    if runs is None or own is None or view.overlay_on(own).backend not in ROUTED:
        return
    for version in view.overlay.versions:
        leases, present = view.lease_by_text[version], node.main_by_text(version)
        absent = leases.keys() - present.keys() - set(map(str, own.pod_networks))
        if not absent:
            continue
        wide = [
            found
            for dst, one in present.items()
            if is_flannel_link(str(one.get("dev"))) and dst not in leases and (found := network(dst))
        ]
        missing = [
            leases[text]
            for text in sorted(absent)
            if leases[text].node != own.name and not covered(leases[text].network, wide)
        ]
        if missing:
            yield _found(missing, len(view.leases), runs)


def _found(missing: list[Lease], leases: int, runs: bool) -> Found:
    few = ", ".join(str(one.network) for one in missing[:3])
    summary = f"no route to the pods of {len(missing)} other nodes" if len(missing) > 3 else f"no route to {few}"
    return Found(
        summary if runs else f"{summary}, for flannel does not run",
        {"missing": {one.node: str(one.network) for one in missing[:20]}, "of": leases},
        severity=None if runs else "info",
    )
