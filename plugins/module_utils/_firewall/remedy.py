# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who is told to accept, and at which place.

Whoever keeps the dropping rule is told in its own language: firewalld and ufw. Docker keeps DOCKER-USER for others,
where its backend is iptables. Everywhere else an own chain is entered right before what drops: in the tables of
iptables, which every program shares, and in an nft table that a file of the host loads. A table that no one names is
left alone. What would open more than it has to is refused: what a person denies stays denied.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._netfilter import Place, Ruleset, Verdict, owner_of
from .aimed import aimed_at, index_of
from .judgement import Judged, loaded_by, place_of

# Programs that enforce policies between pods: an accept in front of their chains would undo a denial.
POLICY_ENGINES = frozenset(
    ("kube-router", "kube-network-policies", "calico", "cilium", "weave", "crowdsec", "fail2ban")
)
# Programs whose own drops do not concern traffic between pods.
_HARMLESS = frozenset(
    ("kube-proxy", "kubelet", "flannel", "docker", "libvirt", "portmap", "netavark", "podnet.kubeadm")
)
_IPTABLES = frozenset(("filter", "mangle", "raw", "security"))
_LAST_WORD = re.compile(r"(^|\s)(drop|reject)\b|-j (DROP|REJECT)\b")
ENOUGH = 4
"""Of so many packets that one place drops it is asked whether it may be mended; each takes some walks."""
CHAINS = {"forward": "PODNET-FORWARD", "input": "PODNET-INPUT"}


@dataclass(frozen=True)
class Jump:
    """Where a chain of ours is entered. before: a rule as its tool lists it, empty for the end of the chain."""

    hook: str
    backend: str
    family: str
    table: str
    chain: str
    before: str = ""
    handle: int | None = None  # of that rule in an nft table, as long as nothing reloads it
    by_nft: bool = False  # a table of a name that iptables uses, of which iptables-nft says "incompatible"
    nth: int = 1  # of the rules that read like `before`, the one of this number

    @property
    def native(self) -> bool:
        return self.backend == "nft" and (self.by_nft or not _is_of_iptables(self.family, self.table))

    def as_dict(self) -> dict[str, Any]:
        data = {key: value for key, value in self.__dict__.items() if key != "handle"}
        return data if self.by_nft else {key: value for key, value in data.items() if key != "by_nft"}


def _is_of_iptables(family: str, table: str) -> bool:
    return family in ("ip", "ip6") and table in _IPTABLES


@dataclass(frozen=True)
class Remedy:
    """tool: firewalld, ufw, or jump (then `jump` says where)."""

    tool: str
    hook: str
    jump: Jump | None = None


class _Level(NamedTuple):
    """One chain on the way to what drops: the number of its rule that leads on, or that drops; of a policy, the end."""

    chain: Any
    at: int
    left: bool  # by goto: the rest of the chain is not for the packet any more


class Refusal(Exception):
    """It is not ours to mend; the text says why."""


class Unowned(Refusal):
    """It is not known whose it is, so a person has to add the rules."""


