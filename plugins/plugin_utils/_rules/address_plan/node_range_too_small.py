# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A node's range holds fewer pods than the kubelet may start.

## What it means
host-local gives every pod an address of the node's range, without the first, the bridge's and, for IPv4, the last:
253 of a /24, 61 of a /26. The kubelet starts up to `maxPods` (110 by default) whatever the range holds.

## How it looks
Once the node is full, `no IP addresses available in range set`, and pods stay in ContainerCreating.

## What looks like it but is not
- A range used up by leases of pods that are gone: see `ipam-leak`.
- Pods with hostNetwork take no address.

## Mend
Lower `cluster_max_pods` to what the range holds, or choose a shorter `cluster_node_mask` before the cluster is built.

## Prevent
The plan's `capacity` says how many pods a node's range holds.

## Sources
- containernetworking/plugins `plugins/ipam/host-local/backend/allocator/range.go`
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found, Malformed
from ..._plan import AddressPlan
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A node's range holds fewer pods than the kubelet may start",
    severity="error",
    needs=("intent.pod_cidr",),
    remedy="Lower cluster_max_pods to what the node's range holds, or choose a shorter cluster_node_mask.",
    explains=("ipam-leak",),
    rank=30,
)


def check_intent(view: View) -> Iterator[Found]:
    try:
        if view.intent.has("max_pods") and view.intent.max_pods < 1:
            yield Found("max_pods allows no pod", {"max_pods": view.intent.max_pods})
    except Malformed as malformed:
        yield Found("max_pods is no whole number", {"max_pods": malformed.why})
    yield from _room(view.plan, "error" if view.stage != "cluster" else "warning")


def check_cluster(view: View) -> Iterator[Found]:
    yield from _room(view.running_plan, "warning")


def _room(plan: AddressPlan, severity: str) -> Iterator[Found]:
    for version in plan.versions:
        pods, mask = plan.pods_per_node(version), plan.node_mask[version]
        if pods < plan.max_pods:
            compared = {"node mask": mask, "pods that fit": pods, "max pods": plan.max_pods}
            text = f"a node's range of /{mask} holds {pods} pods, max_pods is {plan.max_pods}"
            yield Found(text, compared, severity=severity)
