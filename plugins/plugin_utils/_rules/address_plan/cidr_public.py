# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A range lies in public address space, or in space that no host can have.

## What it means
Pods or services have addresses that belong to someone on the internet. Everything works until something in the
cluster wants to reach the real owner: its packets stay inside. Loopback, link-local, multicast and reserved space
cannot be routed at all: an error.

## How it looks
Some web site or registry cannot be reached from pods, and from nodes where the service range is concerned.

## What looks like it but is not
10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 (shared) and fc00::/7 (unique local) are not public.
172.168.0.0/16 is: the private range ends at 172.31.255.255. IPv6 addresses that are your own and routed are fine:
accept the finding.

## Mend
Choose a private range before the cluster is built. On a running cluster: a new range means joining every node again.

## Prevent
The defaults 10.244.0.0/16 and 10.96.0.0/12 are private.

## Sources
- RFC 1918, RFC 6598, RFC 4193
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..._evidence._net import Network, covered, networks
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A range lies in public address space",
    severity="warning",
    needs=("intent.pod_cidr",),
    remedy="Choose private ranges, or list cidr-public in cluster_accept_findings where the addresses are your own.",
    rank=70,
)

USELESS = networks(["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "::/8", "fe80::/10", "ff00::/8"])
INSIDE = networks(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"])


def check_intent(view: View) -> Iterator[Found]:
    yield from _public("pod", view.plan.pod)
    yield from _public("service", view.plan.service)


def check_cluster(view: View) -> Iterator[Found]:
    yield from _public("pod", view.running_plan.pod)
    yield from _public("service", view.running_plan.service)


def _public(name: str, ranges: Iterable[Network]) -> Iterator[Found]:
    for one in ranges:
        if covered(one, USELESS):
            yield Found(f"the {name} range {one} is space that cannot be routed", {name: str(one)}, severity="error")
        elif not covered(one, INSIDE):
            yield Found(f"the {name} range {one} is public address space", {name: str(one)})
