# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No flannel in the cluster.

## What it means
No DaemonSet and no pod runs flanneld, in whatever namespace, so nobody writes a subnet.env and no pod gets an address.

## How it looks
Nodes are NotReady (`cni plugin not initialized`), CoreDNS is Pending or ContainerCreating. Often another manifest was
applied in its place, or `kubectl apply` failed half way. Nodes that ran flannel before stay Ready and only new or
rebooted ones fail.

## What looks like it but is not
- Between `kubeadm init` and the step that applies flannel this is the normal state.
- Another network (Calico, Cilium, ...) is there on purpose: nothing is reported; see `cni-other-installed` where both
  are.
- k3s and RKE2 run flannel inside their agent, without a DaemonSet: nothing is reported.
- A DaemonSet that is there and schedules nothing: see `flannel-taint`.

## How it is told
Every DaemonSet and pod of every namespace is searched for a container that runs flanneld; names do not matter.

## Mend
Run podnet.kubeadm.site, which applies flannel with the cluster's own range. What was applied instead can stay.

## Prevent
`site` applies flannel right after the control plane and waits for its proof.

## Sources
- flannel issue 1989; kubernetes/website issue 10377
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._other_cni import other_networks
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="No flannel in the cluster",
    severity="error",
    needs=("cluster.daemonsets",),
    remedy="Run podnet.kubeadm.site: it applies flannel with the cluster's pod range.",
    repair="flannel:rolled_out",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing", "cni-plugin-missing"),
    rank=20,
)


def check_cluster(view: View) -> Iterator[Found]:
    cluster = view.cluster
    if cluster.flannel_daemonsets or (cluster.has("pods") and cluster.flannel_pods):
        return
    if other_networks(cluster.daemonsets) or _built_in(view):
        return
    found = [f"{one.namespace}/{one.name}" for one in cluster.daemonsets]
    yield Found("no DaemonSet and no pod of the cluster runs flanneld", {"DaemonSets found": found})


def _built_in(view: View) -> bool:
    """Whether the distribution runs flannel in its own agent."""
    versions = [node.text("status", "nodeInfo", "kubeletVersion") for node in view.cluster.nodes]
    return any("+k3s" in one or "+rke2" in one for one in versions)
