# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which interface and address flannel takes on a host, as flanneld chooses them (pkg/ipmatch, main.go)."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    """By the first --iface that has an address, else --iface-regex, else --iface-can-reach; if flannel is told none of
    them, by the default route. Raises `Missing`."""
    if not asked.given:
        return _routed(node, _default(node, version), version, f"no IPv{version} default route")
    failed = []
    for choice in _tried(node, asked, version):
        if not choice.fault:
            return choice
        failed.append(choice)
    return next((one for one in failed if one.link), failed[0])


def _tried(node: Host, asked: Interfaces, version: int) -> Iterator[Choice]:
    nothing = Choice(None, None, f"no interface matches {', '.join(asked.names + asked.patterns)}")
    for name in asked.names:
        yield _by_name(node, name, version) or nothing
    for pattern in asked.patterns:
        yield _by_pattern(node, pattern, version) or nothing
    if target := address(asked.reach):
        yield _routed(node, route_to(node, target), version, f"no route to {target}")
    elif asked.reach:
        yield Choice(None, None, f"{asked.reach} is no address to reach")


def first_address(link: Link, version: int) -> Interface | None:
    """The address that flannel takes of a link: the first one that is not link-local."""
    own = [one for one in link.addresses if one.version == version]
    return next((one for one in own if not one.ip.is_link_local), None)


def _addressed(link: Link, version: int, what: str = "") -> Choice:
    found = first_address(link, version)
    return Choice(link, found, "" if found else f"{what or link.name} has no IPv{version} address")


def _routed(node: Host, route: Route | None, version: int, fault: str) -> Choice:
    if route is None:
        return Choice(None, None, fault)
    link = node.link(route.dev)
    if link is None:
        return Choice(None, None, f"the route's interface {route.dev} is not there")
    return _addressed(link, version, f"{link.name}, which the {'default ' if route.default else ''}route uses,")


def _by_name(node: Host, name: str, version: int) -> Choice | None:
    wanted = address(name)
    if wanted is None:
        link = node.link(name)
        return _addressed(link, version) if link else None
    for link, one in node.addresses():
        if one.ip == wanted:
            return Choice(link, one) if one.version == version else _addressed(link, version)
    return None


def _by_pattern(node: Host, pattern: str, version: int) -> Choice | None:
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise Malformed("intent.flannel.interface_regex", f"{pattern} is no pattern: {error}") from error
    for link, one in node.addresses(version):
        if expression.search(str(one.ip)) and not one.ip.is_link_local:
            return Choice(link, one)
    return next((_addressed(link, version) for link in node.links if expression.search(link.name)), None)


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