def remedy_for(rules: Ruleset, judged: Judged, idle: Collection[str] = ()) -> Remedy:
    """The smallest change for a packet that is dropped; raises Refusal.

    idle: firewalls of which rules are there, but that do not run, so that they cannot be told anything.
    """
    by = judged.verdict.by
    if by is None or not by.table:
        raise Refusal(place_of(judged.verdict))
    if by.owner in POLICY_ENGINES:
        raise Refusal(f"{by.owner} denies it, which is a policy and no fault of the firewall")
    if by.owner in ("firewalld", "ufw") and by.owner not in idle:
        return Remedy(by.owner, judged.hook)
    if by.table == "firewalld":
        raise Refusal(
            "the table is firewalld's, and firewalld does not run. Start it (systemctl start firewalld), or, if it "
            "shall not come back, remove what it left: nft delete table inet firewalld"
        )
    if by.table == "docker-bridges":
        raise Refusal(
            "Docker keeps that table with its nftables backend, where DOCKER-USER does not count. Start dockerd with "
            "--bridge-accept-fwmark and give pod traffic that mark before priority filter"
        )
    if by.hook != judged.hook:
        raise Refusal(f"it is dropped in the hook {by.hook}, where no accept of ours would be the smallest change")
    levels = _levels(rules, judged.verdict, by)
    if not levels:
        raise Refusal("its chain is not in the listing any more")
    chain = levels[-1].chain
    aim = aimed_at(rules, judged)
    if aim:
        raise Refusal(f"the rule {aim}, so it is meant for that. If that is not wanted: {_removal(levels)}")
    if by.owner == "docker" and judged.hook == "forward":
        jump = _docker_user(chain, by)
        if jump and not _denials(chain.rules[_entry(chain, "DOCKER-USER") + 1 :], chain):
            return Remedy("jump", "forward", jump)
    if not chain.table.from_save and loaded_by(judged.verdict) is None:
        raise Unowned("no program and no file of this host is known to keep that table")
    depth = _depth(levels, by)
    denied = skipped(levels, depth)
    if denied:
        raise Refusal(
            f"an accept there would come before {denied[0]}, and what that denies has to stay denied. Move what drops "
            "behind it, or remove it"
        )
    return Remedy("jump", judged.hook, _jump(judged.hook, levels[depth].chain, levels[depth].at))


def _removal(levels: Sequence[_Level]) -> str:
    """The command that removes what is meant for something: of the rules on the way the last with a condition."""
    rules = [(one.chain, one.chain.rules[one.at]) for one in levels if one.at < len(one.chain.rules)]
    chain, rule = next(((one, rule) for one, rule in reversed(rules) if rule.has_condition), rules[-1])
    table = chain.table
    if str(rule).startswith("-A ") and not rule.only_nft:
        tool = f"{'iptables' if table.family == 'ip' else 'ip6tables'}-{table.backend}"
        return f"{tool} -t {table.name} -D{str(rule)[2:]}"
    return f"nft delete rule {table.family} {table.name} {chain.name} handle {rule.handle}"


def _chain(rules: Ruleset, by: Place) -> Any:
    for table in rules.tables:
        if (table.family, table.name, table.backend) == (by.family, by.table, by.backend) and by.chain in table.chains:
            return table.chains[by.chain]
    return None


def _entry(chain: Any, target: str) -> int:
    return next(number for number, rule in enumerate(chain.rules) if target in rule.find_targets())


def _levels(rules: Ruleset, verdict: Verdict, by: Place) -> list[_Level]:
    """The chains from the base chain to the rule that drops; empty where the listing has not all of them."""
    way: list[Place] = []
    for place in verdict.trail:
        if (place.hook, place.backend, place.family, place.table) != (by.hook, by.backend, by.family, by.table):
            continue
        if place.action.partition(" ")[0] not in ("jump", "goto", "drop"):
            continue
        if place.priority is not None:
            way = []
        names = [one.chain for one in way]
        way = [*(way[: names.index(place.chain)] if place.chain in names else way), place]
    found = [(_chain(rules, place), place) for place in way]
    if any(chain is None for chain, _place in found):
        return []
    return [_Level(chain, index_of(chain, place), place.action.startswith("goto")) for chain, place in found]


def _depth(levels: Sequence[_Level], by: Place) -> int:
    """At which of the levels an accept concerns only packets that came this way: 0 is the base chain.

    A user's chain that is entered from one place only is as good as a part of that place; what is entered from several,
    such as one that logs and drops, has to be left alone.
    """
    depth = 0
    while by.owner is None and depth + 1 < len(levels):
        below = levels[depth + 1].chain
        if owner_of(below) is not None or _entries(below) != 1:
            break
        depth += 1
    return depth


def _entries(chain: Any) -> int:
    """How many places enter a chain; a chain without a name, which nft lists as text, may do so, too."""
    found = 0
    for one in chain.table.chains.values():
        for rule in one.rules:
            text = str(rule) if not rule.find_targets() else ""
            found += rule.find_targets().count(chain.name) or int('text "' in text and chain.name in text)
    return found


