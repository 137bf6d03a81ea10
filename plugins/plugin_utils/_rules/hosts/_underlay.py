# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which interface and address flannel takes on a host, as flanneld chooses them (pkg/ipmatch, main.go)."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..._evidence._asked import Interfaces
from ..._evidence._host import Host
from ..._evidence._net import Address, Interface, Link, Route, address
from ..._finding import Malformed


class Choice(NamedTuple):
    """``fault`` says why flannel finds none; then ``link`` and ``address`` may be None."""

    link: Link | None
    address: Interface | None
    fault: str = ""


def choose(node: Host, asked: Interfaces, version: int = 4) -> Choice:
    """By --iface, then --iface-regex, then --iface-can-reach, else by the default route. Raises `Missing`."""
    for name in asked.names:
        if link := _by_name(node, name):
            return _addressed(link, version, f"{link.name} has no IPv{version} address")
    for pattern in asked.patterns:
        if link := _by_pattern(node, pattern, version):
            return _addressed(link, version, f"{link.name} has no IPv{version} address")
    if asked.names or asked.patterns:
        return Choice(None, None, f"no interface matches {', '.join(asked.names + asked.patterns)}")
    target = address(asked.reach) if asked.reach else None
    route = route_to(node, target) if target else _default(node, version)
    if route is None:
        return Choice(None, None, f"no route to {target}" if target else f"no IPv{version} default route")
    link = node.link(route.dev)
    if link is None:
        return Choice(None, None, f"the route's interface {route.dev} is not there")
    return _addressed(link, version, f"{link.name}, which the default route uses, has no IPv{version} address")


def first_address(link: Link, version: int) -> Interface | None:
    """The address that flannel takes of a link: the first one that is not link-local."""
    own = [one for one in link.addresses if one.version == version]
    return next((one for one in own if not one.ip.is_link_local), None)


def _addressed(link: Link, version: int, fault: str) -> Choice:
    found = first_address(link, version)
    return Choice(link, found, "" if found else fault)


def _by_name(node: Host, name: str) -> Link | None:
    wanted = address(name)
    if wanted is None:
        return node.link(name)
    return next((link for link, one in node.addresses() if one.ip == wanted), None)


def _by_pattern(node: Host, pattern: str, version: int) -> Link | None:
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise Malformed("intent.flannel.interface_regex", f"{pattern} is no pattern: {error}") from error
    by_address = (link for link, one in node.addresses(version) if expression.search(str(one.ip)))
    by_name = (link for link in node.links if expression.search(link.name))
    return next(by_address, None) or next(by_name, None)


def _default(node: Host, version: int) -> Route | None:
    found = [one for one in node.own_main_routes(version) if one.default and one.type == "unicast" and one.dev]
    return min(found, key=lambda one: one.metric) if found else None


def route_to(node: Host, target: Address) -> Route | None:
    """The route of the main table that a packet to ``target`` takes, or None."""
    found = [
        one
        for one in node.main_routes(target.version)
        if one.type == "unicast" and target in one.dst and (one.dev or one.gateway)
    ]
    return max(found, key=lambda one: (one.dst.prefixlen, -one.metric)) if found else None
