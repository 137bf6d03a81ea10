# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host's network manager interferes with flannel's or the CNI's links.

## What it means
NetworkManager, systemd-networkd or dhcpcd manages links that are not its own: it gives flannel.1 an address or the
default route, takes the address of cni0, changes a MAC, removes routes that it does not know.

## How it looks
dhcpcd: 169.254.x.x on flannel.1 or a veth, and a default route there. NetworkManager: cni0 is up without an address,
`failed to set bridge addr`. networkd: flannel's routes are gone after it was restarted.

## What looks like it but is not
- A manager that runs and leaves these links alone, which most do: an info as long as nothing is damaged.
- `unmanaged-devices` for cni0, flannel and veth, `ManageForeignRoutes=no`, `denyinterfaces`: it cannot interfere.
- cni0 without an address before the first pod, or without any manager: see `stale-link`.

## How it is told
Addresses and default routes on the links of flannel and the CNI that they never give themselves, an address that is
missing on cni0 while pods hang on it; which manager is active and what its configuration excludes.

## Mend
Exclude the links: `unmanaged-devices=interface-name:cni0;interface-name:flannel*;interface-name:veth*` in
/etc/NetworkManager/conf.d, `ManageForeignRoutes=no` in networkd.conf, `denyinterfaces cni0 flannel* veth*` in
dhcpcd.conf. The role host writes them; then restart flannel's pod and re-create the node's pods.

## Prevent
The role host.

## Sources
- k3s issue 2599; kubernetes issue 67183; flannel issues 1330, 1759; flatcar/init issue 61
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._net import Link, covered, overlaps
from ..._evidence._overlay import is_flannel_link
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The host's network manager interferes with flannel's or the CNI's links",
    severity="error",
    needs=("nodes.ip_address", "nodes.units", "cluster.nodes"),
    remedy="Run podnet.kubeadm.repair: the role host excludes cni0, flannel's links and veth from the manager.",
    repair="host:links",
    explains=("route-missing", "stale-link", "interface-wrong", "interface-none"),
    rank=28,
)

MANAGERS = ("NetworkManager", "systemd-networkd", "dhcpcd")
LINK_LOCAL = ipaddress.ip_network("169.254.0.0/16")


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.kube_node(node) is None:
        return
    active = [name for name in MANAGERS if node.unit_active(name) and not _excluded(node, name)]
    damage = list(_damage(node, view, active))
    if damage:
        who = " or ".join(active) or "something on the host"
        yield Found(f"{who} changed links of the pod network: {'; '.join(damage)}", {"active": active, "seen": damage})
    elif _routes_taken(node, view):
        summary = "systemd-networkd manages routes that are not its own, and flannel's are gone"
        yield Found(summary, {"ManageForeignRoutes": "yes"}, severity="warning")
    elif active:
        summary = f"{', '.join(active)} may manage links of the pod network"
        yield Found(summary, {"active": active}, severity="info")


def _damage(node: Host, view: View, active: list[str]) -> Iterator[str]:
    pods = view.pod_networks
    for link in node.links:
        if not _ours(link):
            continue
        for one in link.addresses:
            foreign = one.version == 4 and not covered(one.network, pods)
            if foreign and (active or overlaps(one.network, LINK_LOCAL)):
                yield f"{link.name} has the address {one}"
    if node.has("ip_route"):
        for route in node.own_main_routes(4):
            if route.default and (is_flannel_link(route.dev) or route.dev == "cni0" or route.dev.startswith("veth")):
                yield f"the default route goes over {route.dev}"
    bridge = node.link("cni0")
    enslaved = any(link.master == "cni0" for link in node.links)
    bare = bridge is not None and not any(one.version == 4 for one in bridge.addresses)
    if active and enslaved and bare and any(one.version == 4 for one in pods):
        yield "cni0 has no address although pods hang on it"


def _routes_taken(node: Host, view: View) -> bool:
    """Whether networkd removes foreign routes (its default) and routes of a flannel that runs are missing."""
    if not node.unit_active("systemd-networkd") or not node.has("ip_route") or not view.flannel_runs(node):
        return False
    text = "\n".join(node.networkd_conf.values()) if node.has("networkd_conf") else ""
    lines = [line.replace(" ", "").lower() for line in text.splitlines()]
    if any(line in ("manageforeignroutes=no", "manageforeignroutes=false") for line in lines):
        return False
    own = view.kube_node(node)
    absent = view.lease_by_text[4].keys() - node.main_by_text(4).keys() - set(map(str, own.pod_networks if own else ()))
    return view.overlay.backend in ("vxlan", "host-gw") and bool(absent)


def _ours(link: Link) -> bool:
    return is_flannel_link(link.name) or (link.kind == "veth" and link.master == "cni0")


def _excluded(node: Host, manager: str) -> bool:
    """Whether the manager's configuration leaves the links of the pod network alone."""
    if manager == "NetworkManager":
        text = "\n".join(node.network_manager_conf.values()) if node.has("network_manager_conf") else ""
        return "unmanaged-devices" in text and "cni" in text and "flannel" in text
    if manager == "systemd-networkd":
        text = "\n".join(node.networkd_conf.values()) if node.has("networkd_conf") else ""
        lines = [line.replace(" ", "").lower() for line in text.splitlines()]
        catches_all = any(line in ("name=*", "name=en*eth*cni*", "type=ether") for line in lines)
        return not catches_all or "unmanaged=yes" in lines or "unmanaged=true" in lines
    return False
