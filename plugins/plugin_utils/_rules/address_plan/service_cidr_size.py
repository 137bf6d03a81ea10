# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The service range is too large or too small.

## What it means
The API server keeps a bitmap of the service range: kubeadm allows at most 20 host bits (IPv4 /12, IPv6 /108), and
wants at least 10 addresses, since cluster DNS gets the tenth.

## How it looks
`specified service subnet is too large; for 128-bit addresses, the mask must be >= 108`, or `subnet with 8
address(es) is too small, the minimum is 10`.

## What looks like it but is not
Pod ranges have other limits: see `node-mask-invalid`.

## Mend
Choose a service range between /12 and /28 (IPv6: /108 and /124) before the cluster is built.

## Prevent
10.96.0.0/12 and, for IPv6, any /112 are right.

## Sources
- kubernetes `cmd/kubeadm/app/constants/constants.go`: MaximumBitsForServiceSubnet, MinimumAddressesInServiceSubnet
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..._evidence._net import Network
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The service range is too large or too small",
    severity="error",
    needs=("intent.service_cidr",),
    remedy="Choose a cluster_service_cidr between /12 and /28, for IPv6 between /108 and /124.",
    rank=10,
)

WIDEST = {4: 12, 6: 108}
LEAST_ADDRESSES = 10


def check_intent(view: View) -> Iterator[Found]:
    yield from _size(view.plan.service)


def check_cluster(view: View) -> Iterator[Found]:
    yield from _size(view.running_plan.service)


def _size(service: Iterable[Network]) -> Iterator[Found]:
    for one in service:
        if one.prefixlen < WIDEST[one.version]:
            compared = {"service range": str(one), "widest": f"/{WIDEST[one.version]}"}
            yield Found(f"the service range {one} is too large, /{WIDEST[one.version]} is the widest", compared)
        if one.num_addresses < LEAST_ADDRESSES:
            few = {"service range": str(one), "addresses": one.num_addresses, "wanted": LEAST_ADDRESSES}
            yield Found(f"the service range {one} has fewer than {LEAST_ADDRESSES} addresses", few)
