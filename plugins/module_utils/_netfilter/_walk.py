# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Walks a packet through the hooks, keeping every world that the evidence leaves possible.

A world is a state of the packet with the way it came. Where a rule's answer is unknown the world splits; worlds in the
same state at the same place become one again. What ends a packet in one world only is possible, not certain: the
verdict is certain where all worlds end alike. This bounds the true answer from both sides, and an unknown rule costs
nothing where both of its answers lead to the same end.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ._bridge import stays
from ._model import ACT, MATCH, At, Chain, Rule
from ._packet import STATES, State, state_of
from ._path import CONNTRACK, NAT, Stop, path
from ._ruleset import Ruleset
from ._values import UNKNOWN
from ._verdict import Note, Place, Verdict, place

FORWARD = ("prerouting", "forward", "postrouting")
INPUT = ("prerouting", "input")
OUTPUT = ("output", "postrouting")

_MOST_WORLDS = 256
_MOST_DEPTH = 64
_MOST_PERMUTED = 4
_MOST_ORDERS = 24


class _World:
    __slots__ = ("state", "doubt", "trail")

    def __init__(self, state: State, doubt: Any = None, trail: Any = None) -> None:
        self.state, self.doubt, self.trail = state, doubt, trail

    def at(self, state: State, note: Any = None, doubt: Any = None) -> _World:
        return _World(state, self.doubt or doubt, (note, self.trail) if note else self.trail)


def walk(ruleset: Ruleset, packet: Mapping[str, Any] | State, hooks: Sequence[str] = FORWARD) -> Verdict:
    """What becomes of a packet. `packet` as `state_of` describes it; raises PacketError."""
    state = packet.copy() if isinstance(packet, State) else state_of(packet)
    return _Walk(ruleset, state).run(tuple(hooks))


