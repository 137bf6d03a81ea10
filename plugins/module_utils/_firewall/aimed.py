# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a rule that drops pod traffic is meant for some of it: a person's own deny, which stays.

A rule that drops everything is in the way of pods without being about them. One that lets other pods, other protocols
or the rest of the pods' traffic pass was written about what it drops. This is asked of the rules, not of their text:
packets that differ from the dropped one in a single thing are walked, and one that comes past the rule tells.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from .._netfilter import FORWARD, INPUT, Place, Ruleset, Verdict, walk
from .judgement import Judged

_KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("TCP to port 80", {"protocol": "tcp", "destination_port": 80}),
    ("UDP to port 53", {"protocol": "udp", "destination_port": 53}),
    ("ICMP", {"protocol": "icmp", "destination_port": None}),
    ("TCP to other ports", {"protocol": "tcp", "destination_port": 30001}),
    ("UDP to other ports", {"protocol": "udp", "destination_port": 30001}),
)
Way = list[tuple[str, int]]  # chains from the base chain on, and in each the number of the rule


def aimed_at(rules: Ruleset, judged: Judged) -> str | None:
    """What a rule drops and what it lets pass, for a sentence; None where it is not about that, or a policy."""
    by = judged.verdict.by
    if by is None or by.rule.startswith("("):
        return None
    if judged.hook == "input":
        return _single_sender(rules, judged, by)
    own = _ways(rules, judged.verdict, by)
    if not own:
        return None
    for what, packet in _variants(judged):
        if _comes_past(rules, packet, by, own[-1]):
            return what
    return None


def _variants(judged: Judged) -> Iterator[tuple[str, dict[str, Any]]]:
    """(what the rule is about if this one comes past it, packet)."""
    packet = judged.packet
    inside = 0
    for end in ("source", "destination"):
        address = ipaddress.ip_address(str(packet[end]))
        home = next((one for one in map(ipaddress.ip_network, judged.cidrs) if address in one), None)
        if home is None:
            continue
        inside += 1
        number = int(address)
        top = home.max_prefixlen - home.prefixlen
        # The uppermost bits come past any narrower network, the lower ones past lists of addresses.
        for bit in sorted({0, 1, 3, 7, top // 2, top - 3, top - 2, top - 1} & set(range(top))):
            other = str(type(address)(number ^ 1 << bit))
            what = f"drops {address} and lets others of {home} pass"
            yield f"{what}, {other} for one", {**packet, end: other}
    for name, kind in _KINDS:
        changed = {key: value for key, value in {**packet, **kind}.items() if value is not None}
        yield f"drops some protocols and ports only and lets others pass, {name} for one", changed
    if inside == 1:
        for between in judged.between_pods:
            yield "closes the way to and from outside only", {**between, "state": packet.get("state", "new")}


def _comes_past(rules: Ruleset, packet: dict[str, Any], by: Place, own: Way) -> bool:
    """Whether a packet is not dropped by the rule, but by or after what comes behind it, or not at all."""
    verdict = walk(rules, packet, FORWARD)
    if verdict.verdict == "undetermined":
        return False
    found = next((way for way in _ways(rules, verdict, by) if way[0][0] == own[0][0]), None)
    if found is None or found == own:
        return False
    here, there = next((one, two) for one, two in zip(own, found) if one != two)
    return there[1] > here[1]


def _ways(rules: Ruleset, verdict: Verdict, by: Place) -> list[Way]:
    """How the packet came to each end in the table and hook of a place: an accept, a drop or a policy."""
    tables = [one for one in rules.tables if (one.family, one.name, one.backend) == (by.family, by.table, by.backend)]
    if not tables:
        return []
    chains = tables[0].chains
    found: list[Way] = []
    way: Way = []
    for place in verdict.trail:
        if (place.hook, place.backend, place.family, place.table) != (by.hook, by.backend, by.family, by.table):
            continue
        action = place.action.partition(" ")[0]
        if place.chain not in chains or action not in ("jump", "goto", "accept", "drop"):
            continue
        names = [name for name, _number in way]
        way = [] if place.priority is not None else way[: names.index(place.chain)] if place.chain in names else way
        way = [*way, (place.chain, index_of(chains[place.chain], place))]
        if action in ("accept", "drop"):
            found.append(way)
    return found


def index_of(chain: Any, place: Place) -> int:
    """Number of the rule in its chain, from 0; the number of rules for a policy."""
    for number, rule in enumerate(chain.rules):
        if str(rule) == place.rule and rule.handle == place.handle:
            return number
    return len(chain.rules)


def _single_sender(rules: Ruleset, judged: Judged, by: Place) -> str | None:
    """A rule that drops what one node sends, and nothing of its neighbours."""
    address = ipaddress.ip_address(str(judged.packet["source"]))
    for bits in (2, 3, 8):
        packet = {**judged.packet, "source": str(type(address)(int(address) ^ bits))}
        one = walk(rules, packet, INPUT).by
        if one and (one.chain, one.rule, one.handle) == (by.chain, by.rule, by.handle):
            return None
    return f"drops {address} and none of the addresses beside it"
