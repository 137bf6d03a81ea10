# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``ip rule`` and routing tables followed as the kernel does, for a packet without mark that comes from a pod."""

from __future__ import annotations

from collections.abc import Callable

from ._item import Item, as_number
from ._net import Address, Route, address

NAMES = {"255": "local", "254": "main", "253": "default"}


class Rules:
    """The rules of a host for packets without a mark from ``source`` (a pod of the host), and the tables they name."""

    def __init__(self, rules: list[Item], routes: Callable[[], list[Route]], source: Address | None = None) -> None:
        self._rules = sorted(
            (one for one in rules if _for_pods(one, source)), key=lambda one: as_number(one.get("priority")) or 0
        )
        self._tables: dict[str, dict[int, dict[int, Route]]] = {}
        for route in routes() if self.tables else ():
            by_length = self._tables.setdefault(NAMES.get(route.table, route.table), {})
            place = by_length.setdefault(route.dst.prefixlen, {})
            key = int(route.dst.network_address)
            if key not in place or route.metric < place[key].metric:
                place[key] = route

    @property
    def tables(self) -> set[str]:
        """Tables beside local, main and default that are asked."""
        return {_table(one) for one in self._rules} - {"", "local", "main", "default"}

    def lookup_text(self, text: str) -> Route | None:
        found = address(text)
        return self.lookup(found) if found is not None else None

    def lookup(self, destination: Address) -> Route | None:
        """The route that a packet to the address takes; None where there is none or it is thrown away."""
        for rule in self._rules:
            if not _matches(rule, "dst", destination):
                continue
            if rule.text("action") in ("unreachable", "blackhole", "prohibit"):
                return None
            suppress = rule.number("suppress_prefixlen")
            if suppress is None:
                suppress = rule.number("suppress_prefixlength")
            route = self._best(_table(rule), destination)
            if route is None or route.type == "throw":
                continue
            if suppress is not None and route.dst.prefixlen <= suppress:
                continue
            return route
        return None

    def _best(self, table: str, destination: Address) -> Route | None:
        by_length = self._tables.get(table, {})
        for length in sorted(by_length, reverse=True):
            width = destination.max_prefixlen - length
            route = by_length[length].get(int(destination) >> width << width)
            if route is not None and route.dst.version == destination.version:
                return route
        return None


def _table(rule: Item) -> str:
    table = str(rule.get("table") or "")
    return NAMES.get(table, table)


def _for_pods(rule: Item, source: Address | None) -> bool:
    """Whether the rule asks about any packet that a pod sends: not only marked ones, not those of another source,
    link, user or port."""
    inverted = rule.has("not")
    if rule.has("fwmark"):
        return inverted
    narrow = ("iif", "iifname", "oif", "oifname", "uid_start", "sport", "dport", "ipproto", "tos")
    if any(rule.has(key) for key in narrow):
        return False
    if rule.text("src") in ("", "all"):
        return not inverted
    return source is not None and _matches(rule, "src", source) is not inverted


def _matches(rule: Item, key: str, value: Address) -> bool:
    """Whether an address is within the rule's ``src`` or ``dst``, which iproute2 gives with its length beside."""
    text = rule.text(key)
    if text in ("", "all"):
        return True
    text, _slash, written = text.partition("/")
    length = as_number(written) if written else rule.number(f"{key}len")
    base = address(text)
    if base is None or base.version != value.version:
        return False
    width = base.max_prefixlen - (base.max_prefixlen if length is None else length)
    return int(base) >> width == int(value) >> width
