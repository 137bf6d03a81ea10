# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's tunnel link is not there.

## What it means
The backend's link (flannel.1 for vxlan, flannel-wg for wireguard) is absent or down on a node where flannel runs. Its
routes went with it, so that packets for other nodes' pods leave by the default route.

## How it looks
Pods of the node reach each other and the API server, never pods of other nodes; nothing is logged.

## What looks like it but is not
- No cni0: it appears with the first pod that has an address, and is no fault before.
- Flannel does not run on the node (a crash, no pod, not a member): the link is then a consequence, an info.
- host-gw has no link of its own.
- A link that is there with other attributes: see `stale-link`.

## How it is told
Links of the host against the backend in net-conf.json (VNI, families).

## Mend
Restart flannel's pod on that node: it makes link, routes and neighbours again. flanneld that is left running makes the
link again within a second, but not the routes.

## Prevent
Keep network managers away from it: see `host-network-manager`.

## Sources
- flannel issues 869, 878, 1348; tried: `ip link del flannel.1` left a new link without routes
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's tunnel link is not there",
    severity="error",
    needs=("nodes.ip_address", "cluster.flannel_config", "cluster.nodes", "cluster.pods"),
    remedy="Run podnet.kubeadm.repair, which restarts flannel's pod on that node.",
    repair="flannel:restart",
    explains=("route-missing", "fdb-stale", "flannel-rules-missing"),
    rank=35,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    own, runs = view.kube_node(node), view.flannel_runs(node)
    if own is None:
        return
    for name in view.overlay_on(own).tunnels.values():
        link = node.link(name)
        if link is not None and link.up:
            continue
        state = "is down" if link else "does not exist"
        if runs:
            yield Found(f"{name} {state} although flannel runs", {"link": name, "state": state})
        else:
            yield Found(f"{name} {state}, for flannel does not run", {"link": name, "state": state}, severity="info")
