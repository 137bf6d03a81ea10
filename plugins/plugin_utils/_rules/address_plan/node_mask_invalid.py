# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The node mask does not fit the pod range.

## What it means
A node's range is a part of the pod range: its prefix cannot be shorter, kubeadm and the controller manager refuse
more than 16 bits between the two, a pod range has at least 14 addresses, and host-local needs a /30 (IPv6 /126) at
least.

## How it looks
`the size of pod subnet with mask 25 is smaller than the size of node subnet with mask 24`,
`pod subnet mask (48) and node-mask (80) difference is greater than 16`.

## What looks like it but is not
- A pod range of the node mask's own size has one range: see `capacity-too-small`.
- A mask argument that is not read: see `node-mask-ignored`.

## Mend
Set `cluster_node_mask` (IPv6: `cluster_node_mask_v6`) between the pod range's prefix and 16 more.

## Prevent
The defaults, 24 and 64, fit IPv4 ranges from /8 to /24 and IPv6 ranges from /48 to /64.

## Sources
- kubernetes `cmd/kubeadm/app/apis/kubeadm/validation/validation.go`, validatePodSubnetNodeMask
- kubernetes `pkg/controller/nodeipam/ipam/cidrset/cidr_set.go`
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found, Malformed, Missing
from ..._plan import AddressPlan
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The node mask does not fit the pod range",
    severity="error",
    needs=("intent.pod_cidr",),
    remedy="Set cluster_node_mask (IPv6: cluster_node_mask_v6) between the pod range's prefix and 16 more.",
    explains=("capacity-too-small", "node-range-too-small"),
    rank=20,
)

MOST_DIFFERENCE = 16
LEAST_ADDRESSES = 14
MOST_BITS = 31
"""kubeadm counts addresses in 31 bits (k8s.io/utils/net, RangeSize), so that a /1 has none; an IPv6 range of that size
fails the difference to the node mask anyway."""
LONGEST = {4: 30, 6: 126}


def check_intent(view: View) -> Iterator[Found]:
    for key in ("node_mask", "node_mask_v6"):
        try:
            getattr(view.intent, key)
        except Malformed as malformed:
            yield Found(f"{key} is no whole number", {key: malformed.why})
        except Missing:
            pass
    yield from _fit(view.plan)


def check_cluster(view: View) -> Iterator[Found]:
    yield from _fit(view.running_plan)


def _fit(plan: AddressPlan) -> Iterator[Found]:
    for one in plan.pod:
        mask = plan.node_mask[one.version]
        compared = {"pod range": str(one), "node mask": mask}
        if one.num_addresses < LEAST_ADDRESSES:
            text = f"the pod range {one} has {one.num_addresses} addresses, kubeadm wants {LEAST_ADDRESSES}"
            yield Found(text, compared)
        elif one.version == 4 and one.max_prefixlen - one.prefixlen >= MOST_BITS:
            yield Found(f"the pod range {one} is too large, kubeadm cannot count its addresses", compared)
        if mask > LONGEST[one.version] or mask < 1:
            yield Found(
                f"a node mask of {mask} leaves no addresses to give, /{LONGEST[one.version]} is the longest", compared
            )
        elif mask < one.prefixlen:
            yield Found(f"the node mask {mask} is shorter than the pod range {one}", compared)
        elif mask - one.prefixlen > MOST_DIFFERENCE:
            text = f"the node mask {mask} is more than {MOST_DIFFERENCE} bits longer than the pod range {one}"
            yield Found(text, compared)