def _docker_user(chain: Any, by: Place) -> Jump | None:
    user = chain.table.chains.get("DOCKER-USER")
    if user is None or not any("DOCKER-USER" in rule.find_targets() for rule in chain.rules):
        return None
    last = user.rules[-1] if user.rules else None
    before = str(last) if last is not None and str(last).endswith("-j RETURN") else ""
    return Jump("forward", by.backend, by.family, by.table, "DOCKER-USER", before)


def _jump(hook: str, chain: Any, index: int) -> Jump:
    table = chain.table
    rule = chain.rules[index] if index < len(chain.rules) else None
    by_nft = table.backend == "nft" and _is_of_iptables(table.family, table.name)
    return Jump(
        hook,
        table.backend,
        table.family,
        table.name,
        chain.name,
        str(rule) if rule else "",
        rule.handle if rule else None,
        by_nft and (not table.from_save or (rule is not None and rule.only_nft)),
    )


def skipped(levels: Sequence[_Level], depth: int) -> list[str]:
    """What denies something, and would be skipped by an accept of ours before the rule of that level.

    The rule that drops now is not one of them, nor is a last word without a condition, nor what programs drop that do
    not judge traffic between pods.
    """
    found: list[str] = []
    for number, level in enumerate(levels):
        chain, at = level.chain, level.at
        on_the_way = chain.rules[at] if at < len(chain.rules) else None
        if number < depth:
            found += [] if level.left else _denials(chain.rules[at + 1 :], chain)
            continue
        if on_the_way is not None and on_the_way.looks_up:  # it does more than what it does to this packet
            following = levels[number + 1].chain.name if number + 1 < len(levels) else ""
            found += _denials([on_the_way], chain, following)
        start = at + 1 if number == depth else 0
        found += _denials([rule for rule in chain.rules[start:] if rule is not on_the_way], chain)
    return found


def _denials(rules: Sequence[Any], chain: Any, known: str = "") -> list[str]:
    """Sentences' parts for what rules of a chain deny. known: a chain that they enter and that is looked at anyway."""
    found: list[str] = []
    for rule in rules:
        names = [name for name in rule.find_targets() if name in chain.table.chains and name != known]
        owners = {owner_of(one) for name in names for one in chain.table.chains[name].reachable()}
        if owners & POLICY_ENGINES:
            found.append(f"the chains of {sorted(owners & POLICY_ENGINES, key=str)[0]}")
            continue
        for inner, place in _denying(rule, chain, names, None, set()):
            found.append(f"the rule `{inner}`" if place is chain else f"the rule `{inner}` of chain {place.name}")
    return found


def _denying(
    rule: Any, chain: Any, names: Sequence[str], narrowed: tuple[Any, Any] | None, seen: set[tuple[str, bool]]
) -> Iterator[tuple[Any, Any]]:
    """The rules with their chains that deny something once this rule is come to. narrowed: the condition before it."""
    if rule.may_drop() and not _is_harmless(chain):
        if not _is_last_word(rule):
            yield rule, chain
        elif narrowed:
            yield narrowed
    inside = (rule, chain) if names and rule.has_condition else narrowed
    for name in names:
        if (name, inside is not None) in seen:
            continue
        seen.add((name, inside is not None))
        entered = chain.table.chains[name]
        for inner in entered.rules:
            below = [one for one in inner.find_targets() if one in chain.table.chains]
            yield from _denying(inner, entered, below, inside, seen)


def _is_last_word(rule: Any) -> bool:
    return not rule.has_condition and _LAST_WORD.search(str(rule)) is not None


def _is_harmless(chain: Any) -> bool:
    """Whether the drops of a chain do not concern pods. DOCKER-USER is a person's, and so is a chain Docker shares."""
    owner = owner_of(chain)
    return owner in _HARMLESS and chain.name != "DOCKER-USER" and not (chain.hook and owner == "docker")


def describe(remedies: Sequence[Remedy]) -> list[str]:
    """For a person: who is told."""
    return [remedy.tool if remedy.jump is None else f"{remedy.jump.table}/{remedy.jump.chain}" for remedy in remedies]
