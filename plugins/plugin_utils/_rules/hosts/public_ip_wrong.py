# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The address that flannel tells its peers is not the node's.

## What it means
flannel writes the address of its interface into the annotation flannel.alpha.coreos.com/public-ip; every peer sends
its tunnel packets there. It takes the first address of the interface, which may be a floating one, and does not look
again until it starts the next time.

## How it looks
Pods on that node reach no pod on other nodes and are not reached; all pods are Running. On peers `bridge fdb show dev
flannel.1` has the wrong address. Nothing is logged.

## What looks like it but is not
- flannel.alpha.coreos.com/public-ip-overwrite: then the address is what somebody asked for (nodes behind NAT), unless
  flannel tells another one all the same (v0.25.2 did), or nothing arrives there.
- Another address of the same interface and network than the node is registered with: it works, and is a warning, for
  it may be a floating one.
- flannel over a VPN by `--iface`: its address is not the kubelet's, and all nodes have one in the same network.
- A floating address on the interface behind the node's own: flannel takes the first.
- The kubelet's address is the wrong one: see `interface-wrong`.

## Mend
Never edit the annotation, flannel owns it: restart flannel's pod on that node after the address is right. Where it
takes the floating address: `flannel_interface_regex`, or put the floating address behind the node's own. Behind NAT
set flannel.alpha.coreos.com/public-ip-overwrite.

## Prevent
Floating addresses as /32 and added after the node's own (keepalived does); `flannel_interface_regex` over addresses.

## Sources
- flannel issues 712, 760, 1052, 1978; flannel `pkg/subnet/kube/annotations.go`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..._evidence._endpoint import server_host
from ..._evidence._host import Host
from ..._evidence._kube import KubeNode
from ..._evidence._net import Address, address
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._stand import Peers, Stand, networks_of_most, shared, stand

RULE = Rule(
    title="flannel's public address is not the node's",
    severity="error",
    needs=("cluster.nodes", "nodes.ip_address"),
    remedy=(
        "Put the address right (flannel_interface_regex, public-ip-overwrite behind NAT), then restart flannel's "
        "pod on the node."
    ),
    explains=("fdb-stale", "vxlan-port-blocked", "stale-link", "route-missing"),
    rank=20,
)

_SIBLING = "flannel tells its peers another address of the interface than the node is registered with"
_TUNNEL = ("icmp/", "tcp/pod", "udp/dns")


class Fact(NamedTuple):
    """``lost``: hosts that the host reaches, and not through the tunnel; ``reached``: those it reaches through it."""

    stand: Stand
    lost: frozenset[str]
    reached: frozenset[str]


def collect(node: Host, view: View) -> Fact:
    if not node.has("probes"):
        return Fact(stand(node, view), frozenset(), frozenset())
    ok = {what: {one.text("to") for one in node.probe(what) if one.flag("ok")} for what in ("icmp-host/", *_TUNNEL)}
    tried = {one.text("to") for what in _TUNNEL for one in node.probe(what)} - {node.name}
    reached = set().union(*(ok[what] for what in _TUNNEL))
    return Fact(stand(node, view), frozenset((tried - reached) & ok["icmp-host/"]), frozenset(reached))


