# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the evidence of a host tells beside its rules: addresses, routes, kinds of links, kernel switches."""

from __future__ import annotations

import functools
import ipaddress
import json
import re
from collections.abc import Mapping
from typing import Any

from ._values import UNKNOWN, Tri

Route = tuple[int, int, str, str, int, str]  # base, prefix length, device, type, metric, gateway


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
        self.routes = {4: _routes(node.get("ip_route"), 4), 6: _routes(node.get("ip6_route"), 6)}
        self.plain_rules = _plain_rules(node.get("ip_rule"))
        sysctl = node.get("sysctl")
        self.sysctl: Mapping[str, Any] = sysctl if isinstance(sysctl, Mapping) else {}
        found = re.match(r"(\d+)\.(\d+)", str(node.get("kernel") or ""))
        self.kernel = (int(found.group(1)), int(found.group(2))) if found else (6, 0)

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
        if value is UNKNOWN or self.routes[family] is None:
            return None
        bits = 32 if family == 4 else 128
        return any(
            kind == "unicast" and name == device and not gateway and value >> (bits - length) == base >> (bits - length)
            for base, length, name, kind, _metric, gateway in self.routes[family] or ()
            if length
        )

    def group(self, name: Any) -> Any:
        """The link's group number, or UNKNOWN."""
        group = self.links.get(name, {}).get("group") if name is not UNKNOWN else None
        if group is None:
            return UNKNOWN
        return 0 if group == "default" else int(group) if str(group).isdigit() else UNKNOWN

    def device_for(self, value: Any, family: int, default_counts: bool = True) -> Any:
        """Device of the route to an address: a name, None where there is no route, UNKNOWN where none can tell."""
        routes = self.routes[family]
        if routes is None or value is UNKNOWN or self.plain_rules is False:
            return UNKNOWN
        bits = 32 if family == 4 else 128
        best: Route | None = None
        for route in routes:
            base, length, _device, _type, metric, _gateway = route
            if length and value >> (bits - length) != base >> (bits - length):
                continue
            if not length and not default_counts:
                continue
            if best is None or (length, -metric) > (best[1], -best[4]):
                best = route
        if best is None:
            return None
        if best[3] in ("local", "unicast"):
            return best[2] or UNKNOWN
        return None


def _objects(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return [item for item in value or [] if isinstance(item, Mapping)]


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


def _routes(value: Any, family: int) -> list[Route] | None:
    if value is None:
        return None
    bits = 32 if family == 4 else 128
    found: list[Route] = []
    for item in _objects(value):
        if str(item.get("table", "main")) not in ("main", "local", "default", "254", "255", "253"):
            continue
        target = _target(str(item.get("dst", "")))
        if target is None or target[1] > bits:
            continue
        base, length = target
        device = str(item.get("dev") or "")
        gateway = str(item.get("gateway") or item.get("via") or "")
        found.append((base, length, device, str(item.get("type", "unicast")), int(item.get("metric") or 0), gateway))
    return found


def _plain_rules(value: Any) -> bool | None:
    """Whether the routing rules are the three that every host has; None if not looked at."""
    if value is None:
        return None
    return all(
        str(rule.get("table")) in ("local", "main", "default", "255", "254", "253") and rule.get("src", "all") == "all"
        for rule in _objects(value)
    )
