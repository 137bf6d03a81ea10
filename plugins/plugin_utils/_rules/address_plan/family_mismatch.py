# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pod ranges and service ranges are not of the same families.

## What it means
A cluster is IPv4, IPv6 or both, and both kinds of range have to say the same: one of each family at most. A service
address of a family that pods do not have leads nowhere.

## How it looks
kubeadm accepts some of it (`expected one (IPv4 or IPv6) CIDR or two CIDRs from each family for dual-stack networking`
where two are of one family); services of the lonely family have no endpoints. Where a node has more than two ranges,
flannel ends with `node "n3" pod cidrs should be IPv4/IPv6 only or dualstack`.

## What looks like it but is not
- The same families in another order: see `family-order`.
- Nodes of a running cluster that lack a family: see `live-cidr-change`.

## Mend
Give a range of every family to both `cluster_pod_cidr` and `cluster_service_cidr`. The API server lets nobody give a
node two ranges of one family; where one has them all the same, delete the Node object: the node registers again. With
more than two, flannel on the other nodes does not follow: delete its routes to the former range there.

## Prevent
The defaults are both IPv4; a dual-stack cluster names two of each.

## Sources
- kubernetes documentation, "Dual-stack support with kubeadm"; flannel `pkg/subnet/kube/kube.go`, AcquireLease
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found
from ..._plan import AddressPlan
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Pod and service ranges are of different families",
    severity="error",
    needs=("intent.pod_cidr",),
    remedy="Give one range of each family to both cluster_pod_cidr and cluster_service_cidr.",
    explains=("cluster-dns-outside",),
    rank=15,
)

_AGAIN = (
    "Drain the node, delete the Node object, clean the node's CNI state, start its kubelet, which registers it again, "
    "and on the other nodes run ip route del for the former range, which flannel keeps."
)


def check_intent(view: View) -> Iterator[Found]:
    if view.stage == "cluster" and not view.intent.service_texts:
        return  # the running cluster's is what counts, not the default
    yield from _compare(view.plan)


def check_cluster(view: View) -> Iterator[Found]:
    yield from _compare(view.running_plan)
    several = {}
    for node in view.cluster.nodes if view.cluster.has("nodes") else []:
        versions = [one.version for one in node.pod_networks]
        if len(set(versions)) < len(versions):
            several[node.name] = [str(one) for one in node.pod_networks]
    if several:
        summary = "nodes have several pod ranges of one family"
        yield Found(summary, {"ranges": several}, where=tuple(several), remedy=_AGAIN)


def _compare(plan: AddressPlan) -> Iterator[Found]:
    pod = [one.version for one in plan.pod]
    service = [one.version for one in plan.service]
    compared = {"pod": [str(one) for one in plan.pod], "service": [str(one) for one in plan.service]}
    for name, versions in (("pod", pod), ("service", service)):
        if len(set(versions)) < len(versions):
            yield Found(f"two {name} ranges are of one family", compared)
    if set(pod) != set(service):
        names = [" and ".join(f"IPv{version}" for version in sorted(set(versions))) for versions in (pod, service)]
        yield Found(f"pods are {names[0]} and services are {names[1]}", compared)
