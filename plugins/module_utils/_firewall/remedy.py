# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who is told to accept, and at which place.

Whoever keeps the dropping rule is told in its own language: firewalld and ufw. Docker keeps DOCKER-USER for others,
where its backend is iptables. Everywhere else an own chain is entered right before what drops: in the tables of
iptables, which every program shares, and in an nft table that a file of the host loads. A table that no one names is
left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from .._netfilter import Place, Ruleset, Verdict
from .judgement import Judged, loaded_by, place_of

# Programs that enforce policies between pods: an accept in front of their chains would undo a denial.
POLICY_ENGINES = frozenset(
    ("kube-router", "kube-network-policies", "calico", "cilium", "weave", "crowdsec", "fail2ban")
)
# Programs whose own drops do not concern traffic between pods.
_HARMLESS = frozenset(
    ("kube-proxy", "kubelet", "flannel", "docker", "libvirt", "portmap", "netavark", "podnet.kubeadm")
)
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

    @property
    def native(self) -> bool:
        return self.backend == "nft" and (
            self.family not in ("ip", "ip6") or self.table not in ("filter", "mangle", "raw", "security")
        )

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "handle"}


@dataclass(frozen=True)
class Remedy:
    """tool: firewalld, ufw, or jump (then `jump` says where)."""

    tool: str
    hook: str
    jump: Jump | None = None


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
    chain = _chain(rules, by)
    if chain is None:
        raise Refusal("its chain is not in the listing any more")
    if by.owner == "docker" and judged.hook == "forward":
        jump = _docker_user(chain, by)
        if jump and not skipped(chain, _entry(chain, "DOCKER-USER"), by):
            return Remedy("jump", "forward", jump)
    base, index = _base_level(rules, judged.verdict, by)
    if not chain.table.from_save and loaded_by(judged.verdict) is None:
        raise Unowned("no program and no file of this host is known to keep that table")
    if chain.hook is None and by.owner is None:  # a chain of a user's own
        at = _index(chain, by)
        denied = skipped(chain, at, by) + skipped(base, index + 1, by)
        jump = _jump(judged.hook, chain, at)
    else:
        denied = skipped(base, index, by)
        jump = _jump(judged.hook, base, index)
    if denied:
        raise Refusal(
            f"an accept there would come before {denied[0]}, and what that denies has to stay denied. Move what drops "
            "behind it, or remove it"
        )
    return Remedy("jump", judged.hook, jump)


def _chain(rules: Ruleset, by: Place) -> Any:
    for table in rules.tables:
        if (table.family, table.name, table.backend) == (by.family, by.table, by.backend) and by.chain in table.chains:
            return table.chains[by.chain]
    return None


def _index(chain: Any, by: Place) -> int:
    """Number of the rule in its chain, from 0; the number of rules for a policy."""
    for number, rule in enumerate(chain.rules):
        if str(rule) == by.rule and rule.handle == by.handle:
            return number
    return len(chain.rules)


def _entry(chain: Any, target: str) -> int:
    return next(number for number, rule in enumerate(chain.rules) if target in rule.find_targets())


def _base_level(rules: Ruleset, verdict: Verdict, by: Place) -> tuple[Any, int]:
    """The base chain that the drop was reached from, and the number of the rule there that led to it."""
    entered = by
    for place in reversed(verdict.trail):
        same = (place.hook, place.backend, place.family, place.table) == (by.hook, by.backend, by.family, by.table)
        if same and place.priority is not None:
            entered = place
            break
    base = _chain(rules, entered)
    return base, _index(base, entered)


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
    return Jump(
        hook,
        table.backend,
        table.family,
        table.name,
        chain.name,
        str(rule) if rule else "",
        rule.handle if rule else None,
    )


def skipped(chain: Any, start: int, by: Place) -> list[str]:
    """Rules from a position on that deny something, and that an accept of ours at that position would skip.

    The rule that drops now is not one of them, nor is a last word without a condition, nor what programs drop that do
    not judge traffic between pods.
    """
    from .._netfilter import owner_of

    found = []
    for rule in chain.rules[start:]:
        if str(rule) == by.rule and rule.handle == by.handle:
            continue
        entered = [chain.table.chains[name] for name in rule.find_targets() if name in chain.table.chains]
        below = [one for name in entered for one in name.reachable()]
        owners = {owner_of(one) for one in below}
        if owners & POLICY_ENGINES:
            found.append(f"the chains of {sorted(owners & POLICY_ENGINES, key=str)[0]}")
        elif _denies(rule) and not _unconditional(rule) and owner_of(chain) not in _HARMLESS - {"docker"}:
            found.append(f"the rule `{rule}`")
        else:
            deep = [(one, inner) for one in below for inner in one.rules if owner_of(one) not in _HARMLESS]
            found += [f"the rule `{inner}` of chain {one.name}" for one, inner in deep if _denies(inner)]
    return found


def _denies(rule: Any) -> bool:
    text = str(rule)
    if text.startswith("-A "):
        return any(target in ("DROP", "REJECT") for target in rule.find_targets())
    return any(word in ("drop", "reject") for word in text.replace(",", " ").split())


def _unconditional(rule: Any) -> bool:
    return sum(1 for kind, _function in rule.steps if kind == 0) == 0


def describe(remedies: Sequence[Remedy]) -> list[str]:
    """For a person: who is told."""
    return [remedy.tool if remedy.jump is None else f"{remedy.jump.table}/{remedy.jump.chain}" for remedy in remedies]
