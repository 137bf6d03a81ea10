# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pod range and service range overlap.

## What it means
One address can then be a pod's and a service's. kubeadm does not compare the two. The controller manager leaves the
service range out when it gives ranges to nodes, so that a pod range inside the service range leaves nothing to give.

## How it looks
`kubeadm init` succeeds. Where the service range covers the pod range, no node ever gets a pod CIDR and flannel ends
with `node "n1" pod cidr not assigned`. Where they only meet, some services cannot be reached, from some nodes.

## What looks like it but is not
A pod range beside the service range (10.244.0.0/16 and 10.96.0.0/12) is no overlap: 10.96.0.0/12 ends at
10.111.255.255. Nodes without a pod CIDR and ranges that are apart: see `pod-cidr-missing`, `node-cidr-unassigned`.

## Mend
Before the cluster is built: choose ranges that are apart. On a running cluster the service range cannot be changed
in place; a new cluster, or a new pod range with every node joined again, is what helps.

## Prevent
Keep kubeadm's default service range 10.96.0.0/12 and a pod range outside it, such as the default 10.244.0.0/16.

## Sources
- kubernetes/kubeadm issue 3312: no validation of the overlap
- kubernetes `pkg/controller/nodeipam/ipam/range_allocator.go`: filterOutServiceRange
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._net import Network, overlapping
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Pod range and service range overlap",
    severity="error",
    needs=("intent.pod_cidr", "intent.service_cidr"),
    remedy="Set cluster_pod_cidr and cluster_service_cidr to ranges that are apart before the cluster is built.",
    explains=("node-cidr-unassigned", "pod-cidr-missing", "service-path-broken", "capacity-too-small"),
    rank=10,
)


def check_intent(view: View) -> Iterator[Found]:
    yield from _compare(list(view.plan.pod), list(view.plan.service))


def check_cluster(view: View) -> Iterator[Found]:
    yield from _compare(view.cluster.pod_networks(), view.cluster.service_networks())


def _compare(pod: list[Network], service: list[Network]) -> Iterator[Found]:
    named = [("pod", one) for one in pod] + [("service", one) for one in service]
    for (kind, outer), (other, inner) in overlapping(named):
        if kind != other:
            ranges = {kind: str(outer), other: str(inner)}
            yield Found(f"the {kind} range {outer} and the {other} range {inner} overlap", ranges)
