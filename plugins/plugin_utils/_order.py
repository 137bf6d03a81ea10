# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person sees first: consequences folded under causes, one line for a fault of many hosts, causes on top."""

from __future__ import annotations

from collections import defaultdict

from ._finding import CLUSTER, INTENT, SEVERITIES, Finding, Undetermined
from ._registry import CHAPTERS, LoadedRule

_CHAPTER_ORDER = {title: index for index, title in enumerate(CHAPTERS.values())}


def _everywhere(finding: Finding) -> bool:
    return CLUSTER in finding.where or INTENT in finding.where


def _covers(cause: Finding, consequence: Finding) -> bool:
    """Whether a cause at its places can explain a consequence at its own."""
    if _everywhere(cause) or _everywhere(consequence):
        return True
    return set(consequence.where) <= set(cause.where)


def fold(findings: list[Finding], rules: dict[str, LoadedRule]) -> list[Finding]:
    """Puts every finding that another one explains under that one and returns the rest.

    A cause folds what it names in ``explains`` at the same place and what those explain in turn, where they were
    found too; never something more severe than itself, so that folding cannot hide an error under a warning.
    """
    level = {severity: index for index, severity in enumerate(SEVERITIES)}
    present = {finding.code for finding in findings}
    reach = {code: _reach(code, rules, present) for code in present}
    causes_of: dict[str, list[Finding]] = defaultdict(list)
    for cause in findings:
        for code in reach[cause.code]:
            causes_of[code].append(cause)

    def cause_of(finding: Finding) -> Finding | None:
        able = [one for one in causes_of.get(finding.code, ()) if level[one.severity] <= level[finding.severity]]
        covering = next((one for one in able if _covers(one, finding)), None)
        if covering is not None or len(finding.where) < 2:
            return covering
        places: dict[str, set[str]] = defaultdict(set)  # of one cause that was found host by host
        for one in able:
            places[one.code].update(one.where)
        return next((one for one in able if places[one.code].issuperset(finding.where)), None)

    parents = [cause_of(finding) for finding in findings]
    by_identity = {id(finding): parent for finding, parent in zip(findings, parents)}
    roots = []
    for finding, parent in zip(findings, parents):
        if parent is None:
            roots.append(finding)
            continue
        while (above := by_identity[id(parent)]) is not None:  # ends, for no code explains itself (tested)
            parent = above
        parent.consequences.append(finding)
    return roots


def _reach(code: str, rules: dict[str, LoadedRule], present: set[str] | None = None) -> set[str]:
    """Every code that ``code`` explains, directly or through others, those present only; never itself."""
    seen: set[str] = set()
    todo = list(rules[code].rule.explains)
    while todo:
        one = todo.pop()
        if one not in seen and one != code and (present is None or one in present):
            seen.add(one)
            todo.extend(rules[one].rule.explains if one in rules else ())
    return seen


def group(findings: list[Finding], rules: dict[str, LoadedRule]) -> list[Finding]:
    """Makes one finding of the same finding on many hosts, and sorts: the most severe first, then by rank."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.severity, finding.summary), []).append(finding)
    grouped = [_merge(members, rules) for members in groups.values()]

    def key(finding: Finding) -> tuple[int, int, int, int, str]:
        rank = rules[finding.code].rule.rank
        chapter = _CHAPTER_ORDER[finding.chapter]
        return (SEVERITIES.index(finding.severity), rank, -len(finding.consequences), chapter, finding.code)

    return sorted(grouped, key=key)


def _merge(members: list[Finding], rules: dict[str, LoadedRule]) -> Finding:
    first = members[0]
    consequences = [one for member in members for one in member.consequences]
    if len(members) > 1:
        same = all(member.evidence == first.evidence for member in members)
        evidence = first.evidence if same else {", ".join(member.where): member.evidence for member in members}
        first.where = list(dict.fromkeys(place for member in members for place in member.where))
        first.evidence = evidence
    first.consequences = group(consequences, rules)
    return first


def group_undetermined(undetermined: list[Undetermined]) -> list[Undetermined]:
    """Makes one entry of a rule that missed the same key on many hosts; the host's name in the key becomes ``*``."""
    groups: dict[tuple[str, str, str], Undetermined] = {}
    for one in undetermined:
        host = one.where[0]
        key = one.key.replace(f"nodes.{host}.", "nodes.*.", 1)
        why = one.why.replace(one.key, key) if one.key else one.why
        kept = groups.setdefault((one.code, key, why), Undetermined(one.code, [], key, one.kind, why))
        if host not in kept.where:
            kept.where.append(host)
    return sorted(groups.values(), key=lambda one: (one.code, one.key))