class _Walk:
    def __init__(self, ruleset: Ruleset, state: State) -> None:
        self.rules, self.start = ruleset, state
        self.dropped: list[_World] = []
        self.elsewhere: list[_World] = []
        self.accepted: list[_World] = []
        self.at = At("", "ip", ruleset.facts)
        self.base: Chain | None = None
        self.forwards = True

    def run(self, hooks: tuple[str, ...]) -> Verdict:
        start = self.start
        self.forwards = "forward" in hooks
        self.at.bridged = stays(start, self.rules.facts) if hooks[:2] == ("prerouting", "forward") else False
        self.at.local_destination_possible = self.rules.translates(start.family)
        if hooks[0] not in ("prerouting", "output", "ingress"):
            start.tracking = "tracked" if start.ctstate not in (STATES["invalid"], STATES["untracked"]) else "none"
        worlds = [_World(start)]
        past: list[_World] = []
        offloaded = start.ctstate in (STATES["established"], STATES["related"]) and "forward" in hooks
        if offloaded and self.rules.has_flowtable(start.family, (start.iif, start.oif)):
            note = ("forward", None, "a flow table may carry the connection past this hook", "unknown")
            past.append(worlds[0].at(start, note, note))
        for stop in path(self.rules, start, hooks, self.at.bridged):
            worlds = self.stop(stop, worlds)
        return self.judge(worlds + past)

    def stop(self, stop: Stop, worlds: list[_World]) -> list[_World]:
        """One group of equal priority at one hook: in every order, if the order could matter."""
        self.at.hook, self.at.layer = stop.hook, stop.layer
        if stop.routing:
            return self.route(worlds)
        if not stop.ordered and len(stop.members) > _MOST_PERMUTED:
            return self.blurred(stop, worlds)
        orders = itertools.permutations(stop.members) if stop.ordered is False else [stop.members]
        result: list[_World] = []
        before = len(self.dropped)
        for order in orders:
            here = worlds
            if not stop.ordered:
                names = " and ".join(_name(one) for one in order)
                note = (stop.hook, None, f"{names} have the same priority", "their order is not known")
                here = [world.at(world.state, None, note) for world in here]
            for member in order:
                here = self.blindly(stop, member, here) if stop.blind else self.member(stop, member, here)
            result += here
        if stop.maybe:
            note = (stop.hook, None, f"{_name(stop.members[0])}", "whether the packet comes by it is not known")
            result = [world.at(world.state, None, note) for world in result + worlds]
            self.doubt_drops(before, note)
        return _merge(result)

    def blindly(self, stop: Stop, member: Chain, worlds: list[_World]) -> list[_World]:
        """A chain that sees what hooks have made of the packet that are walked after it."""
        unknown = dict.fromkeys(("mark", "tracking", "ctmark", "ctstatus", *self._rewritten()), UNKNOWN)
        result: list[_World] = []
        for world in worlds:
            after = self.member(stop, member, [world.at(world.state.copy(**unknown))])
            result += after if member.has_effects() else [one.at(world.state) for one in after]
        return _merge(result)

    def _rewritten(self) -> tuple[str, ...]:
        return ("dst", "dport") if self.rules.translates(self.start.family) else ()

    def blurred(self, stop: Stop, worlds: list[_World]) -> list[_World]:
        """A group too large for every order: what any of its members changes is unknown to all of them."""
        before, state = len(self.dropped), worlds[0].state if worlds else self.start
        note = (stop.hook, None, f"{len(stop.members)} chains have the same priority", "their order is not known")
        result = worlds
        while worlds:
            known = state
            for world in worlds:
                state = state.join(world.state)
            del self.dropped[before:]
            result = [world.at(state, None, note) for world in worlds[:1]]
            for member in stop.members:
                result = self.member(stop, member, result)
                for world in result:
                    state = state.join(world.state)
            if state.key() == known.key():
                break
            worlds = [world.at(state) for world in worlds]
        self.doubt_drops(before, note)
        return _merge([world.at(world.state, None, note) for world in result])

    def member(self, stop: Stop, member: Any, worlds: list[_World]) -> list[_World]:
        if member is CONNTRACK:
            return _merge([self.track(world) for world in worlds])
        if member is NAT:
            return self.translate(stop, worlds)
        before = len(self.dropped)
        after = self.base_chain(member, worlds)
        if member.certain:
            return after
        self.doubt_drops(before, (stop.hook, None, _name(member), "whether its table is dormant is not known"))
        return _merge(after + worlds)

    def doubt_drops(self, since: int, note: Note) -> None:
        self.dropped[since:] = [world.at(world.state, None, note) for world in self.dropped[since:]]

    def track(self, world: _World) -> _World:
        state = world.state
        if state.tracking not in ("none", "template"):
            return world
        if state.ctstate == STATES["invalid"]:
            return world if state.tracking == "none" else world.at(state.copy(tracking="none"))
        kind = "untracked" if state.ctstate == STATES["untracked"] else "tracked"
        return world.at(state.copy(tracking=kind))

    def translate(self, stop: Stop, worlds: list[_World]) -> list[_World]:
        """The nat chains see the first packet of a connection only, and the first of them that maps ends it."""
        done = "nat_dst" if stop.hook in ("prerouting", "output") else "nat_src"
        result: list[_World] = []
        open_ones = [world for world in worlds if getattr(world.state, done) is UNKNOWN]
        worlds = [world for world in worlds if getattr(world.state, done) is not UNKNOWN]
        worlds += [world.at(world.state.copy(**{done: made})) for world in open_ones for made in (True, False)]
        for world in worlds:
            state = world.state
            fresh = state.tracking == "tracked" and state.ctstate == STATES["new"]
            # An ICMP error has its connection's mapping already, another related packet may be the first of its own.
            perhaps = state.tracking in ("tracked", UNKNOWN) and state.ctstate in (
                STATES["new"], STATES["related"], UNKNOWN,
            )  # fmt: skip
            if not fresh:
                result.append(world)
            if not perhaps:
                continue
            here = [world] if fresh else [world.at(state.copy(**{done: False}))]
            result += [one for one in here if getattr(one.state, done)]
            here = [one for one in here if not getattr(one.state, done)]
            orders = stop.nat_orders()
            for order in orders:
                names = " and ".join(_name(one) for one in order)
                note = (stop.hook, None, f"of {names} some have the same priority", "their order is not known")
                left = here if len(orders) == 1 else [one.at(one.state, None, note) for one in here]
                for chain in order:
                    after = self.base_chain(chain, left)
                    result += [one for one in after if getattr(one.state, done)]
                    left = [one for one in after if not getattr(one.state, done)]
                result += left
            if len(orders) > _MOST_ORDERS:
                note = (stop.hook, None, "many nat chains have the same priority", "their order is not known")
                self.elsewhere += [one.at(one.state, note, note) for one in here]
        return _merge(result)

    def route(self, worlds: list[_World]) -> list[_World]:
        """Between prerouting and what follows: where a packet goes whose destination was changed."""
        result: list[_World] = []
        for world in worlds:
            state, facts = world.state, self.rules.facts
            changed = state.dst != self.start.dst
            if changed:
                local = facts.is_local(state.dst, state.family)
                if local is self.forwards or local is None:
                    note = (self.at.hook, None, "the destination is changed", "the packet goes another way")
                    self.elsewhere.append(world.at(state, note, note))
                if local is self.forwards:
                    continue
            if not self.forwards or not (changed or state.oif is UNKNOWN):
                result.append(world)
                continue
            device = facts.device_for(state.dst, state.family)
            if changed and device != self.start.oif and (self.at.bridged is not False or self.rules.sees_devices()):
                # Which hooks of bridges and devices follow was told by the way it was described to go.
                note = (self.at.hook, None, "the destination is changed", "the packet leaves by another device")
                self.elsewhere.append(world.at(state, note, note))
            elif changed and device is None:
                note = (self.at.hook, None, "the destination is changed", "there is no route to the new one")
                self.elsewhere.append(world.at(state, note, note))
            elif changed or device:
                result.append(world.at(state.copy(oif=device or UNKNOWN)))
            else:
                result.append(world)
        return _merge(result)

    def base_chain(self, chain: Chain, worlds: list[_World]) -> list[_World]:
        if not worlds:
            return []
        self.accepted, outer, self.base = [], self.accepted, chain
        for world in self.chain(chain, worlds, 0):
            action = "drop" if chain.policy == "drop" else "accept"
            note = (self.at.hook, chain, None, action)
            if action == "drop":
                self.dropped.append(world.at(world.state, note))
            else:
                self.accepted.append(world.at(world.state, note) if chain.rules else world)
        result, self.accepted = self.accepted, outer
        return _merge(result)

    def chain(self, chain: Chain, worlds: list[_World], depth: int) -> list[_World]:
        """The worlds that leave a chain without an end, to go on at its caller."""
        returned: list[_World] = []
        for rule in chain.rules_for({world.state.dst for world in worlds}):
            following: list[_World] = []
            for world in worlds:
                self.rule(chain, rule, world, following, returned, depth)
            worlds = _merge(following) if len(following) > 1 else following
            if not worlds:
                break
        return _merge(worlds + returned)

    def rule(
        self, chain: Chain, rule: Rule, world: _World, following: list[_World], returned: list[_World], depth: int
    ) -> None:
        pending = [(0, world)]
        steps, at = rule.steps, self.at
        while pending:
            index, here = pending.pop()
            while True:
                if index == len(steps):
                    following.append(here)
                    break
                kind, function = steps[index]
                index += 1
                if kind == MATCH:
                    answer = function(here.state, at)
                    if answer is True:
                        continue
                    if answer is False:
                        following.append(here)
                        break
                    note = (at.hook, chain, rule, "unknown")
                    if not _decides(steps, index):
                        following.append(here)
                        break
                    following.append(here.at(here.state, None, note))
                    here = here.at(here.state, note, note)
                    continue
                alternatives = function(here.state, at)
                doubt = (at.hook, chain, rule, "unknown") if len(alternatives) > 1 else None
                for action, target, state in alternatives:
                    after = here.at(state, None, doubt)
                    if action == "next":
                        if state is not here.state:
                            after = here.at(state, (at.hook, chain, rule, "set"), doubt)
                        pending.append((index, after))
                    elif action == "break":
                        following.append(after)
                    else:
                        self.act(action, target, after, chain, rule, following, returned, depth)
                break

    def act(
        self, action: str, target: str | None, world: _World, chain: Chain, rule: Rule,
        following: list[_World], returned: list[_World], depth: int,
    ) -> None:  # fmt: skip
        note = (self.at.hook, chain, rule, f"{action} {target}" if target else action)
        world = world.at(world.state, note)
        if action == "drop":
            self.dropped.append(world)
        elif action == "accept":
            self.accepted.append(world)
        elif action == "local":
            self.elsewhere.append(world)
        elif action == "return":
            returned.append(world)
        else:
            entered = chain.table.chains.get(str(target))
            if entered is None or depth >= _MOST_DEPTH:
                doubt = (self.at.hook, chain, rule, "unknown")
                self.dropped.append(world.at(world.state, None, doubt))
                following.append(world.at(world.state, None, doubt))
                return
            left = self.chain(entered, [world], depth + 1)
            (returned if action == "goto" else following).extend(left)

    def judge(self, worlds: list[_World]) -> Verdict:
        missing = self.rules.missing.get(self.start.family, ())
        ends = [
            name for name, found in (("accept", worlds), ("drop", self.dropped), ("elsewhere", self.elsewhere)) if found
        ]
        if ends == ["drop"]:
            return _verdict("drop", "drop", "drop", self.dropped[0])
        if ends == ["accept"] and not missing:
            return _verdict("accept", "accept", "accept", worlds[0])
        if ends == ["elsewhere"]:
            return _undetermined(self.elsewhere[0], Place(action="the packet goes another way than described"))
        if ends == ["accept"]:
            reason = f"the rules of {', '.join(missing)} were not looked at, and a drop there would be final"
            return _undetermined(worlds[0], Place(action=reason))
        first = next((one for one in self.dropped + self.elsewhere if one.doubt), (self.dropped + self.elsewhere)[0])
        upper = "accept" if worlds else "drop"
        return Verdict("undetermined", "drop", upper, place(first.doubt) if first.doubt else None, _notes(first))


