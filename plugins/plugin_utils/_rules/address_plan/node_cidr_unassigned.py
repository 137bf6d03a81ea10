# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Some nodes have no pod range though others have.

## What it means
The controller manager gives a node its range when it first sees it. It did not: it is down or restarting, its
allocator is stuck, or no range is left.

## How it looks
Old nodes work; the new one's flannel pod says `node "n4" pod cidr not assigned`.

## What looks like it but is not
- No node has one: see `pod-cidr-missing`. The configuration lost the range: see `pod-cidr-lost`.
- All ranges are used up: see `capacity-too-small`.
- A node that registered seconds ago gets its range in a moment; it is not reported in its first minute.

## Mend
Look at the controller manager's pods and log; where it says that no range is left while there are free ones,
restart it. Do not patch the node's podCIDR.

## Prevent
Watch the controller manager and `node_ipam_controller_cidrset_usage_cidrs`.

## Sources
- kubernetes `pkg/controller/nodeipam/ipam/range_allocator.go`; kubernetes issues 85866, 103898
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from ..._evidence._kube import KubeNode
from ..._evidence._said import told
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Nodes have no pod range",
    severity="error",
    needs=("cluster.nodes",),
    remedy="Look at the controller manager: kubectl -n kube-system logs -l component=kube-controller-manager.",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing"),
    rank=40,
)

_SAID = re.compile(r'node "(?P<node>[^"]+)" pod cidr not assigned')


def check_cluster(view: View) -> Iterator[Found]:
    if not view.cluster.has("nodes"):
        names = sorted({one["node"] for one in told(view, _SAID).values()})
        if names:
            text = "flannel says that its node has no pod range"
            yield Found(text, {"nodes": names}, where=("cluster", *map(view.place, names)))
            return
    without = [node.name for node in view.cluster.nodes if not node.pod_cidr_texts and not _just_registered(node, view)]
    if without:
        events = [
            one.text("message")
            for one in (view.cluster.events if view.cluster.has("events") else [])
            if one.text("reason") == "CIDRNotAvailable" and one.text("involvedObject", "name") in without
        ]
        compared = {"spec.podCIDR": None, "nodes in all": len(view.cluster.nodes), "events": sorted(set(events))[:3]}
        yield Found("nodes have no pod range", compared, where=tuple(without))


def _just_registered(node: KubeNode, view: View) -> bool:
    try:
        created = datetime.fromisoformat(node.text("metadata", "creationTimestamp").replace("Z", "+00:00"))
        return 0 <= (view.now - created).total_seconds() < 60
    except (ValueError, TypeError, Missing):
        return False
