# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which networks a host has, and whose they are: its own, a container engine's bridge, a VPN's, or the cluster's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ._host import Host
from ._net import Link, Network, Route, networks, overlaps

HOST, BRIDGE, VPN = "host", "bridge", "vpn"

_CLUSTER = re.compile(
    r"(cni\d*|cbr0|flannel[.-].+|flannel\d+|kube-ipvs\d+|kube-bridge|kube-dummy-if|nodelocaldns|veth.*|lo"
    r"|cali.*|tunl\d+|vxlan\.calico|wireguard\.cali|cilium_.*|lxc[0-9a-f_].*|weave|vethwe.*|antrea-gw\d+|ovn-k8s.*)"
)
_BRIDGE = re.compile(
    r"(docker\d+|docker_gwbridge|podman\d+|cni-podman\d+|br-[0-9a-f]{12}|virbr\d+|lxcbr\d+|lxdbr\d+|incusbr\d+|nerdctl\d+)"
)
_VPN = re.compile(r"(tun|tap|wg|tailscale|zt|ppp|nordlynx|ipsec|vti|xfrm|nebula|netbird|wt|utun|gpd|cscotun)[\w.-]*")
_VPN_KINDS = ("wireguard", "tun", "ppp", "xfrm", "vti", "vti6")

SHARED = networks(["100.64.0.0/10"])[0]
"""Carrier-grade NAT space (RFC 6598). A VPN that gives one address of it keeps the whole range for itself."""


@dataclass(frozen=True)
class HostNetwork:
    """A network of a host. ``owner``: HOST, BRIDGE or VPN; ``link``: its device; ``on_link``: reached without a
    gateway; ``text``: where it was seen, for the evidence of a finding; ``routed``: of a route, not of an address."""

    network: Network
    owner: str
    link: str
    on_link: bool
    text: str
    routed: bool = False


def owner_of(link: Link, host: Host) -> str:
    """Whose a link is: HOST, BRIDGE (a container engine's), VPN, or "" for the cluster's own and loopback."""
    name = link.name.partition("@")[0]
    if link.loopback or _CLUSTER.fullmatch(name):
        return ""
    if link.kind == "veth":  # a pod's end of the host; in a host that is a container itself, its uplink
        return HOST if _carries_the_host(link, host) else ""
    if link.kind in _VPN_KINDS or _VPN.fullmatch(name):
        return VPN
    if _BRIDGE.fullmatch(name) or link.kind == "bridge":
        return HOST if _carries_the_host(link, host) else BRIDGE
    return HOST


def _carries_the_host(link: Link, host: Host) -> bool:
    """A link with the host's own address or default route is the host's uplink, whatever its name and kind."""
    address = host.raw.get("inventory_address")
    if any(str(one.ip) == address for one in link.addresses):
        return True
    return link.name in host.default_links


def host_networks(host: Host, cluster_ranges: Iterable[Network] = ()) -> Iterator[HostNetwork]:
    """The networks of a host that are not the cluster's own: of its addresses, then of its routes.

    ``cluster_ranges``: the pod ranges of nodes; routes to these are the cluster's, also where they go over the host's
    own link (host-gw). Link-local, multicast and default routes are left out. Raises `Missing` without `ip_address`.
    """
    own = frozenset(cluster_ranges)
    owners = {link.name: owner_of(link, host) for link in host.links}
    seen: set[tuple[Network, str]] = set()
    for link in host.links:
        owner = owners[link.name]
        for one in link.addresses if owner else ():
            network = SHARED if owner == VPN and one.version == 4 and one.ip in SHARED else one.network
            if _counts(network):
                seen.add((network, link.name))
                yield HostNetwork(network, owner, link.name, True, f"{one.with_prefixlen} on {link.name}")
    for route in host.own_routes:
        owner = owners.get(route.dev, "")
        if owner and route.dst not in own and (route.dst, route.dev) not in seen and _routes(route):
            via = f" via {route.gateway}" if route.gateway else ""
            table = "" if route.table == "main" else f" in table {route.table}"
            text = f"route {route.dst}{via} dev {route.dev}{table}"
            yield HostNetwork(route.dst, owner, route.dev, not route.gateway, text, routed=True)


def _counts(network: Network) -> bool:
    return not (network.is_link_local or network.is_multicast or network.is_loopback)


def _routes(route: Route) -> bool:
    return route.type == "unicast" and route.table != "local" and route.dst.prefixlen > 1 and _counts(route.dst)


def meeting(
    named: dict[str, list[Network]], found: Iterable[HostNetwork]
) -> Iterator[tuple[str, Network, HostNetwork]]:
    """Every range (``{"pod": [...], "service": [...]}``) that a network of the host meets."""
    for one in found:
        for name, ranges in named.items():
            for cidr in ranges:
                if overlaps(cidr, one.network):
                    yield name, cidr, one
