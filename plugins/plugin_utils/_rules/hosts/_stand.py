# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a host stands: its addresses, and which one flannel and the kubelet take by themselves."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..._evidence._asked import Interfaces, interfaces
from ..._evidence._host import Host
from ..._evidence._net import Address, Network
from ..._finding import Missing
from ..._view import View
from ._underlay import choose


class Stand(NamedTuple):
    """``node``: the Node's name, "" where there is none; ``addresses``: with their networks and interfaces; ``chosen``:
    what flannel takes; ``asked``: how it is told to choose; ``machine``: what tells one host from another;
    ``inventory``: the address that the inventory has of it, or ""."""

    node: str
    addresses: dict[Address, tuple[Network, str]]
    chosen: Address | None
    asked: Interfaces
    machine: str
    inventory: str = ""


def stand(node: Host, view: View) -> Stand:
    """Raises `Missing` where addresses were not looked at."""
    try:
        kube = view.kube_node(node) if view.stage == "cluster" else None
    except Missing:
        kube = None
    asked = interfaces(view, kube.name if kube else node.node_name)
    addresses = {one.ip: (one.network, link.name) for link, one in node.addresses() if not one.ip.is_link_local}
    try:
        choice = choose(node, asked).address
    except Missing:
        choice = None
    machine = node.boot_id if node.has("boot_id") else ""
    inventory = node.inventory_address if node.has("inventory_address") else ""
    return Stand(kube.name if kube else "", addresses, choice.ip if choice else None, asked, machine, inventory)


def shared(addresses: Mapping[str, Address | None]) -> Iterator[tuple[Address, list[str]]]:
    """Addresses that more than one has, with their names."""
    names: dict[Address, list[str]] = {}
    for name, one in addresses.items():
        if one is not None:
            names.setdefault(one, []).append(name)
    yield from ((one, found) for one, found in names.items() if len(found) > 1)


class Peers:
    """Addresses of all nodes, of which those in a network are counted without looking at each."""

    def __init__(self, addresses: Iterable[Address]) -> None:
        self._sorted: dict[int, list[int]] = {4: [], 6: []}
        for one in addresses:
            self._sorted[one.version].append(int(one))
        for numbers in self._sorted.values():
            numbers.sort()

    def count(self, version: int) -> int:
        return len(self._sorted[version])

    def inside(self, network: Network) -> int:
        numbers = self._sorted[network.version]
        first, last = int(network.network_address), int(network.broadcast_address)
        return bisect_right(numbers, last) - bisect_left(numbers, first)


def networks_of_most(fact: Stand, own: Address, peers: Peers) -> tuple[str, Network] | None:
    """The host's address in a network where most of the others are, if none of them is in the network of ``own``.

    ``peers`` holds ``own`` too.
    """
    others = peers.count(own.version) - 1
    if others < 1 or own not in fact.addresses:
        return None
    network, _link = fact.addresses[own]
    if peers.inside(network) > 1:
        return None
    for one, (other, _name) in fact.addresses.items():
        shared_link = one != own and other.version == own.version and other.prefixlen < other.max_prefixlen
        if shared_link and peers.inside(other) * 2 >= others:
            return str(one), other
    return None
