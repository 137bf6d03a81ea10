# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kubelet, or flannel, takes another interface than the one that joins the nodes.

## What it means
Both take the address of the default route's interface unless they are told. On virtual machines with a NAT card that
is one and the same address everywhere (10.0.2.15), or an address that the other nodes cannot reach.

## How it looks
`kubectl get nodes -o wide` shows one INTERNAL-IP on several nodes, or one from another network than the others have.
`kubectl logs` and `exec` fail for such nodes, services with node addresses fail, flannel's peers send to nowhere.

## What looks like it but is not
- Two cards with the default route over the one that joins the nodes: that is right, whatever the inventory connects
  to.
- Nodes in different networks that route to each other.
- flannel over a VPN by `--iface=wg0` while the kubelet has the card's address: that is meant.
- Only flannel's own annotation is wrong: see `public-ip-wrong`. No interface at all: see `interface-none`.

## Mend
Kubelet: `--node-ip=ADDRESS` in KUBELET_EXTRA_ARGS of /etc/default/kubelet, restart it. flannel: `flannel_interface`,
or `flannel_interface_regex` over addresses. Or move the default route to the right card.

## Prevent
Name interfaces wherever a host has more than one; podnet.kubeadm.preflight compares all hosts.

## Sources
- flannel issues 139, 1379; kubernetes/website issue 6870; kubernetes/kubeadm issue 203
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._net import Address, address
from ..._evidence._said import told
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._stand import Peers, Stand, networks_of_most, shared, stand

RULE = Rule(
    title="The wrong interface is used",
    severity="error",
    needs=("nodes.ip_address", "nodes.ip_route"),
    remedy=(
        "Give the kubelet --node-ip and set flannel_interface, or flannel_interface_regex over addresses, to the "
        "nodes' network."
    ),
    explains=("public-ip-wrong", "route-missing", "fdb-stale", "l2-adjacency"),
    rank=20,
)

_USES = re.compile(r"Using interface with name \S+ and address (?P<address>[0-9a-fA-F.:]+)")


def collect(node: Host, view: View) -> Stand:
    return stand(node, view)


def check_nodes(facts: dict[str, Stand], view: View) -> Iterator[Found]:
    registered = _registered(view)
    if registered is None and view.stage == "cluster":
        yield from _by_words(facts, view)
    elif registered is None:
        yield from _before(facts)
    else:
        yield from _registered_wrong(facts, view, registered)


def _by_words(facts: dict[str, Stand], view: View) -> Iterator[Found]:
    """Without the Nodes: the address that flannel says it uses, against the one that the inventory has."""
    for said in told(view, _USES).values():
        used = address(said["address"])
        for host, fact in facts.items():
            own = address(fact.inventory)
            if used is None or own is None or used == own or not {used, own} <= fact.addresses.keys():
                continue
            if own not in fact.addresses[used][0]:
                compared = {"flannel uses": str(used), "the inventory": str(own)}
                yield Found(f"flannel uses {used}, the host's address is {own}", compared, where=host)


def _registered(view: View) -> dict[str, Address] | None:
    """Every Node's first address, None where there is no cluster."""
    if view.stage != "cluster":
        return None
    try:
        return {node.name: node.internal_addresses[0] for node in view.cluster.nodes if node.internal_addresses}
    except Missing:
        return None


def _registered_wrong(facts: dict[str, Stand], view: View, registered: dict[str, Address]) -> Iterator[Found]:
    told = set()
    for twice, names in shared(registered):
        told.update(names)
        places = tuple(view.place(name) for name in names)
        yield Found(f"{len(names)} nodes are registered with the address {twice}", {"nodes": names}, where=places)
    peers = Peers(registered.values())
    for host, fact in facts.items():
        own = registered.get(fact.node)
        if own is None or fact.node in told:
            continue
        if own not in fact.addresses:
            compared = {"registered": str(own), "addresses": [str(one) for one in fact.addresses]}
            summary = f"the node is registered with {own}, which no interface of the host has"
            yield Found(summary, compared, where=host, severity="warning")
        elif better := networks_of_most(fact, own, peers):
            compared = {
                "registered": str(own),
                "the other nodes": f"in {better[1]}",
                "the host's address there": better[0],
            }
            yield Found(f"the node is registered with {own}, the others are in {better[1]}", compared, where=host)


def _before(facts: dict[str, Stand]) -> Iterator[Found]:
    """What would be chosen on hosts that are no members yet."""
    chosen = {host: fact.chosen for host, fact in facts.items() if fact.chosen}
    told = set()
    for own, hosts in shared(chosen):
        if len({facts[host].machine for host in hosts if facts[host].machine}) == 1:
            continue
        told.update(hosts)
        summary = f"flannel and the kubelet would take {own}, which {len(hosts)} hosts have"
        yield Found(summary, {"hosts": hosts}, where=tuple(hosts))
    peers = Peers(chosen.values())
    for host, own in chosen.items():
        if host not in told and (better := networks_of_most(facts[host], own, peers)):
            compared = {"chosen": str(own), "the other hosts": f"in {better[1]}", "the host's address there": better[0]}
            summary = f"flannel and the kubelet would take {own}, the other hosts are in {better[1]}"
            yield Found(summary, compared, where=host, severity="warning")
