# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two flannels on one node.

## What it means
Two DaemonSets run flanneld on the same nodes: usually the one of kube-system from before flannel v0.19 beside the one
of kube-flannel, a renamed one (kube-flannel-ds-amd64), or a distribution's own beside upstream's manifest. Both write
the same lease, subnet.env, flannel.1 and rules.

## How it looks
With equal configurations nothing may be seen for months. With different ones the last writer wins, at every restart
another. A second copy with health checks stays Pending (`didn't have free ports`) or crashes on port 8081.

## What looks like it but is not
- One DaemonSet for each architecture or operating system (kube-flannel-ds-amd64, -arm64, -windows), or for node pools
  with different interfaces: their selectors keep them apart, nothing is reported.
- A DaemonSet that was switched off by a selector that no node has.

## How it is told
Selectors and required affinities of all DaemonSets that run flanneld, evaluated for every node.

## Mend
Delete the older DaemonSet with its ConfigMap, ServiceAccount and binding, keep the one whose configuration is the
cluster's, then run podnet.kubeadm.repair. Do not delete the ClusterRole without applying it again: both share its
name.

## Prevent
When flannel is upgraded across v0.19, delete the DaemonSet of kube-system in the same change.

## Sources
- flannel issues 1615, 1390, 2124; kops issue 15204
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._scheduling import selects
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Two flannels on one node",
    severity="error",
    needs=("cluster.daemonsets", "cluster.nodes"),
    remedy="kubectl delete daemonset of the older flannel, with its ConfigMap and ServiceAccount; "
    "then run podnet.kubeadm.repair.",
    repair="flannel:duplicates",
    explains=("flannel-manifest-old", "flannel-update-ondelete", "image-wrong-arch"),
    rank=20,
)


def check_cluster(view: View) -> Iterator[Found]:
    flannels = view.cluster.flannel_daemonsets
    if len(flannels) < 2:
        return
    doubled: dict[tuple[str, ...], list[str]] = {}
    for node in view.cluster.nodes:
        on = tuple(sorted(f"{one.namespace}/{one.name}" for one in flannels if selects(one.pod_spec, node)))
        if len(on) > 1:
            doubled.setdefault(on, []).append(node.name)
    for names, nodes in doubled.items():
        compared = {"DaemonSets": list(names), "nodes": nodes[:20], "number of nodes": len(nodes)}
        yield Found(f"{len(names)} DaemonSets run flannel on the same nodes: {', '.join(names)}", compared)
