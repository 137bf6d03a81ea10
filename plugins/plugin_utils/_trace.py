# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where one traced connection came by, hop by hop and both ways, and where it was last seen.

Pure. From a plan (`_trace_plan`), what hosts saw (module packet_trace) and how the connection ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

BRIDGE = "cni0"
THERE, BACK = "there", "back"
PORT_UNREACHABLE = ((3, 3), (1, 4))


@dataclass(frozen=True)
class Packet:
    """One packet where it came by; fields as module packet_trace returns them."""

    host: str
    place: str
    link: str
    out: bool
    time: float
    source: str
    destination: str
    source_port: int
    destination_port: int
    flags: str = ""
    sequence: int | None = None
    acknowledged: int | None = None
    outer_source: str = ""
    outer_destination: str = ""
    vni: int | None = None
    error: tuple[int, int] | None = None
    reporter: str = ""

    @classmethod
    def read(cls, host: str, raw: dict[str, Any]) -> Packet:
        error = tuple(raw["error"]) if raw.get("error") else None
        known = {key: raw[key] for key in cls.__dataclass_fields__ if key in raw and key != "error"}
        return cls(host=host, error=error, **known)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Hop:
    """A link that the connection should come by. kind: pod, veth, bridge, tunnel, nic. out: on the way there."""

    host: str
    kind: str
    out: bool
    pod: str = ""


@dataclass
class Seen:
    """A hop and the packets that came by it: on the way there, and back."""

    hop: Hop
    there: list[Packet] = field(default_factory=list)
    back: list[Packet] = field(default_factory=list)

    @property
    def link(self) -> str:
        names = dict.fromkeys(one.link for one in [*self.there, *self.back])
        return ", ".join(names)

    def way(self, way: str) -> list[Packet]:
        return self.there if way == THERE else self.back


@dataclass
class Trace:
    """hops: in the order of the way there. last: index of the hop where it was last seen (-1: nowhere), on the way
    `way`, or None where it came all the way there and back. end: where it went to. errors: ICMP errors about it, the
    first of each reporter. astray: packets on links of a host that are none of its hops there."""

    plan: dict[str, Any]
    outcome: str
    ms: float
    end: dict[str, Any]
    translated: bool
    hops: list[Seen]
    way: str | None
    last: int | None
    errors: list[Packet]
    astray: list[Packet]
    drops: dict[str, dict[str, int]]
    unwatched: list[str]

    @property
    def answered(self) -> bool:
        """Whether the other end itself answered: it connected, or its own refusal came back."""
        return self.came or (self.outcome == "refused" and self.way is None and not self.errors)

    @property
    def came(self) -> bool:
        """Whether something came back to who asked."""
        return self.outcome in ("connected", "answered")


def trace(
    plan: dict[str, Any], seen: dict[str, Any], client: dict[str, Any], links: dict[str, dict[str, str]]
) -> Trace:
    """seen: the answers of C(collected) by host. client: that of C(connecting). links: `kinds` by host."""
    packets = [Packet.read(host, one) for host, answer in seen.items() for one in answer.get("packets") or []]
    there, back, errors = _sorted(plan, packets)
    if not plan["source"]["pod"] and there:  # a node has many addresses; the kernel chose one
        first = next((one for one in there if one.host == plan["source"]["host"]), there[0])
        plan = {**plan, "source": {**plan["source"], "address": first.source}}
    if plan["direct"] and any(_leaves_plainly(one, plan, links) for one in there):
        plan = {**plan, "tunnel": "", "vxlan_port": 0}
    end, translated = _end(plan, there)
    hops = [Seen(hop) for hop in path(plan, end)]
    found: set[int] = set()
    for direction, ones in ((THERE, there), (BACK, back)):
        for packet in ones:
            for one in hops:
                if _at(packet, one.hop, direction, links, plan, end):
                    one.way(direction).append(packet)
                    found.add(id(packet))
                    break
    watched = set(seen)
    way, last = _last(hops, watched)
    astray = [one for one in there + back if id(one) not in found and one.place == "host" and one.link != "lo"]
    by_reporter = {one.reporter: one for one in reversed(errors)}
    return Trace(
        plan=plan,
        outcome=str(client.get("outcome") or "no answer"),
        ms=float(client.get("ms") or 0),
        end=end,
        translated=translated,
        hops=hops,
        way=way,
        last=last,
        errors=list(by_reporter.values()),
        astray=astray,
        drops={host: answer.get("drops") or {} for host, answer in seen.items()},
        unwatched=sorted({one.hop.host for one in hops if one.hop.host not in watched}),
    )


def _leaves_plainly(packet: Packet, plan: dict[str, Any], links: dict[str, dict[str, str]]) -> bool:
    """Whether the host of the source sends it to the wire without a tunnel, as DirectRouting does on one segment."""
    kind = links.get(packet.host, {}).get(packet.link)
    return packet.host == plan["source"]["host"] and packet.out and kind == "nic" and not packet.outer_source


