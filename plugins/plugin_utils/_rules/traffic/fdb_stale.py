# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's neighbour entries do not fit the leases.

## What it means
For the vxlan backend every other node has a forwarding entry (its tunnel's MAC, its address) and a neighbour entry.
Entries with a former address or MAC send packets to a machine that does not expect them.

## How it looks
One node cannot be reached from some others, often after it was re-installed, got another address, or while flannel was
stopped on this host.

## What looks like it but is not
- With DirectRouting, nodes of the same link have no entry.
- An annotation that itself names a wrong address: see `public-ip-wrong`; the entries follow it.
- A tunnel whose MAC is another than its own annotation: see `vtep-mac-changed`.
- Two nodes with one range or one MAC: see `node-cidr-duplicate`, `machine-id-duplicate`; no entry can be right then.
- Missing entries together with missing routes: see `route-missing`, which explains them.

## How it is told
`bridge fdb` and `ip neigh` of the tunnel against MAC and address in the leases of those nodes that have a route by it.

## Mend
Restart flannel's pod on the host.

## Prevent
Delete the Node object of a machine that is re-installed before it joins again.

## Sources
- flannel issues 2554, 712, 760
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's neighbour entries do not fit the leases",
    severity="error",
    needs=("nodes.bridge_fdb", "nodes.ip_neigh", "nodes.ip_route", "cluster.nodes", "cluster.flannel_config"),
    remedy="Run podnet.kubeadm.repair, which restarts flannel's pod on that node.",
    repair="flannel:restart",
    rank=55,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    own = view.kube_node(node)
    if own is None or not view.flannel_runs(node):
        return
    overlay = view.overlay_on(own)
    for version, tunnel in overlay.tunnels.items() if overlay.backend == "vxlan" else ():
        if node.link(tunnel) is not None:
            yield from _compare(node, view, version, tunnel)


def _compare(node: Host, view: View, version: int, tunnel: str) -> Iterator[Found]:
    """Entries of one tunnel against the leases, as texts: a large cluster has thousands."""
    entries = {
        str(one.get("mac")): str(one["dst"])
        for one in node.raw_objects("bridge_fdb")
        if one.get("ifname") == tunnel and "dst" in one
    }
    macs = {
        str(one.get("dst")): str(one.get("lladdr") or "")
        for one in node.raw_objects("ip_neigh")
        if one.get("dev") == tunnel
    }
    suspects = [
        lease
        for lease in view.tunnel_leases[version]
        if entries.get(lease.mac) != lease.public_ip or macs.get(lease.base) != lease.mac
    ]
    wrong: dict[str, str] = {}
    present = node.main_by_text(version) if suspects else {}
    for lease in sorted(suspects, key=lambda one: one.network):
        if present.get(str(lease.network), {}).get("dev") != tunnel:
            continue  # its own range, a peer without a route, or one that is routed directly
        if entries.get(lease.mac) != lease.public_ip:
            wrong[lease.node] = f"{lease.mac} at {entries.get(lease.mac) or 'nowhere'}, lease {lease.public_ip}"
        else:
            wrong[lease.node] = f"neighbour {macs.get(lease.base) or 'missing'}, lease {lease.mac}"
    if wrong:
        few = dict(list(wrong.items())[:20])
        yield Found(f"{tunnel} has wrong or no entries for {len(wrong)} other nodes", few)
        return
    left = sorted(mac for mac in entries.keys() - view.lease_macs[version] if mac != "00:00:00:00:00:00")
    if left:
        summary = f"{tunnel} has entries of nodes that are gone"
        yield Found(summary, {mac: entries[mac] for mac in left[:20]}, severity="info")
