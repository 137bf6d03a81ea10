# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod or service range meets a VPN's network.

## What it means
A VPN client took addresses or routes in the range, or keeps a whole range for itself: one that gives addresses of
100.64.0.0/10 drops packets of that range that come from any other link.

## How it looks
Pods reach pods on their own node only, or some services; it changes when the VPN connects.

## What looks like it but is not
- A VPN with networks outside of both ranges, and one that takes the default route, are none of this.
- A rule that takes pod traffic into the VPN's table: see `vpn-policy-routing`.

## Mend
Choose other ranges before the cluster is built, or take these out of the VPN's routes.

## Prevent
Keep out of 100.64.0.0/10 where hosts have such a VPN.

## Sources
- RFC 6598
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._networks import VPN
from ..._finding import Found
from ..._registry import Rule
from ..._view import View
from ._overlap import compare

RULE = Rule(
    title="A range meets a VPN's network",
    severity="error",
    needs=("nodes.ip_address", "nodes.ip_route"),
    remedy="Choose cluster_pod_cidr and cluster_service_cidr outside of the VPN's networks, or change the VPN's.",
    explains=("route-missing", "service-path-broken"),
    rank=14,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    yield from compare(node, view, VPN, "a VPN's network")