def _name(member: Any) -> str:
    if not isinstance(member, Chain):
        return repr(member)
    return f"{member.table.family} {member.table.name} {member.name} ({member.table.backend})"


def _decides(steps: Sequence[Any], index: int) -> bool:
    """Whether a rule does anything from a step on: what only logs and counts need not be known."""
    return any(kind == ACT for kind, _function in steps[index:])


def _merge(worlds: list[_World]) -> list[_World]:
    """Worlds in different states; all in one, saying less, where there are too many."""
    if len(worlds) < 2:
        return worlds
    found: dict[Any, _World] = {}
    for world in worlds:
        found.setdefault(world.state.key(), world)
    if len(found) <= _MOST_WORLDS:
        return list(found.values())
    first, *rest = found.values()
    state = first.state
    for world in rest:
        state = state.join(world.state)
    return [_World(state, first.doubt, first.trail)]


def _undetermined(world: _World, by: Place) -> Verdict:
    return Verdict("undetermined", "drop", "accept", by, _notes(world))


def _verdict(verdict: str, lower: str, upper: str, world: _World) -> Verdict:
    notes = _notes(world)
    deciding = notes
    if verdict == "accept":
        accepting = tuple(note for note in notes if note[3] == "accept" and note[1])
        deciding = tuple(note for note in accepting if note[0] in ("forward", "input", "output")) or accepting
    return Verdict(verdict, lower, upper, place(deciding[-1]) if deciding else None, notes)


def _notes(world: _World) -> tuple[Note, ...]:
    """What the packet met, in order."""
    notes = []
    link = world.trail
    while link:
        notes.append(link[0])
        link = link[1]
    return tuple(reversed(notes))