def check_nodes(told_by: dict[str, Fact], view: View) -> Iterator[Found]:
    facts = {host: fact.stand for host, fact in told_by.items()}
    by_node = {fact.node: (host, fact) for host, fact in facts.items() if fact.node}
    leased = {node.name: node for node in view.cluster.nodes if node.flannel_lease}
    public = {name: found for name, node in leased.items() if (found := address(node.flannel("public-ip")))}
    told = set()
    for own, names in shared(public):
        told.update(names)
        places = tuple(view.place(name) for name in names)
        yield Found(f"{len(names)} nodes tell their peers the address {own}", {"nodes": names}, where=places)
    endpoints = _endpoints(view)
    peers = Peers(public.values())
    for name, own in public.items():
        node = leased[name]
        asked = address(node.flannel("public-ip-overwrite"))
        if name not in told and asked and asked != own and asked.version == own.version:
            overwritten = {"public-ip": str(own), "public-ip-overwrite": str(asked)}
            text = f"flannel tells its peers {own} though public-ip-overwrite asks for {asked}"
            yield Found(text, overwritten, where=view.place(name))
            continue
        if name not in told and asked and _unheard(view.place(name), asked, by_node.get(name), told_by):
            unheard = {"public-ip-overwrite": str(asked), "InternalIP": [str(one) for one in node.internal_addresses]}
            text = f"public-ip-overwrite sends the other nodes to {asked}, and nothing arrives"
            yield Found(text, unheard, where=view.place(name))
        if name in told or asked or node.flannel("node-public-ip"):
            continue
        host, fact = by_node.get(name, (view.place(name), None))
        why = _why(own, node, fact, peers, endpoints) if fact else _why_unseen(own, node, leased, public)
        if why or _beside(own, node, fact):
            compared = {
                "public-ip": str(own),
                "InternalIP": [str(one) for one in node.internal_addresses],
                "addresses": [str(one) for one in fact.addresses] if fact else [],
            }
            if why:
                yield Found(f"flannel's public address {own} {why}", compared, where=host)
            else:  # it may be meant; where it is a floating one, it will leave
                yield Found(_SIBLING, compared, where=host, severity="warning")


def _unheard(host: str, asked: Address, own: tuple[str, Stand] | None, facts: dict[str, Fact]) -> bool:
    """Whether all others reach the host, and none its pods, at an address that the host does not have."""
    others = [fact for name, fact in facts.items() if name != host]
    if own is None or asked in own[1].addresses or not any(host in fact.lost for fact in others):
        return False
    return not any(host in fact.reached for fact in others)


def _why(own: Address, node: KubeNode, fact: Stand, peers: Peers, endpoints: set[Address]) -> str:
    internal = [one for one in node.internal_addresses if one.version == own.version]
    if own not in fact.addresses:
        return "" if fact.asked.public_ip else "is no address of the host"
    if not internal or own in internal:
        return ""
    if own in endpoints:
        return "is the floating address of the control plane"
    network, link = fact.addresses[own]
    beside = [one for one in internal if fact.addresses.get(one, (None, ""))[1] == link]
    if beside and network.prefixlen == network.max_prefixlen:
        return f"is a floating one on {link}, the node's own there is {beside[0]}"
    if better := networks_of_most(fact, own, peers):
        return f"is not in {better[1]}, where the other nodes' are"
    return ""


def _beside(own: Address, node: KubeNode, fact: Stand | None) -> bool:
    """Whether it is another address of the interface and network than the node is registered with."""
    internal = [one for one in node.internal_addresses if one.version == own.version]
    if fact is None or not internal or own in internal:
        return False
    return any(fact.addresses.get(one) == fact.addresses.get(own) for one in internal if one in fact.addresses)


def _why_unseen(own: Address, node: KubeNode, leased: dict[str, KubeNode], public: dict[str, Address]) -> str:
    """Without the host's evidence: it differs from the Node's own address, and no other node's does."""
    if not node.internal_addresses or own in node.internal_addresses:
        return ""
    others = [name for name in public if name != node.name]
    agree = [name for name in others if public[name] in leased[name].internal_addresses]
    return "is not the node's address" if agree and len(agree) == len(others) else ""


def _endpoints(view: View) -> set[Address]:
    found = set()
    for part, key in ((view.cluster, "kubeadm_config"), (view.intent, "control_plane_endpoint")):
        try:
            value = getattr(part, key)
        except Missing:
            continue
        text = value if isinstance(value, str) else value.text("controlPlaneEndpoint")
        if parsed := address(server_host(text)):
            found.add(parsed)
    return found
