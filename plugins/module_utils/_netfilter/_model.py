# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What both dialects are read into: tables of chains of rules, a rule being a list of steps.

A step is a pair: (MATCH, function) where the function takes (State, At) and answers True, False or None; or
(ACT, function) where it answers a list of alternatives (action, target, State). More than one alternative means that
the evidence does not tell which. Actions:

next      go on in the rule                      break     leave the rule, go on with the next one
accept    end this base chain                    drop      end the packet (drop, reject)
jump      target chain, then the next rule       goto      target chain, then where this chain's caller goes on
return    leave the chain                        local     the host itself gets the packet, it is not forwarded
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from ._facts import Facts
from ._packet import State
from ._values import UNKNOWN, Tri

LONG = 64
"""From so many rules on, a chain is not read from its first to its last for each packet."""

MATCH, ACT = 0, 1
Alternative = tuple[str, Optional[str], State]
Match = Callable[[State, "At"], Tri]
Act = Callable[[State, "At"], list[Alternative]]
Step = tuple[int, Callable[..., Any]]


@dataclass
class At:
    """Where the packet is: the hook, the layer that calls it (ip, bridge or netdev), and what is known of the host."""

    hook: str
    layer: str
    facts: Facts
    local_destination_possible: bool = True
    bridged: Tri = False  # whether the packet stays on one bridge


@dataclass
class Rule:
    """One rule. `compile` reads it at its first use: most rules of a large ruleset are never reached."""

    text: str
    handle: int | None = None
    compile: Callable[[], list[Step]] | None = None
    effects: bool = False  # it may change the packet or the connection for chains that come later
    looks_up: bool = False  # it takes its verdict from a map
    only_nft: bool = False  # iptables-nft-save does not tell it as it is
    find_targets: Callable[[], tuple[str, ...]] = tuple  # the chains it may enter
    may_drop: Callable[[], bool] = bool  # whether it may end a packet itself; what cannot be read may
    render: Callable[[], str] | None = None  # writes the text where it is not kept
    destination: int | None = None  # the one address whose packets it can match, where that is its first match
    _steps: list[Step] | None = None

    def __str__(self) -> str:
        return self.render() if self.render else self.text

    @property
    def steps(self) -> list[Step]:
        if self._steps is None:
            self._steps = self.compile() if self.compile else []
        return self._steps

    @property
    def has_condition(self) -> bool:
        """Whether it does not do the same to each packet. A single step may still look the packet up in a map."""
        return len(self.steps) > 1 or any(kind == MATCH for kind, _function in self.steps) or self.looks_up


@dataclass
class Chain:
    name: str
    table: Table
    read: Callable[[], list[Rule]] = list  # reads its rules, of which most chains of a large ruleset are never asked
    hook: str | None = None
    priority: int = 0
    type: str = "filter"
    policy: str = "accept"
    device: tuple[str, ...] = ()
    handle: int | None = None
    certain: bool = True  # False: the evidence does not tell whether the kernel calls it (a table's unreadable flags)

    @functools.cached_property
    def rules(self) -> list[Rule]:
        return self.read()

    def rules_for(self, destinations: Collection[Any]) -> list[Rule]:
        """The rules, in order, without those that can only match packets to other addresses than these.

        kube-proxy has a rule for each service in one chain: packets pass thousands that are not about them.
        """
        if len(self.rules) < LONG or UNKNOWN in destinations:
            return self.rules
        always, by_destination = self._by_destination
        if len(always) == len(self.rules):
            return self.rules
        wanted = list(always)
        for one in destinations:
            wanted += by_destination.get(one, ())
        return [self.rules[index] for index in sorted(wanted)]

    @functools.cached_property
    def _by_destination(self) -> tuple[list[int], dict[int, list[int]]]:
        always: list[int] = []
        found: dict[int, list[int]] = {}
        changes = any(rule.effects for rule in self.rules)  # perhaps the destination, and then others match too
        for index, rule in enumerate(self.rules):
            if rule.destination is None or changes:
                always.append(index)
            else:
                found.setdefault(rule.destination, []).append(index)
        return always, found

    def reachable(self) -> Iterator[Chain]:
        """This chain and all that its rules may enter."""
        chains = self.table.chains
        seen: set[str] = set()
        todo = [self.name]
        while todo:
            name = todo.pop()
            if name in seen or name not in chains:
                continue
            seen.add(name)
            yield chains[name]
            todo += (target for rule in chains[name].rules for target in rule.find_targets())

    def has_effects(self) -> bool:
        return any(rule.effects for chain in self.reachable() for rule in chain.rules)


@dataclass
class Table:
    """A table of one family (ip, ip6, inet, bridge, netdev) in one backend (legacy or nft)."""

    family: str
    name: str
    backend: str
    chains: Mapping[str, Chain] = field(default_factory=dict)
    base: list[str] | None = None  # names of those that may have a hook; None: any
    flowtable_devices: tuple[str, ...] = ()
    from_save: bool = False  # read from iptables-save; the priorities are those of iptables

    def base_chains(self) -> Iterator[Chain]:
        """The chains that the kernel calls."""
        return (
            self.chains[name] for name in (self.chains if self.base is None else self.base) if self.chains[name].hook
        )
