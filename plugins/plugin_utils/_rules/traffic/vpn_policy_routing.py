# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A VPN's routing takes pod traffic.

## What it means
Policy routing (`ip rule`) looks into a VPN's table before the main one, and that table has a route for the pod range,
or for the other nodes: a route accepted from a peer, an exit node, a full tunnel.

## How it looks
Pods of this node and of others do not reach each other although flannel's routes are all there; `ip route get` of a
pod's address names the VPN's interface.

## What looks like it but is not
- A VPN whose tables know only its own peers, or that is asked only for marked packets.
- wg-quick's full tunnel: it asks the main table first for everything but the default route.
- Flannel that uses the VPN's interface on purpose (`flannel_interface`), with its packets allowed there.
- Rules for source addresses of the host's other NICs; DirectRouting or host-gw over the VPN's own link.

## How it is told
The rules are followed in order for an address of every other node's range, as the kernel does, and the link that is
found must be the one of flannel's route in the main table.

## Mend
Tell the VPN not to accept routes for the pod range (`tailscale up --accept-routes=false`), or add a rule before its
own: `ip rule add to POD_RANGE lookup main priority 5200`, persisted by the host's network manager.

## Prevent
A pod range that no peer of the VPN announces.

## Sources
- tailscale issue 14706; siderolabs/extensions issue 626; k3s issue 8372
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._evidence._host import Host
from ..._evidence._net import Link
from ..._evidence._overlay import Lease, is_flannel_link
from ..._evidence._policy_routing import Rules
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A VPN's routing takes pod traffic",
    severity="error",
    needs=("nodes.ip_rule", "nodes.ip_route", "cluster.nodes"),
    remedy="Tell the VPN not to take routes for the pod range (tailscale up --accept-routes=false), or let "
    "ip rule add to POD_RANGE lookup main priority 5200 come before its rule.",
    explains=("vxlan-port-blocked", "overlap-vpn", "route-missing"),
    rank=12,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    own = view.kube_node(node)
    if own is None:
        return
    source = next((one[5] for one in own.pod_networks if one.version == 4 and one.num_addresses > 5), None)
    rules = Rules(node.ip_rule, lambda: node.routes4, source)
    main = node.main_by_text(4)
    yield from _main_table(node, view, main)
    if not rules.tables:
        return
    taken: dict[str, list[Lease]] = {}
    for lease in view.leases:
        if lease.node == own.name or lease.network.version != 4 or lease.network in own.pod_networks:
            continue
        found, expected = rules.lookup(lease.network[1]), main.get(str(lease.network), {}).get("dev")
        if found and found.table != "main" and found.dev not in ("", expected) and not is_flannel_link(found.dev):
            taken.setdefault(f"{found.dev} by table {found.table}", []).append(lease)
    for way, leases in taken.items():
        ranges = [str(one.network) for one in leases[:10]]
        yield Found(f"packets for pods of other nodes leave by {way}", {"pod ranges": ranges})
    yield from _own_underlay(node, view, rules, own.name)


def _main_table(node: Host, view: View, main: dict[str, dict[str, Any]]) -> Iterator[Found]:
    """Routes for other nodes' ranges that a VPN put into the main table in place of flannel's."""
    vpns = {link.name for link in node.links if _is_vpn(link)} if node.has("ip_address") else set()
    taken: dict[str, list[str]] = {}
    for dst, route in main.items() if vpns else ():
        lease = view.lease_by_text[4].get(dst) if route.get("dev") in vpns else None
        if lease and route.get("gateway") != lease.public_ip:
            taken.setdefault(str(route["dev"]), []).append(dst)
    for link, ranges in taken.items():
        yield Found(f"packets for pods of other nodes leave by {link}", {"pod ranges": sorted(ranges)[:10]})


def _is_vpn(link: Link) -> bool:
    return link.kind in ("wireguard", "tun", "ppp") and not is_flannel_link(link.name)


def _own_underlay(node: Host, view: View, rules: Rules, own: str) -> Iterator[Found]:
    """Tunnel packets that leave by a VPN whose own filter stops them: told by probes of the backend's port."""
    if not node.has("probes"):
        return
    blocked = {
        one.text("to")
        for one in node.probe(f"udp/{view.overlay.port}")
        if one.flag("ok") is False and one.text("to") != node.name
    }
    for lease in view.leases:
        if lease.node == own or view.place(lease.node) not in blocked or not lease.public_ip:
            continue
        found = rules.lookup_text(lease.public_ip)
        if found and found.table != "main":
            link = f"{found.dev} by table {found.table}"
            yield Found(f"flannel's packets leave by {link}, where they do not pass", {"to": lease.public_ip})
            return
