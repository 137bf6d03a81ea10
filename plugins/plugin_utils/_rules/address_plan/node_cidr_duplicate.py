# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two nodes have the same pod range, or ranges that overlap.

## What it means
Two nodes give the same addresses to pods. Routes and flannel's neighbours know one of the two only.

## How it looks
Pods with equal addresses; connections reach the wrong pod, or end half way, depending on who asks. Often after
someone patched an empty `spec.podCIDR` by hand, with the whole pod range or with a neighbour's.

## What looks like it but is not
Pods with hostNetwork share their node's address, and rightly so.

## Mend
Keep the nodes whose range is of the usual size. For each other one: drain, delete the Node object, restart the
controller managers, clean its CNI state (or reboot), start the kubelet, which registers again and gets a range of its
own; then restart flannel's DaemonSet. spec.podCIDR cannot be changed in place. A controller manager that goes on takes
all of a deleted node's range for free, ranges of other nodes within it too, and gives them out again.

## Prevent
Never patch spec.podCIDR; give the range to the controller manager: see `pod-cidr-missing`.

## Sources
- flannel issues 1224, 1549; PR 1550
- kubernetes issue 19854: node updates may not change podCIDR
- tried: after a node with the whole range was deleted, it registered again and got the range of another node
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._net import overlapping
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Nodes have the same pod range",
    severity="error",
    needs=("cluster.nodes",),
    remedy="Drain and delete all but one of these Node objects (a range of another size first), restart the controller "
    "managers, which take the deleted ranges for free, clean the nodes' CNI state, start their kubelets again, and run "
    "kubectl -n kube-flannel rollout restart daemonset/kube-flannel-ds.",
    explains=("fdb-stale", "route-stale", "route-missing"),
    rank=8,
)


def check_cluster(view: View) -> Iterator[Found]:
    named = [(node.name, one) for node in view.cluster.nodes for one in node.pod_networks]
    shared: dict[str, set[str]] = {}
    for (name, outer), (other, inner) in overlapping(named):
        if name != other:
            shared.setdefault(name, set()).add(str(outer))
            shared.setdefault(other, set()).add(str(inner))
    if shared:
        ranges = {name: ", ".join(sorted(texts)) for name, texts in sorted(shared.items())}
        yield Found("nodes have pod ranges that are equal or overlap", ranges, where=tuple(ranges))
