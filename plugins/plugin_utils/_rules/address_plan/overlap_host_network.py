# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod or service range meets a network of a host.

## What it means
The host has an address, a network on its link, or a route in the range that pods or services are to have. Once
flannel writes its routes, or kube-proxy its rules, packets for the one go to the other.

## How it looks
Nodes lose each other, their gateway or their resolver as soon as flannel starts; `ssh` hangs; or one server of the
LAN cannot be reached from nodes.

## What looks like it but is not
- cni0, flannel.1, kube-ipvs0 and flannel's routes are in the pod range because they are the cluster's own.
- docker0 and other bridges: see `overlap-container-bridge`. A VPN: see `overlap-vpn`.
- A wider route through a gateway (10.0.0.0/8) in which the pod range lies is a warning: the cluster's routes are
  more specific, and only what has the same addresses behind that gateway cannot be reached.

## Mend
Before: choose ranges that no host uses. On a running cluster: move the host's network, or join every node again
with another range.

## Prevent
Ask the network's owner for a free range; `preflight` compares with every host.

## Sources
- flannel issue 1054; kubernetes documentation, "Creating a cluster with kubeadm": the pod network must not overlap
  host networks"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._networks import HOST
from ..._finding import Found
from ..._registry import Rule
from ..._view import View
from ._overlap import compare

RULE = Rule(
    title="A range meets a network of a host",
    severity="error",
    needs=("nodes.ip_address", "nodes.ip_route"),
    remedy="Before the cluster is built, choose cluster_pod_cidr and cluster_service_cidr that no host uses.",
    explains=("overlap-resolver", "route-missing", "route-stale", "service-path-broken"),
    rank=14,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    yield from compare(node, view, HOST, "a network of the host")
