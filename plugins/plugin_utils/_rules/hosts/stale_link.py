# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""cni0 or a flannel link is left from another life.

## What it means
The bridge cni0 keeps the address it was made with; the plugin does not change it. After a node got another pod CIDR
(it joined again, the range was changed, another network used the bridge), cni0 and what flannel says are apart.
flannel.1 can be left in the same way: with the address of another range, or bound to an interface that was deleted
and made again.

## How it looks
New pods: `failed to set bridge addr: "cni0" already has an IP address different from 10.244.2.1/24`. Old pods on the
bridge run on, and traffic to them times out although every pod is Running and every node Ready. With a tunnel whose
parent is gone, nothing crosses nodes.

## What looks like it but is not
- No cni0 at all: it appears with the first pod of the pod network on that node.
- cni0 without ports or carrier: no pod is there now.
- flannel.1's MAC differs from the annotation: see `vtep-mac-changed`. Links on a host that is in no cluster: see
  `reset-leftovers`. Another network's file made the bridge: see `cni-foreign-config`.

## Mend
Drain the node, delete cni0 (`ip link delete cni0`) once no veth is attached, restart flannel's pod there, uncordon:
the plugin makes the bridge anew. Or drain and reboot. Never delete cni0 under running pods: they keep a dead link
until they are deleted. For a flannel link: restart flannel's pod on that node, which makes it anew.

## Prevent
Before a node joins again, remove both links: `kubeadm reset` leaves them.

## Sources
- containernetworking/plugins `plugins/main/bridge/bridge.go`; containernetworking/cni issue 306; flannel issue 1309;
  coredns/deployment issue 87
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import backend_option
from ..._evidence._host import Host
from ..._evidence._kube import KubeNode
from ..._evidence._net import Link, Network, address, interface
from ..._evidence._said import heard, heard_without_host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A link is left from another life",
    severity="error",
    needs=("nodes.ip_address", "cluster.nodes"),
    remedy=(
        "Drain the node, delete the named link when nothing is attached to it, restart flannel's pod there, uncordon."
    ),
    repair="host:stale_links",
    explains=("route-stale", "route-missing", "fdb-stale", "ipam-leak", "flannel-rules-missing"),
    rank=25,
)

_PARENT = re.compile(r"if(\d+)")


_SAID = re.compile(
    r'"(?P<link>cni0|cbr0)\\*" already (?:has an IP address different from|exists but is not a bridge)'
    r"|failed to (?:configure|create vxlan device|ensure)[^\n]*(?P<tunnel>flannel\S*): link has incompatible addresses"
    r"|(?P<other>flannel\S*) already exists[^\n]*(?:incompatible|not a vxlan)"
)
_WORDS = {"link": "cni0 is another one than the node's range asks for", "tunnel": "flannel's link has another address"}


def check_cluster(view: View) -> Iterator[Found]:
    for place, _kube, said in heard_without_host(view, _SAID):
        yield Found(_summary(said), {"said": said}, where=place)


def _named(said: str) -> str:
    match = _SAID.search(said)
    return next((name for name in (match.groups() if match else ()) if name), "")


def _summary(said: str) -> str:
    return _WORDS["tunnel" if _named(said).startswith("flannel") else "link"]


def check_node(node: Host, view: View) -> Iterator[Found]:
    kube = view.kube_node(node)
    if kube is None:
        return
    expected = _expected(node, kube)
    if not expected:
        return
    found: list[Found] = []
    if bridge := node.link("cni0"):
        found += _bridge(node, bridge, expected)
    for link in node.links:
        if link.name.startswith("flannel") and link.kind == "vxlan":
            found += _tunnel(node, view, kube, link, expected)
    errors = [one for one in found if one.severity is None]
    if errors:  # one life left them all
        compared = {key: value for one in errors for key, value in one.evidence.items()}
        yield Found("; ".join(one.summary for one in errors), compared)
    elif (said := heard(view, node, _SAID)) and not node.link(_named(said)):  # what is seen now counts more
        yield Found(_summary(said), {"said": said})
    yield from (one for one in found if one.severity)


def _expected(node: Host, kube: KubeNode) -> list[Network]:
    """The node's ranges: of the Node, else of subnet.env."""
    if kube.pod_networks:
        return kube.pod_networks
    try:
        found = [interface(node.subnet_env.get(key, "")) for key in ("FLANNEL_SUBNET", "FLANNEL_IPV6_SUBNET")]
    except Missing:
        return []
    return [one.network for one in found if one is not None]


def _bridge(node: Host, link: Link, expected: list[Network]) -> Iterator[Found]:
    ports = [one.name for one in node.links if one.master == link.name]
    own = [one for one in link.addresses if not one.ip.is_link_local]
    versions = {one.version for one in expected}
    wrong = [one for one in own if one.version in versions and one.network not in expected]
    compared = {"cni0": [str(one) for one in own], "node's ranges": [str(one) for one in expected], "ports": len(ports)}
    if link.kind and link.kind != "bridge":
        yield Found(f"cni0 is a {link.kind}, not a bridge", compared)
    elif wrong:
        yield Found(f"cni0 has {wrong[0]}, the node's range is {_of(wrong[0].version, expected)}", compared)
    elif ports and 4 in versions and not any(one.version == 4 for one in own):
        yield Found("cni0 has lost its address, and pods are attached to it", compared)


def _tunnel(node: Host, view: View, kube: KubeNode, link: Link, expected: list[Network]) -> Iterator[Found]:
    version = 6 if "v6" in link.name else 4
    own = [one for one in link.addresses if one.version == version and not one.ip.is_link_local]
    bases = [one.network_address for one in expected if one.version == version]
    compared = {link.name: [str(one) for one in own], "node's ranges": [str(one) for one in expected]}
    identity, told = link.data.number("id"), backend_option(view, "VNI", "vni") or 1
    if identity is not None and identity != told and identity != _leased_vni(kube):
        summary = f"{link.name} has VNI {identity}, flannel uses {told}"
        yield Found(summary, {**compared, "VNI": identity}, severity="warning")
        return
    if own and bases and not any(one.ip in bases for one in own):
        yield Found(f"{link.name} has {own[0].ip}, the node's range begins with {bases[0]}", compared)
    local = address(link.data.text("local") or link.data.text("local6"))
    if local is not None and all(one.ip != local for _link, one in node.addresses()):
        yield Found(f"{link.name} sends from {local}, which the host does not have", {**compared, "local": str(local)})
    parent = link.data.text("link")
    if parent and node.link(parent) is None and _PARENT.fullmatch(parent):
        yield Found(f"{link.name} is bound to an interface that is gone (index {parent[2:]})", compared)


def _leased_vni(kube: KubeNode) -> int | None:
    match = re.search(r'"VNI": ?(\d+)', kube.flannel("backend-data"))
    return int(match[1]) if match else None


def _of(version: int, expected: list[Network]) -> str:
    return ", ".join(str(one) for one in expected if one.version == version)
