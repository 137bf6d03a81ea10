# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Routes to other nodes' pods are set without a tunnel, and the nodes do not share a link.

## What it means
host-gw, and vxlan with DirectRouting, set a route to each node's pod range *via that node's address*. The packet goes
out with pod addresses; a router between the nodes, or a VPN, does not know them.

## How it looks
With host-gw flannel's routes fail with `network is unreachable`, or pods on nodes of another network cannot be
reached. Over WireGuard or a tun device packets vanish, unless the pod ranges are in AllowedIPs.

## What looks like it but is not
- vxlan with DirectRouting between networks: flannel uses the tunnel where a gateway is in between.
- Addresses with /32 masks whose peers are reached by a route without a gateway: that is a shared link.
- All nodes on one link, and frames with pod addresses are dropped there: see `underlay-antispoof`.

## Mend
`flannel_backend: vxlan` (without `flannel_direct_routing`) or `wireguard`, and roll flannel out; the change of a
backend interrupts traffic between nodes. Or put all nodes into one network.

## Prevent
host-gw only where all nodes are on one link.

## Sources
- flannel `Documentation/backends.md`; flannel `pkg/backend/hostgw`, `pkg/backend/vxlan/vxlan_network.go`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..._evidence._asked import backend, backend_option
from ..._evidence._host import Host
from ..._evidence._net import Address, Network, address, contains
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._stand import Peers, stand
from .mtu_mismatch import pods_pass

RULE = Rule(
    title="Nodes do not share a link, as the backend needs",
    severity="error",
    needs=("nodes.ip_address", "nodes.ip_route"),
    remedy="Set flannel_backend: vxlan without flannel_direct_routing, or put all nodes into one network.",
    explains=("route-missing", "underlay-antispoof"),
    rank=20,
)

_POINT_TO_POINT = ("wireguard", "tun", "ppp", "xfrm", "vti")


class Seat(NamedTuple):
    """``own``: the address that peers route to; ``reach``: networks on its link without a gateway; ``tunnel``: the name
    of the link where that is a point-to-point one; ``passes``: whether pods were seen to reach other nodes."""

    own: Address
    reach: list[Network]
    tunnel: str
    passes: bool | None


def collect(node: Host, view: View) -> Seat | None:
    if not _direct(view):
        return None
    fact = stand(node, view)
    own = fact.chosen
    if fact.node:
        own = address(view.cluster.node_by_name[fact.node].flannel("public-ip")) or own
    if own is None or own not in fact.addresses:
        return None
    network, name = fact.addresses[own]
    link = node.link(name)
    routes = [
        one.dst for one in node.own_main_routes(own.version) if one.dev == name and not one.gateway and not one.default
    ]
    tunnel = link is not None and (link.kind in _POINT_TO_POINT or "POINTOPOINT" in link.flags)
    return Seat(own, [network, *routes], name if tunnel else "", pods_pass(node))


def check_nodes(facts: dict[str, Seat], view: View) -> Iterator[Found]:
    for host, seat in facts.items():
        if seat.tunnel and not seat.passes:
            summary = f"packets of pods are routed without a tunnel over {seat.tunnel}, which is a VPN"
            soft = None if seat.passes is False else "warning"
            yield Found(summary, {"link": seat.tunnel, "address": str(seat.own)}, where=host, severity=soft)
    if backend(view) != "host-gw":
        return
    every = Peers({seat.own for seat in facts.values() if seat.own.version == 4} | _leased(view))
    apart = {}
    for host, seat in facts.items():
        if seat.own.version == 4 and not seat.tunnel:
            missed = every.count(4) - sum(every.inside(one) for one in _apart(seat.reach))
            if missed > 0:
                apart[host] = (missed, str(seat.own), [str(one) for one in seat.reach])
    if apart:
        most = max(count for count, _own, _reach in apart.values())
        where = tuple(host for host, (count, _own, _reach) in apart.items() if count == most) or tuple(apart)
        compared = {host: {"address": own, "on its link": reach} for host, (_count, own, reach) in apart.items()}
        yield Found("host-gw needs all nodes on one link, and some are behind a gateway", compared, where=where)


def _direct(view: View) -> bool:
    kind = backend(view)
    return kind == "host-gw" or (
        kind in ("vxlan", "ipip") and backend_option(view, "DirectRouting", "direct_routing") is True
    )


def _apart(networks: list[Network]) -> list[Network]:
    """The IPv4 networks without those that lie in another one, so that nobody is counted twice."""
    own = {one for one in networks if one.version == 4}
    return [one for one in own if not any(one != other and contains(other, one) for other in own)]


def _leased(view: View) -> set[Address]:
    try:
        found = (address(node.flannel("public-ip")) for node in view.cluster.nodes if node.flannel_lease)
        return {one for one in found if one is not None and one.version == 4}
    except Missing:
        return set()
