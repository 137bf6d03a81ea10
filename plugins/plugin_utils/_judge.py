# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs the rules over a view and answers the verdict. Nothing that a rule meets in the evidence ends the run."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ._evidence._bundle import uncollected
from ._evidence._host import Host
from ._finding import CLUSTER, INTENT, SEVERITIES, Finding, Found, Missing, Undetermined
from ._order import fold, group, group_undetermined
from ._registry import CHAPTERS, LoadedRule, load_rules
from ._view import View


@dataclass
class Verdict:
    """``findings``: in the order a person sees them, consequences folded; ``accepted``: findings that were accepted
    by code and count for nothing; ``undetermined``: rules that could not tell; ``hosts``: names of the hosts judged.
    """

    findings: list[Finding] = field(default_factory=list)
    accepted: list[Finding] = field(default_factory=list)
    undetermined: list[Undetermined] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)

    def all(self) -> Iterator[Finding]:
        """Every finding, folded ones included."""
        for finding in self.findings:
            yield from finding.walk()

    def worst(self) -> str | None:
        """The most severe level that occurs, or None."""
        levels = {finding.severity for finding in self.all()}
        return next((severity for severity in SEVERITIES if severity in levels), None)

    def as_dict(self) -> dict[str, Any]:
        return {
            "findings": [finding.as_dict() for finding in self.findings],
            "accepted": [finding.as_dict() for finding in self.accepted],
            "undetermined": [one.as_dict() for one in self.undetermined],
            "hosts": list(self.hosts),
        }


class _Run:
    """Collects what the rules say. ``strict`` lets a rule's own fault through (tests), else it is *undetermined*."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.findings: list[Finding] = []
        self.undetermined: list[Undetermined] = []

    def check(self, rule: LoadedRule, where: str, function: Callable[..., Iterable[Found]] | None, *args: Any) -> None:
        """Calls a check and keeps its findings; those yielded before it met a missing key are kept too."""
        if function is None:
            return
        try:
            for found in function(*args) or ():
                self.findings.append(_finding(rule, where, found))
        except Exception as error:
            self._undetermined(rule, where, error)

    def collect(self, rule: LoadedRule, name: str, node: Host, view: View) -> Any:
        """Calls ``collect`` and answers its fact of the host, None where it could not tell."""
        try:
            return rule.collect(node, view) if rule.collect else None
        except Exception as error:
            self._undetermined(rule, name, error)
        return None

    def _undetermined(self, rule: LoadedRule, where: str, error: Exception) -> None:
        """Turns what a rule misses, and its own faults, into *undetermined*."""
        if isinstance(error, Missing):
            self.undetermined.append(Undetermined(rule.code, [where], error.key, error.kind, error.why))
            return
        if self.strict:
            raise error
        why = f"the rule failed: {type(error).__name__}: {error}"
        self.undetermined.append(Undetermined(rule.code, [where], "", "failed", why))


def _finding(rule: LoadedRule, where: str, found: Found) -> Finding:
    places = [where] if found.where is None else [found.where] if isinstance(found.where, str) else list(found.where)
    return Finding(
        code=rule.code,
        title=rule.rule.title,
        chapter=CHAPTERS[rule.chapter],
        severity=found.severity or rule.rule.severity,
        where=places,
        summary=found.summary,
        evidence=dict(found.evidence),
        remedy=found.remedy or rule.rule.remedy,
        repair=found.repair or rule.rule.repair,
    )


def judge(
    view: View,
    rules: dict[str, LoadedRule] | None = None,
    accept: Iterable[str] = (),
    strict: bool = False,
) -> Verdict:
    """Judges the view with all rules, or with those given. Hosts are read one at a time, each once."""
    with uncollected():
        return _judge(view, rules, accept, strict)


def _judge(view: View, rules: dict[str, LoadedRule] | None, accept: Iterable[str], strict: bool) -> Verdict:
    rules = load_rules() if rules is None else rules
    run = _Run(strict)
    stage = view.stage

    if view.has_intent:
        for rule in rules.values():
            run.check(rule, INTENT, rule.check_intent, view)

    hosts: list[str] = []
    host_rules = [rule for rule in rules.values() if rule.tells_of_hosts(stage)]
    facts: dict[str, dict[str, Any]] = {rule.code: {} for rule in host_rules if rule.collect}
    if host_rules:
        for name, node in view.nodes.read():
            hosts.append(name)
            for rule in host_rules:
                run.check(rule, name, rule.check_node, node, view)
                if rule.collect:
                    fact = run.collect(rule, name, node, view)
                    if fact is not None:
                        facts[rule.code][name] = fact
            if len(hosts) % 10 == 0:  # what a host's rules were read into refers to itself
                del node
                gc.collect(0)
        for rule in host_rules:
            if rule.check_nodes:
                run.check(rule, CLUSTER, rule.check_nodes, facts[rule.code], view)

    if stage == "cluster":
        for rule in rules.values():
            run.check(rule, CLUSTER, rule.check_cluster, view)

    accepted = set(accept)
    standing = _without_echoes([finding for finding in run.findings if finding.code not in accepted])
    return Verdict(
        findings=group(fold(standing, rules), rules),
        accepted=group([finding for finding in run.findings if finding.code in accepted], rules),
        undetermined=group_undetermined(run.undetermined),
        hosts=hosts,
    )


def _without_echoes(findings: list[Finding]) -> list[Finding]:
    """Without notes that a cause may come to some hosts, where the same cause is an error or a warning on others."""
    elsewhere = {CLUSTER, INTENT}
    found = {one.code for one in findings if one.severity != "info" and not elsewhere & set(one.where)}
    return [one for one in findings if one.severity != "info" or one.code not in found or elsewhere & set(one.where)]
