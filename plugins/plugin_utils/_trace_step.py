# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The step at which a trace ends, with what the host says of itself.

Pure. From `before`, the last hop that saw the connection, to `after`, which did not, or to the end itself.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from ..module_utils._netfilter import Place, Ruleset, walk
from ._evidence._overlay import Lease
from ._finding import Missing
from ._trace import BACK, BRIDGE, THERE, Hop, Packet, Trace
from ._view import View


class Step:
    """before: None where nothing was seen. turned: it came to the end, and nothing came back. host: of `before`."""

    def __init__(self, trace: Trace, view: View) -> None:
        self.trace, self.view = trace, view
        last = trace.last if trace.last is not None else -1
        step = 1 if trace.way == THERE else -1
        hops = [one.hop for one in trace.hops]
        self.turned = trace.way == BACK and not any(one.back for one in trace.hops)
        self.before: Hop | None = hops[last] if 0 <= last < len(hops) else None
        following = last + step
        self.after: Hop | None = hops[following] if 0 <= following < len(hops) and not self.turned else None
        self.host = (self.before or hops[0]).host

    def raw(self, host: str = "") -> dict[str, Any]:
        name = host or self.host
        found: dict[str, Any] = self.view.nodes[name].raw if name in self.view.nodes else {}
        return found

    def rules(self) -> Ruleset:
        return Ruleset.from_evidence(self.raw())

    def link(self, name: str) -> dict[str, Any] | None:
        return next((one for one in self.raw().get("ip_address") or [] if one.get("ifname") == name), None)

    def down(self, name: str) -> Iterator[str]:
        if "ip_address" not in self.raw() or not name:
            return
        link = self.link(name)
        if link is None:
            yield f"{self.host} has no link {name}"
        elif "UP" not in (link.get("flags") or []):
            yield f"{name} of {self.host} is down"

    @property
    def ends(self) -> tuple[str, str, int, int]:
        """Source, destination and their ports on the way on which it was lost."""
        start, end = self.trace.plan["source"], self.trace.end
        ends = start["address"], end["address"], start["port"], end["port"]
        return ends if self.trace.way == THERE else (ends[1], ends[0], ends[3], ends[2])

    @property
    def version(self) -> int:
        return ipaddress.ip_address(self.ends[1]).version

    def lease(self, address: str) -> Lease | None:
        """The lease of the node that an address belongs to."""
        try:
            leases = self.view.lease_by_text[self.version].values()
        except Missing:
            return None
        wanted = ipaddress.ip_address(address)
        return next((one for one in leases if wanted in one.network), None)

    def named(self, hop: Hop) -> str:
        """The link of a hop as it was seen, else by its kind."""
        seen = next((one for one in self.trace.hops if one.hop == hop), None)
        if seen and seen.link:
            return seen.link.split(", ", maxsplit=1)[0]
        return {"bridge": BRIDGE, "tunnel": str(self.trace.plan["tunnel"])}.get(hop.kind, "")

    def packets(self, hop: Hop) -> list[Packet]:
        """What came by a hop on the way on which it was lost."""
        seen = next((one for one in self.trace.hops if one.hop == hop), None)
        return seen.way(self.trace.way or THERE) if seen else []

    def walked(self, packet: dict[str, Any], hooks: tuple[str, ...]) -> Iterator[str]:
        if not {"iptables", "nft"} & set(self.raw()):
            return
        try:
            verdict = walk(self.rules(), packet, hooks)
        except ValueError as error:
            yield f"the rules of {self.host} cannot be read: {error}"
            return
        by = verdict.by
        if by is None or verdict.verdict == "accept":
            return
        if verdict.verdict == "drop":
            yield f"a rule of {self.host} drops it at the {by.hook} hook: {_rule(by)}"
        elif by.rule:
            yield f"whether a rule of {self.host} drops it at the {by.hook} hook is not known: {_rule(by)}"

    def neighbour(self, lease: Lease | None, tunnel: str) -> Iterator[str]:
        if lease is None or not lease.mac or "ip_neigh" not in self.raw():
            return
        entries = [one for one in self.raw()["ip_neigh"] if one.get("dev") == tunnel and one.get("dst") == lease.base]
        mac = str(entries[0].get("lladdr") or "") if entries else ""
        if mac != lease.mac:
            yield (
                f"the neighbour entry of {lease.base} on {tunnel} of {self.host} is {mac or 'missing'}; "
                f"the lease of {lease.node} says {lease.mac}"
            )


def _rule(place: Place) -> str:
    kind = f"{place.family} {place.table}".strip() if place.backend != "legacy" else f"legacy {place.table}"
    owner = f", of {place.owner}" if place.owner else ""
    return f"{place.rule} (table {kind}, chain {place.chain}{owner})"
