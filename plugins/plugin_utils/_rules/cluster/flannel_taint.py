# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel does not tolerate a node's taint.

## What it means
A taint keeps flannel's pod away from the node (NoSchedule) or has evicted it (NoExecute). The DaemonSet controller
adds some tolerations by itself, but not `node.kubernetes.io/not-ready:NoSchedule`, which every node has until its
network works: a manifest that does not tolerate it never starts.

## How it looks
The DaemonSet's desired number is smaller than the number of nodes; the node stays NotReady, `cni plugin not
initialized`, and no flannel pod exists there to look at.

## What looks like it but is not
- A taint that came after flannel's pod: it goes on running, nothing is reported.
- A cordoned or drained node: DaemonSets tolerate that by themselves.
- A node that the DaemonSet's selector leaves out (Windows, virtual nodes), or one that is out of service.

## How it is told
Taints of every node that the DaemonSet selects and that has no flannel pod, against tolerations and those that the
controller adds.

## Mend
Tolerate everything, as upstream's chart does: `operator: Exists` for NoSchedule and NoExecute.

## Prevent
The collection's manifest tolerates both.

## Sources
- flannel issue 1044; kops issue 3317; kubernetes `pkg/controller/daemon/util`
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._scheduling import selects, taint_text, untolerated
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel does not tolerate a node's taint",
    severity="error",
    needs=("cluster.daemonsets", "cluster.nodes", "cluster.pods"),
    remedy="Run podnet.kubeadm.site: its manifest tolerates every taint, as a network's DaemonSet must.",
    repair="flannel:rolled_out",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing", "cni-plugin-missing"),
    rank=20,
)

GONE = ("node.kubernetes.io/out-of-service", "ToBeDeletedByClusterAutoscaler")
"""Taints of nodes that are being taken away."""


def check_cluster(view: View) -> Iterator[Found]:
    flannels = view.cluster.flannel_daemonsets
    if not flannels:
        return
    served = view.cluster.flannel_pods_by_node
    kept_away: dict[str, list[str]] = {}
    for node in view.cluster.nodes:
        if node.name in served or node.has("metadata", "deletionTimestamp"):
            continue
        wanted = [untolerated(one, node) for one in flannels if selects(one.pod_spec, node)]
        taints = min(wanted, key=len, default=[])
        if taints and not any(one.text("key") in GONE for one in taints):
            kept_away[view.place(node.name)] = [taint_text(one) for one in taints]
    if kept_away:
        texts = sorted({text for texts in kept_away.values() for text in texts})
        tolerations = [one.raw for one in flannels[0].pod_spec.items("tolerations")]
        few = ", ".join(texts[:3]) + (", ..." if len(texts) > 3 else "")
        yield Found(
            f"flannel's DaemonSet does not tolerate {few}",
            {"taints": texts, "tolerations": tolerations},
            where=tuple(kept_away),
        )
