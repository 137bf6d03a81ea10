# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""host-local keeps addresses for pods that are gone.

## What it means
The plugin host-local notes each address it gave as a file in /var/lib/cni/networks. Where pods were killed without
their plugins being called (a crash, a removed runtime, a former cluster), the notes stay; at 253 of a /24 there is
none left.

## How it looks
New pods of one node stay in ContainerCreating: `failed to allocate for range 0: no IP addresses available in range
set: 10.244.1.1-10.244.1.254`, while few pods run there.

## What looks like it but is not
- As many notes as sandboxes: the range is really used up, see `node-range-too-small`.
- One or two notes without a sandbox: pods come and go while one looks.
- Files lock and last_reserved_ip: they are no addresses.

## Mend
Remove the files whose container is no sandbox of the runtime (`crictl pods -q`), or drain the node and reboot it. Do
not empty the directory under running pods: addresses would be given twice.

## Prevent
Drain before a reboot. On a node that leaves, `kubeadm reset` clears the notes.

## Sources
- kubernetes issue 57280; flannel issues 1416, 2264; k3s issue 5885; containernetworking/plugins host-local
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._cni import CniFile
from ..._evidence._host import Host
from ..._evidence._kube import KubeNode
from ..._evidence._net import Network, address
from ..._evidence._said import heard, heard_without_host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Addresses are kept for pods that are gone",
    severity="error",
    needs=("nodes.cni_ipam", "nodes.sandboxes"),
    remedy=(
        "Remove the files in /var/lib/cni/networks whose container crictl pods -q does not list, or drain the "
        "node and reboot it."
    ),
    repair="host:leases",
    rank=35,
)

_MANY = 32
"""Leaks that are worth a word though there is room; a busy node has a few at any time."""


_SAID = re.compile(r"no IP addresses available in range set")


def check_cluster(view: View) -> Iterator[Found]:
    for place, kube, said in heard_without_host(view, _SAID):
        yield from _by_words(said, place, kube, view)


def _by_words(said: str, where: str, kube: KubeNode, view: View) -> Iterator[Found]:
    """Without the leases: addresses are used up although the node has fewer pods than addresses."""
    room = _room(kube)
    every = [one for one in view.cluster.pods_by_node.get(kube.name, []) if not one.host_network]
    pods = [one for one in every if one.phase in ("Pending", "Running")]
    if room is not None and len(pods) < room:
        compared = {"said": said, "pods": len(pods), "room": room}
        yield Found(
            "no address is left for a pod, though the node has fewer pods than addresses", compared, where=where
        )


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.stage == "cluster" and not node.has("cni_ipam") and (said := heard(view, node, _SAID)):
        kube = view.kube_node(node)
        if kube is not None:
            yield from _by_words(said, node.name, kube, view)
    known = {file.network for file in _flannel_files(node)} or {"cbr0"}
    for network in sorted(known & node.cni_ipam.keys()):
        leases = {ip: owner.split()[0] if owner.split() else "" for ip, owner in node.cni_ipam[network].items()}
        given = {ip: owner for ip, owner in leases.items() if (one := address(ip)) is not None and one.version == 4}
        leaked = sorted((ip for ip, owner in given.items() if owner not in node.sandbox_ids), key=_number)
        room = _room(_kube_node(node, view))
        compared = {"given": len(given), "sandboxes": len(node.sandbox_ids), "leaked": leaked[:10], "room": room}
        if room is not None and len(given) >= room and leaked:
            yield Found(
                f"{len(leaked)} of {len(given)} addresses are kept for pods that are gone, none is left", compared
            )
        elif len(leaked) >= _MANY:
            summary = f"{len(leaked)} addresses are kept for pods that are gone"
            yield Found(summary, compared, severity="warning")


def _flannel_files(node: Host) -> list[CniFile]:
    try:
        return [file for file in node.cni_files if file.is_flannel]
    except Missing:
        return []


def _number(ip: str) -> int:
    parsed = address(ip)
    return int(parsed) if parsed else 0


def _kube_node(node: Host, view: View) -> KubeNode | None:
    try:
        return view.kube_node(node)
    except Missing:
        return None


def _room(kube: KubeNode | None) -> int | None:
    """Addresses that the node's range has for pods: without network, broadcast and gateway."""
    ranges: list[Network] = [one for one in kube.pod_networks if one.version == 4] if kube else []
    return max(ranges[0].num_addresses - 3, 0) if ranges else None
