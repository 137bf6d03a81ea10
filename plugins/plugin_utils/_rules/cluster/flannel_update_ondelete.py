# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A change of flannel never reaches its pods.

## What it means
The DaemonSet's update strategy is OnDelete: a new template is used only for pods that somebody deletes. An upgrade
looks done and every node runs the former version, some of them both.

## How it looks
`kubectl rollout status` is content; `updatedNumberScheduled` is smaller than the desired number; images of pods
differ from the template's.

## What looks like it but is not
- OnDelete with every pod up to date: an info.
- RollingUpdate that is under way, or that stands still because the first new pod fails: that pod's cause is the
  finding.

## How it is told
Strategy, and the number of updated pods; where that is not given, the pods' images against the template's.

## Mend
Delete flannel's pods node by node, or set the strategy to RollingUpdate: podnet.kubeadm.site does.

## Prevent
RollingUpdate with maxUnavailable 1, which is flannel's default.

## Sources
- epiphany issue 1482; kubernetes documentation, "DaemonSet update strategy"
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._kube import DaemonSet
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A change of flannel never reaches its pods",
    severity="warning",
    needs=("cluster.daemonsets",),
    remedy="Run podnet.kubeadm.site: it sets RollingUpdate and rolls flannel's pods node by node.",
    repair="flannel:rolled_out",
    explains=("flannel-restart-pending",),
    rank=40,
)


def check_cluster(view: View) -> Iterator[Found]:
    for daemonset in view.cluster.flannel_daemonsets:
        if daemonset.text("spec", "updateStrategy", "type") != "OnDelete":
            continue
        old = _old(view, daemonset)
        compared = {"updateStrategy": "OnDelete", "pods of an older template": old}
        if old:
            yield Found("flannel's pods are of an older template, and the update strategy is OnDelete", compared)
        else:
            yield Found("flannel's update strategy is OnDelete, so its next change waits", compared, severity="info")


def _old(view: View, daemonset: DaemonSet) -> int:
    """How many pods are not of the present template."""
    status = daemonset.item("status")
    desired, updated = status.number("desiredNumberScheduled"), status.number("updatedNumberScheduled")
    if desired is not None and updated is not None:
        return max(0, desired - updated)
    if desired is not None and status.number("observedGeneration") not in (None, 1) and updated is None:
        return desired  # the API leaves a zero out
    wanted = set(daemonset.images)
    return sum(1 for pod in view.cluster.flannel_pods if set(pod.images) != wanted) if view.cluster.has("pods") else 0
