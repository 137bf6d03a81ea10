# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A node's tunnel has another MAC than the other nodes were told.

## What it means
flanneld writes its tunnel's MAC into the node's annotation; the others send to that. systemd-udevd with
`MACAddressPolicy=persistent` (systemd's default), or a network manager, changes the MAC after the link was made.
Frames for the former MAC are dropped on arrival.

## How it looks
One node's pods are unreachable from all others and reach nobody, all is Ready. In flannel's log `mac address wanted:
..., but got: ...`. In dual stack often only IPv6 after a reboot.

## What looks like it but is not
- Two nodes with the same MAC: see `machine-id-duplicate`.
- Flannel does not run on the node: its link is of another life.

## How it is told
The link's MAC against the annotation backend-data (and backend-v6-data) of its own node.

## Mend
A .link file for `flannel*` with `MACAddressPolicy=none`, then restart flannel's pod on the node:
podnet.kubeadm.repair.

## Prevent
The role host writes the .link file.

## Sources
- flannel issues 1155, 1788, 1795, 1330; k3s issue 9957
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._overlay import vtep_mac
from ..._evidence._said import heard, heard_without_host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A node's tunnel has another MAC than the other nodes were told",
    severity="error",
    needs=("nodes.ip_address", "cluster.nodes", "cluster.flannel_config"),
    remedy="Run podnet.kubeadm.repair: it writes the .link file that keeps the MAC, and restarts flannel on that node.",
    repair="flannel:relink",
    explains=("fdb-stale",),
    rank=30,
)

_SAID = re.compile(r"mac address wanted: \S+, but got: [0-9a-f:]+")
_WORDS = "something changes the MAC of flannel's tunnel as soon as it is made"


def check_node(node: Host, view: View) -> Iterator[Found]:
    own = view.kube_node(node)
    if own is not None and not view.flannel_runs(node) and (said := heard(view, node, _SAID)):
        yield Found(_WORDS, {"said": said})
        return
    if own is None or not own.flannel_lease or view.flannel_runs(node) is False:
        return
    overlay = view.overlay_on(own)
    for version, tunnel in overlay.tunnels.items() if overlay.backend == "vxlan" else ():
        told, link = vtep_mac(own, version), node.link(tunnel)
        if link is not None and told and link.mac and link.mac != told:
            yield Found(f"{tunnel} has another MAC than its annotation", {"link": link.mac, "annotation": told})


def check_cluster(view: View) -> Iterator[Found]:
    for place, _kube, said in heard_without_host(view, _SAID):
        yield Found(_WORDS, {"said": said}, where=place)
