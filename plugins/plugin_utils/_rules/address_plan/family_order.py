# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""IPv6 is the first family.

## What it means
The first range is the primary family: nodes report it first, single-stack services take it. Flannel and hosts whose
node address is IPv4 want IPv4 first; kubeadm accepts either.

## How it looks
Works, or pods of host networks and probes use the family that the underlay does not route; nodes whose kubelet
registers with an IPv4 address do not become Ready: the families of node address and first pod range differ.

## What looks like it but is not
An IPv6-only cluster has one family and no order.

## Mend
Write the IPv4 range first in both ranges before the cluster is built, or give every kubelet an IPv6 node-ip.

## Prevent
`cluster_pod_cidr: "IPv4,IPv6"`.

## Sources
- kubernetes documentation, "IPv4/IPv6 dual-stack"; flannel `Documentation/configuration.md`
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found
from ..._plan import AddressPlan
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="IPv6 is the first family",
    severity="warning",
    needs=("intent.pod_cidr",),
    remedy="Write the IPv4 range first in cluster_pod_cidr and cluster_service_cidr, or accept family-order.",
    rank=50,
)


def check_intent(view: View) -> Iterator[Found]:
    yield from _order(view.plan)


def check_cluster(view: View) -> Iterator[Found]:
    yield from _order(view.running_plan)


def _order(plan: AddressPlan) -> Iterator[Found]:
    for name, ranges in (("pod", plan.pod), ("service", plan.service)):
        if [one.version for one in ranges] == [6, 4]:
            yield Found(f"the {name} ranges name IPv6 first", {name: [str(one) for one in ranges]})