def _sorted(plan: dict[str, Any], packets: list[Packet]) -> tuple[list[Packet], list[Packet], list[Packet]]:
    """Those on the way there, those on the way back, and errors about the former. Address translation may change source
    address and port, never the sequence numbers; both ways of UDP have the same."""
    udp, ends = plan["protocol"] == "udp", {(one["address"], one["port"]) for one in plan["ends"]}
    port = plan["source"]["port"]
    source = plan["source"]["address"] if plan["source"]["pod"] else None
    own = [one for one in packets if source in (None, one.source) and one.source_port == port]
    sequences = {one.sequence for one in own if one.sequence is not None and "S" in one.flags}
    sequences |= {plan["sequence"]} - {0}
    answered = {(number + 1) % 2**32 for number in sequences if number is not None}
    there: list[Packet] = []
    back: list[Packet] = []
    errors: list[Packet] = []
    for one in packets:
        mine = source in (None, one.source) and one.source_port == port
        to_me = source in (None, one.destination) and one.destination_port == port
        same = one.sequence in sequences
        answers = same and (one.source, one.source_port) in ends if udp else one.acknowledged in answered
        if one.error is not None:
            if mine or same:
                errors.append(one)
        elif to_me or (answers and not mine):
            back.append(one)
        elif mine or same:
            there.append(one)
    words = [one for one in errors if udp and one.error in PORT_UNREACHABLE]
    if any(one.reporter in {address for address, _port in ends} for one in words):  # by its own word nothing listens
        own_words = [one for one in words if one.reporter in {plan["address"], *(address for address, _port in ends)}]
        return there, back + own_words, [one for one in errors if one not in own_words]
    return there, back, errors


def _end(plan: dict[str, Any], there: list[Packet]) -> tuple[dict[str, Any], bool]:
    """Where the connection went to, and whether a service's address was translated (true without a service)."""
    ends = plan["ends"]
    for packet in there:
        for end in ends:
            if (packet.destination, packet.destination_port) == (end["address"], end["port"]):
                return end, True
    for packet in there:
        if packet.destination != plan["address"]:
            return {
                "address": packet.destination,
                "port": packet.destination_port,
                "pod": "",
                "node": "",
                "host": "",
            }, True
    given = {"address": plan["address"], "port": plan["port"], "pod": "", "node": "", "host": ""}
    return (ends[0] if ends else given), plan["kind"] != "service"


def path(plan: dict[str, Any], end: dict[str, Any]) -> list[Hop]:
    """The hops from the pod to an end, in order."""
    start, tunnel = plan["source"], plan["tunnel"]
    here, there = start["host"], end["host"] or end["node"]
    hops = [Hop(here, "pod", True, start["pod"]), Hop(here, "veth", False, start["pod"])] if start["pod"] else []
    bridge = [Hop(here, "bridge", False)] if start["pod"] else []
    if end["pod"]:
        arrival = [Hop(there, "veth", True, end["pod"]), Hop(there, "pod", False, end["pod"])]
        if end["node"] == start["node"]:
            return hops + arrival if start["pod"] else [Hop(there, "bridge", True), *arrival]
        tunnels = [Hop(here, "tunnel", True)], [Hop(there, "tunnel", False)]
        wire = [Hop(here, "nic", True), Hop(there, "nic", False)]
        if tunnel and not plan["vxlan_port"]:
            wire = []  # what is encrypted, or wrapped otherwise, cannot be told on the wire
        around = [*tunnels[0], *wire, *tunnels[1]] if tunnel else wire
        return [*hops, *bridge, *around, Hop(there, "bridge", True), *arrival]
    if there == here:
        return hops + bridge
    return [*hops, *bridge, Hop(here, "nic", True), *([Hop(there, "nic", False)] if there else [])]


def kinds(node: dict[str, Any], tunnel: str) -> dict[str, str]:
    """The kind of each link of a host, from its evidence: bridge, veth (a port of the bridge), tunnel, or nic."""
    found = {}
    for link in node.get("ip_address") or []:
        name = str(link.get("ifname"))
        if link.get("master") == BRIDGE:
            found[name] = "veth"
        elif name not in ("lo", BRIDGE, tunnel):
            found[name] = "nic"
    return {**found, BRIDGE: "bridge", **({tunnel: "tunnel"} if tunnel else {})}


def _at(
    packet: Packet, hop: Hop, way: str, links: dict[str, dict[str, str]], plan: dict[str, Any], end: dict[str, Any]
) -> bool:
    if packet.host != hop.host or packet.out != (hop.out if way == THERE else not hop.out):
        return False
    if packet.place != "host":
        return hop.kind == "pod" and packet.place == hop.pod
    kind = links.get(hop.host, {}).get(packet.link) or ("veth" if packet.link.startswith("veth") else "nic")
    if kind != hop.kind:
        return False
    wrapped = bool(packet.outer_source)
    through = bool(plan["tunnel"] and end["pod"] and end["node"] != plan["source"]["node"])
    return hop.kind != "nic" or wrapped == through


def _last(hops: list[Seen], watched: set[str]) -> tuple[str | None, int | None]:
    """The way and the hop where it was last seen; (None, None) where it came there and back."""
    known = [index for index, one in enumerate(hops) if one.hop.host in watched]
    reached = max((index for index in known if hops[index].there), default=-1)
    if not known or reached < known[-1]:
        later = [index for index in known if hops[index].back]
        if not later or max(later) <= reached:  # nothing says that it went further
            return THERE, reached
    returned = min((index for index in known if hops[index].back), default=len(hops))
    if returned > known[0]:
        return BACK, returned if returned < len(hops) else reached
    return None, None
