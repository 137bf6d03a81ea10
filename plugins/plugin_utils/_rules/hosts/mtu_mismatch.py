# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Packet sizes along the way of a pod's packet do not fit.

## What it means
A tunnel adds bytes to every packet (VXLAN 50, over IPv6 70; WireGuard 60 to 80; ipip 20). flannel.1 must be that much
smaller than the interface below, cni0 and the pods not larger than flannel.1; and the network between the nodes has to
carry what the interface claims.

## How it looks
Small packets and ping pass, large answers stall: `TLS handshake timeout`, image pulls and `kubectl exec` that hang,
DNS that works. `ping -M do -s 1472 PEER` fails while a smaller one passes.

## What looks like it but is not
- A NIC of 9000 or of 1450 bytes: what counts is that the sizes fit each other.
- A cni0 without ports: a bridge takes its size from what is attached.
- Large and small pings both fail: ICMP is dropped, which says nothing about sizes.
- IPv6 over VXLAN in dual stack: flannel subtracts 50 there too, told as information.
- Large UDP only: see `checksum-offload`.

## Mend
Set `flannel_mtu` to what the network between the nodes carries (flannel subtracts the overhead itself), roll flannel
out and re-create pods: existing ones keep the old size.

## Prevent
One MTU on all nodes; podnet.kubeadm.preflight pings with full size and fragmentation forbidden.

## Sources
- flannel issues 1011, 1614, 1775, 1999; flannel `Documentation/backends.md`; talos issue 13457
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ..._evidence._asked import OVERHEAD, OVERHEAD_V6, backend, backend_option, interfaces
from ..._evidence._host import Host
from ..._evidence._net import Link
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._underlay import choose

RULE = Rule(
    title="Packet sizes do not fit",
    severity="error",
    needs=("nodes.ip_address",),
    remedy=(
        "Set flannel_mtu to what the network between the nodes carries, run podnet.kubeadm.site, then re-create pods."
    ),
    repair="flannel:rolled_out",
    explains=("service-path-broken",),
    rank=40,
)

_HEADERS = 28
"""IPv4 and ICMP headers around a ping's payload."""


class Sizes(NamedTuple):
    """``tunnel``: the MTU of flannel's link, None where there is none; ``nic``: of the interface below."""

    tunnel: int | None
    nic: int | None


def check_node(node: Host, view: View) -> Iterator[Found]:
    tunnels = [link for link in node.links if _overhead(link)]
    for tunnel in tunnels:
        yield from _too_large(node, view, tunnel)
    yield from _pods_too_large(node, tunnels)
    yield from _path_too_small(node, view, tunnels)


def collect(node: Host, view: View) -> Sizes:
    nic = _nic(node, view)
    tunnel = next((link for link in node.links if _overhead(link)), None)
    return Sizes(tunnel.mtu if tunnel else None, nic.mtu if nic else None)


def check_nodes(facts: dict[str, Sizes], view: View) -> Iterator[Found]:
    """One size on all nodes: of the tunnels where there are some, else of the interfaces below."""
    sizes = {host: fact.tunnel for host, fact in facts.items() if fact.tunnel}
    what = "flannel's links"
    if not sizes and not _told(view):
        sizes = {host: fact.nic for host, fact in facts.items() if fact.nic}
        what = "interfaces"
    counted = Counter(sizes.values())
    if len(counted) < 2:
        return
    usual = max(counted, key=lambda size: (counted[size], size))
    others = tuple(host for host, size in sizes.items() if size != usual)
    summary = f"MTUs of {what} differ between nodes: {', '.join(str(size) for size in sorted(counted, key=str))}"
    yield Found(summary, dict(sizes.items()), where=others, severity="warning")


def pods_pass(node: Host) -> bool | None:
    """Whether pods of the host reached pods of other nodes; None where nobody tried."""
    try:
        tried = [one.flag("ok") for one in node.probe("tcp/pod") if one.text("to") != one.text("from")]
    except Missing:
        return None
    return any(tried) if tried else None


def _told(view: View) -> bool:
    return bool(backend_option(view, "MTU", "mtu"))


def _overhead(link: Link) -> int:
    """What flannel's tunnel adds to a packet; 0 for any other link."""
    if not link.name.startswith("flannel"):
        return 0
    if link.kind == "vxlan":
        return (
            OVERHEAD_V6["vxlan"]
            if link.data.text("local6") or link.name.startswith("flannel-v6")
            else OVERHEAD["vxlan"]
        )
    if link.kind == "wireguard" or link.name.startswith("flannel-wg"):
        return OVERHEAD_V6["wireguard"] if "v6" in link.name else OVERHEAD["wireguard"]
    return {"ipip": OVERHEAD["ipip"], "tun": OVERHEAD["udp"]}.get(link.kind, 0)


