# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two hosts would register as the same Node.

## What it means
A Node object is found by its name. Of two hosts with one name the second takes over the first one's Node: one of them
is in the cluster, and which one changes.

## How it looks
`kubeadm join` stops with `a Node with name "n1" and status "Ready" already exists in the cluster`, or both kubelets
report as one node whose addresses, pod CIDR and flannel annotations flip.

## What looks like it but is not
- One host under two inventory names (same boot, same network cards): it is one host.
- Names that differ before the first dot only in the inventory: what counts is what the kubelet registers.

## Mend
`hostnamectl set-hostname NAME` on all but one of them, before they join.

## Prevent
Let the inventory or the image's first boot set names; do not clone a host that has one.

## Sources
- kubernetes documentation, "Installing kubeadm": unique hostname, MAC address and product_uuid for every node
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View
from ._twins import Identity, identity, twins

RULE = Rule(
    title="Hosts share a name",
    severity="error",
    needs=("nodes.hostname",),
    remedy="Give every host a name of its own with hostnamectl set-hostname before it joins.",
    rank=25,
    explains=("hostname-invalid", "public-ip-wrong", "interface-wrong", "stale-link", "vtep-mac-changed", "fdb-stale"),
)


def collect(node: Host, view: View) -> Identity:
    return identity(node, node.hostname_override or node.hostname.strip().lower())


def check_nodes(facts: dict[str, Identity], view: View) -> Iterator[Found]:
    for name, hosts in twins(facts):
        yield Found(f"{len(hosts)} hosts are called {name}", {"hostname": name, "hosts": hosts}, where=tuple(hosts))
