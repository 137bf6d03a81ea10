# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the evidence of a host tells beside its rules: addresses, routes, kinds of links, kernel switches."""

from __future__ import annotations

import functools
import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ._values import UNKNOWN, Tri

_MANY = 256
"""From so many routes on, not all of them are looked at for the few that are asked for."""
_TABLES = ("main", "local", "default", "254", "255", "253")


class Route(NamedTuple):
    """Of one that covers an address; `gateway` is empty where its target is on the link."""

    length: int
    device: str
    type: str
    metric: int
    gateway: str


class Facts:
    """Answers questions about the host, with None or UNKNOWN where its evidence (`nodes.NAME`) does not tell."""

    def __init__(self, node: Mapping[str, Any]) -> None:
        self.links = {link.get("ifname"): link for link in _objects(node.get("ip_address"))}
        self.has_addresses = node.get("ip_address") is not None
        self.addresses: dict[int, set[tuple[int, str]]] = {4: set(), 6: set()}
        self.broadcasts: set[int] = set()
        for name, link in self.links.items():
            for info in link.get("addr_info") or []:
                self._address(info, str(name))
        self._node = node
        self.plain_rules = _plain_rules(node.get("ip_rule"))
        sysctl = node.get("sysctl")
        self.sysctl: Mapping[str, Any] = sysctl if isinstance(sysctl, Mapping) else {}
        found = re.match(r"(\d+)\.(\d+)", str(node.get("kernel") or ""))
        self.kernel = (int(found.group(1)), int(found.group(2))) if found else (6, 0)

    @functools.cached_property
    def routes(self) -> dict[int, Routes | None]:
        """Routes by family, None where they were not looked at."""
        return {4: _routes(self._node.get("ip_route"), 4), 6: _routes(self._node.get("ip6_route"), 6)}

    def _address(self, info: Mapping[str, Any], link: str) -> None:
        try:
            if info.get("local"):
                local = ipaddress.ip_address(info["local"])
                self.addresses[local.version].add((int(local), link))
            if info.get("broadcast"):
                self.broadcasts.add(int(ipaddress.ip_address(info["broadcast"])))
        except ValueError:
            return

    def is_local(self, value: Any, family: int) -> Tri:
        """Whether the host itself has the address."""
        if value is UNKNOWN:
            return None
        if family == 4 and value >> 24 == 127:
            return True
        if family == 6 and value == 1:
            return True
        if not self.has_addresses:
            return None
        return any(local == value for local, _link in self.addresses[family])

    def is_bridge(self, name: Any) -> Tri:
        """Whether the link is a bridge; cni0 is one without asking."""
        if name is UNKNOWN:
            return None
        if name in self.links:
            kind = (self.links[name].get("linkinfo") or {}).get("info_kind")
            return kind == "bridge" if kind or "linkinfo" in self.links[name] else name in ("cni0", "docker0")
        return True if name == "cni0" else None

    def ports(self, bridge: Any) -> list[str]:
        """Names of the links that are ports of a bridge, as far as the evidence lists them."""
        return [str(name) for name, link in self.links.items() if link.get("master") == bridge]

    def on_link(self, value: Any, device: Any, family: int) -> Tri:
        """Whether an address is reached by a device without a gateway."""
        routes = self.routes[family]
        if value is UNKNOWN or routes is None:
            return None
        return any(
            route.type == "unicast" and route.device == device and not route.gateway and route.length > 0
            for route in routes.to(value)
        )

    def group(self, name: Any) -> Any:
        """The link's group number, or UNKNOWN."""
        group = self.links.get(name, {}).get("group") if name is not UNKNOWN else None
        if group is None:
            return UNKNOWN
        return 0 if group == "default" else int(group) if str(group).isdigit() else UNKNOWN

    def kind_of_link(self, name: Any) -> Any:
        """ether or loopback, as nft and ip call them alike; UNKNOWN for all others."""
        kind = self.links.get(name, {}).get("link_type") if name is not UNKNOWN else None
        return kind if kind in ("ether", "loopback") else UNKNOWN

    def device_for(self, value: Any, family: int, default_counts: bool = True) -> Any:
        """Device of the route to an address: a name, None where there is no route, UNKNOWN where none can tell."""
        routes = self.routes[family]
        if routes is None or value is UNKNOWN or self.plain_rules is False:
            return UNKNOWN
        best: Route | None = None
        for route in routes.to(value):
            if not route.length and not default_counts:
                continue
            if best is None or (route.length, -route.metric) > (best.length, -best.metric):
                best = route
        if best is None:
            return None
        if best.type in ("local", "unicast"):
            return best.device or UNKNOWN
        return None


class Routes:
    """Routes of one family by what they lead to: a node of a large cluster has thousands, a packet asks for few."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.by_target: dict[tuple[int, int], list[Mapping[str, Any]]] = {}

    @functools.cached_property
    def _lengths(self) -> list[int]:
        return sorted({length for _base, length in self.by_target}, reverse=True)

    def within(self, base: int, length: int, most: int, without: range) -> list[int]:
        """First addresses of at most so many narrower networks in one, not in `without`, spread over all there are."""
        targets = list(self.by_target)
        if len(targets) <= _MANY:
            found = sorted(one for one, own in targets if self._leads_into(one, own, base, length, without))
            return found if len(found) <= most else [found[index * len(found) // most] for index in range(most)]
        bounds = [index * len(targets) // most for index in range(most + 1)]
        parts = (targets[low:high] for low, high in zip(bounds, bounds[1:]))
        hits = (next((one for one in part if self._leads_into(*one, base, length, without)), None) for part in parts)
        return [one[0] for one in hits if one]

    def _leads_into(self, first: int, own: int, base: int, length: int, without: range) -> bool:
        rest = self.bits - length
        if not length < own < self.bits or first >> rest != base >> rest or first in without:
            return False
        return any(str(item.get("type", "unicast")) == "unicast" for item in self.by_target[first, own])

    def to(self, value: int) -> Iterator[Route]:
        """Those that cover an address, the narrowest first, else as listed."""
        for length in self._lengths:
            rest = self.bits - length
            for item in self.by_target.get((value >> rest << rest, length), ()):
                yield Route(
                    length,
                    str(item.get("dev") or ""),
                    str(item.get("type", "unicast")),
                    int(item.get("metric") or 0),
                    str(item.get("gateway") or item.get("via") or ""),
                )


def _objects(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return [item for item in value or [] if isinstance(item, (dict, Mapping))]  # most are dicts, and that is quick


@functools.lru_cache(maxsize=50_000)
def _target(text: str) -> tuple[int, int] | None:
    """First address and length of a route's target; hosts of a cluster have most of theirs in common."""
    if text == "default":
        return 0, 0
    try:
        net = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    return int(net.network_address), net.prefixlen


def _routes(value: Any, family: int) -> Routes | None:
    if value is None:
        return None
    found = Routes(32 if family == 4 else 128)
    bits, by_target = found.bits, found.by_target
    for item in _objects(value):
        if "table" in item and str(item["table"]) not in _TABLES:
            continue
        if family == 4 and "pref" in item:  # of IPv6, which `ip -j route show table all` lists too
            continue
        target = _target(str(item.get("dst", "")))
        if target in by_target:
            by_target[target].append(item)
        elif target is not None and target[1] <= bits:
            by_target[target] = [item]
    return found


def _plain_rules(value: Any) -> bool | None:
    """Whether the routing rules are the three that every host has; None if not looked at."""
    if value is None:
        return None
    return all(str(rule.get("table")) in _TABLES and rule.get("src", "all") == "all" for rule in _objects(value))
