# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod range has fewer node ranges than there are nodes.

## What it means
The controller manager cuts the pod range into ranges of the node mask's size: 2^(node mask - pod prefix) of them.
The node after the last one gets none.

## How it looks
The newest node stays NotReady, its flannel pod says `pod cidr not assigned`, an event says `CIDRNotAvailable`.

## What looks like it but is not
- One node without a range while ranges are left: see `node-cidr-unassigned`.
- Exactly as many ranges as nodes is allowed; it leaves no room for a replacement, and that is only noted.

## Mend
Before: a wider `cluster_pod_cidr` or a longer `cluster_node_mask`. On a running cluster remove Node objects of
machines that are gone; a wider pod range that contains the old one can be introduced, another node mask cannot.

## Prevent
Set `cluster_planned_nodes` to what the cluster shall grow to.

## Sources
- kubernetes `pkg/controller/nodeipam/ipam/cidrset/cidr_set.go`; kubernetes issue 85866
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found, Malformed
from ..._plan import FAMILY, AddressPlan
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Fewer node ranges than nodes",
    severity="error",
    needs=("intent.pod_cidr",),
    remedy="Choose a wider cluster_pod_cidr, or a longer cluster_node_mask, before the cluster is built.",
    explains=("node-cidr-unassigned",),
    rank=25,
)


def check_intent(view: View) -> Iterator[Found]:
    try:
        if view.intent.has("planned_nodes"):
            _number = view.intent.planned_nodes
    except Malformed as malformed:
        yield Found("planned_nodes is no whole number", {"planned_nodes": malformed.why})
    yield from _capacity(view.plan, "nodes are planned")


def check_cluster(view: View) -> Iterator[Found]:
    yield from _capacity(view.running_plan, "nodes are there")


def _capacity(plan: AddressPlan, what: str) -> Iterator[Found]:
    if not plan.planned_nodes:
        return
    for one in plan.pod:
        ranges = plan.node_ranges(one)
        mask = plan.node_mask[one.version]
        compared = {"pod range": str(one), "node mask": mask, "node ranges": ranges, what: plan.planned_nodes}
        if 0 < ranges < plan.planned_nodes:
            text = f"{one} has {ranges} {FAMILY[one.version]} node ranges of /{mask}, {plan.planned_nodes} {what}"
            yield Found(text, compared)
        elif ranges == plan.planned_nodes:
            text = f"{one} has exactly as many node ranges of /{mask} as {what}, none is left for one more"
            yield Found(text, compared, severity="info")