def _nic(node: Host, view: View) -> Link | None:
    """The interface below the tunnel: as the tunnel names it, else as flannel would choose it."""
    tunnel = next((link for link in node.links if _overhead(link) and link.data.text("link")), None)
    if tunnel and (found := node.link(tunnel.data.text("link"))):
        return found
    try:
        return choose(node, interfaces(view, node.node_name)).link
    except Missing:
        return None


def _too_large(node: Host, view: View, tunnel: Link) -> Iterator[Found]:
    nic = node.link(tunnel.data.text("link")) if tunnel.data.text("link") else _nic(node, view)
    if nic is None or nic.mtu is None or tunnel.mtu is None or nic.loopback:
        return
    room = nic.mtu - _overhead(tunnel)
    if tunnel.mtu > room:
        soft = "info" if "v6" in tunnel.name else None
        compared = {tunnel.name: tunnel.mtu, nic.name: nic.mtu, "overhead": _overhead(tunnel)}
        yield Found(f"{tunnel.name} has MTU {tunnel.mtu}, {nic.name} leaves room for {room}", compared, severity=soft)


def _pods_too_large(node: Host, tunnels: list[Link]) -> Iterator[Found]:
    tunnel = min((link.mtu for link in tunnels if link.mtu and "v6" not in link.name), default=None)
    bridge = node.link("cni0")
    if tunnel is None or bridge is None or bridge.mtu is None or "LOWER_UP" not in bridge.flags:
        return
    ports = [link.mtu for link in node.links if link.master == bridge.name and link.mtu]
    largest = max([bridge.mtu, *ports])
    if ports and largest > tunnel:
        compared = {"cni0": bridge.mtu, "pods": max(ports), "tunnel": tunnel}
        yield Found(f"pods have an MTU of {largest}, flannel's link {tunnel}", compared, severity="warning")


def _path_too_small(node: Host, view: View, tunnels: list[Link]) -> Iterator[Found]:
    """Full packets between hosts are lost while smaller ones pass."""
    if not node.has("probes"):
        return
    nic = _nic(node, view)
    largest = [link.mtu + _overhead(link) for link in tunnels if link.mtu and "v6" not in link.name]
    need = max(largest, default=nic.mtu if nic and nic.mtu else None)
    if not tunnels and need is not None and _told_less(view, need):
        return
    lost: dict[str, dict[str, int]] = {}
    for peer, (passed, failed) in _pings(node).items():
        smaller = [size for size in passed if size < min(failed, default=0)]
        if need and smaller and min(failed) + _HEADERS <= need:
            lost[peer] = {"passes": max(smaller) + _HEADERS, "is lost": min(failed) + _HEADERS}
    if not lost and tunnels:
        lost = dict(_lost_in_the_tunnel(node, tunnels))
    if lost:
        first = list(lost.values())[0]
        summary = f"packets of {first['is lost']} bytes are lost between nodes, small ones pass"
        yield Found(summary, {"to": lost, "needed": need})


def _lost_in_the_tunnel(node: Host, tunnels: list[Link]) -> Iterator[tuple[str, dict[str, int]]]:
    """Full packets between pod networks are lost while smaller ones, or a connection, pass to the same node."""
    room = min((link.mtu for link in tunnels if link.mtu and "v6" not in link.name), default=0)
    answered = {one.text("to") for one in node.probe("tcp/pod") if one.flag("ok")}
    for peer, (passed, failed) in _pings(node, "icmp/").items():
        smaller = [size for size in passed if size < min(failed, default=0)]
        if failed and min(failed) + _HEADERS <= room and (smaller or peer in answered):
            yield peer, {"passes": max(smaller, default=0) + _HEADERS, "is lost": min(failed) + _HEADERS}


def _told_less(view: View, need: int) -> bool:
    told = backend_option(view, "MTU", "mtu")
    try:
        return bool(told) and int(told or 0) < need and backend(view) in OVERHEAD
    except Missing:
        return False


def _pings(node: Host, kind: str = "icmp-host/") -> dict[str, tuple[list[int], list[int]]]:
    """Payload sizes of pings to each peer: those that passed, those that were lost."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for one in node.probe(kind):
        size = one.text("what").rpartition("/")[2]
        if size.isdigit() and one.flag("ok") is not None and one.text("to") != one.text("from"):
            found.setdefault(one.text("to"), ([], []))[0 if one.flag("ok") else 1].append(int(size))
    return found
