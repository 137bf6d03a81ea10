# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A port that the cluster needs is in use by something else.

## What it means
On a host that is in no cluster yet something listens on a port of the control plane or the kubelet; or on any host
another VXLAN device or program has flannel's port.

## How it looks
kubeadm: `[ERROR Port-10250]: Port 10250 is in use`. flannel: `failed to set interface flannel.1 to UP state: address
already in use`.

## What looks like it but is not
- The ports of a member: they are its own kubelet's and API server's, also where kubeadm is run again by mistake.
- A listener on another address of the host only (a balancer on a floating address).
- Another VXLAN device on the same port with a VNI of its own: the kernel shares the port, unless one of them takes all
  VNIs (Cilium's cilium_vxlan).
- flannel.1 left from another cluster: see `reset-leftovers`.

## Mend
Stop what holds the port (`ss -lntup` names it), or give flannel another one: `flannel_port`.

## Prevent
podnet.kubeadm.preflight looks before anything is built.

## Sources
- kubernetes documentation, "Ports and protocols"; tkestack/tke issue 1279; cilium issue 8990; flannel issue 2925
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..._evidence._host import Host
from ..._evidence._said import refused, said_on
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import joined

RULE = Rule(
    title="A port is taken",
    severity="error",
    needs=("nodes.listening", "nodes.ip_address"),
    remedy="Stop what holds the port (ss -lntup names it), or set flannel_port to a free one.",
    explains=("flannel-link-missing", "route-missing"),
    rank=30,
)

_WORKER = {10250: "kubelet"}
_CONTROL_PLANE = {6443: "API server", 10257: "controller manager", 10259: "scheduler", 2379: "etcd", 2380: "etcd"}
_UP = re.compile(r"flannel[^\n]*: address already in use", re.IGNORECASE)
_PREFLIGHT = re.compile(r"\[ERROR Port-(\d+)\]: Port \d+ is in use")
_BIND = re.compile(r"listen tcp\S* \S*:(\d+): bind: address already in use")


class Listener(NamedTuple):
    protocol: str
    address: str
    port: int


def check_node(node: Host, view: View) -> Iterator[Found]:
    match = None if node.has("listening") else _PREFLIGHT.search(refused(node, _PREFLIGHT))
    if match and view.stage != "cluster":
        yield Found(f"something listens on tcp/{match[1]}", {"said": match[0]})
        return
    yield from _tunnel(node, view)
    yield from _kubelets(node)
    yield from _healthz(node, view)
    if view.stage == "cluster" or joined(node, view):
        return
    needed = dict(_WORKER)
    if node.has("roles") and "control_plane" in node.roles:
        needed.update(_CONTROL_PLANE)
    own = {"*", "0.0.0.0", "::"}
    if node.has("inventory_address") and node.inventory_address in {str(one.ip) for _link, one in node.addresses()}:
        own.add(node.inventory_address)
    taken = {
        f"{one.protocol}/{one.port}": needed[one.port]
        for one in listeners(node)
        if one.protocol == "tcp" and one.port in needed and one.address in own
    }
    if taken:
        said = ", ".join(f"{port} ({what})" for port, what in taken.items())
        yield Found(f"something listens on {said}", {"taken": taken})


def _healthz(node: Host, view: View) -> Iterator[Found]:
    """The ports of flannel's and kube-proxy's own health checks, which are the host's."""
    try:
        own = view.kube_node(node)
        here = view.cluster.pods_by_node.get(own.name, []) if own else []
        flannels = view.cluster.flannel_pods_by_node.get(own.name, []) if own else []
    except Missing:
        return
    named = {pod.name: "kube-proxy" for pod in here if pod.labels.get("k8s-app") == "kube-proxy"}
    if len(flannels) == 1:  # a second flannel has it: see flannel-duplicate
        named[flannels[0].name] = "flannel"
    for pod in here:
        match = None if pod.ready or pod.name not in named else _BIND.search(view.cluster.pod_log(pod))
        if match:
            yield Found(f"{named[pod.name]}'s port {match[1]} is in use by something else", {"said": match[0]})


def _kubelets(node: Host) -> Iterator[Found]:
    """What the kubelet itself says, also on a member."""
    lines = node.journal.get("kubelet", "").splitlines() if node.has("journal") else []
    said = [match for line in lines if (match := _BIND.search(line))]
    if said and not (node.has("units") and node.unit_works("kubelet")):
        yield Found(f"the kubelet's port {said[-1][1]} is in use by something else", {"said": said[-1][0]})


def _tunnel(node: Host, view: View) -> Iterator[Found]:
    try:
        kind, port = view.overlay.backend, view.overlay.port
    except Missing:
        return
    said = next((line.strip() for line in said_on(view, node) if _UP.search(line)), "")
    if kind not in ("vxlan", "udp", "wireguard") or port is None:
        return
    same = [link for link in node.links if link.kind == "vxlan" and link.data.number("port") == port]
    foreign = [link for link in same if not link.name.startswith("flannel")]
    all_vnis = [link.name for link in foreign if link.data.flag("external") or link.data.number("id") is None]
    compared = {"port": port, "links": [link.name for link in same], "said": said[-300:]}
    if kind == "vxlan" and (all_vnis or (said and foreign)):
        names = ", ".join(all_vnis or [link.name for link in foreign])
        yield Found(f"{names} has flannel's VXLAN port {port}", compared)
    elif said:
        yield Found(f"flannel's port {port} is in use", compared)
    elif (
        kind != "udp"
        and not same
        and not _own(node, kind)
        and not _started(node, view)
        and any(_listens(one, port) for one in listeners(node))
    ):
        yield Found(f"something else than flannel listens on udp/{port}", compared)


def _started(node: Host, view: View) -> bool:
    """Whether flannel is at work: it would not be if the port had been another's."""
    try:
        return bool(view.flannel_runs(node))
    except Missing:
        return False


def _own(node: Host, kind: str) -> bool:
    """Whether flannel's own link is there, whatever its port: then the socket may be its own."""
    return any(link.name.startswith("flannel") for link in node.links) or (
        kind == "wireguard" and any(link.kind == "wireguard" for link in node.links)
    )


def _listens(one: Listener, port: int) -> bool:
    return one.protocol == "udp" and one.port == port


def listeners(node: Host) -> Iterator[Listener]:
    """Sockets of ``ss -H -lntu`` lines."""
    for line in node.listening:
        words = line.split()
        if len(words) > 4 and words[0] in ("tcp", "udp"):
            place, separator, port = words[4].rpartition(":")
            if separator and port.isdigit():
                yield Listener(words[0], place.partition("%")[0].strip("[]"), int(port))
