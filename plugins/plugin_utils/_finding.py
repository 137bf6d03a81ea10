# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a rule says (Found), what the judge makes of it (Finding), and why a rule could not tell (Undetermined)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

SEVERITIES = ("error", "warning", "info")
"""From the most to the least severe."""

INTENT = "intent"
CLUSTER = "cluster"
"""The two places beside node names that a finding can be at."""


class Missing(Exception):
    """A key of the evidence was not looked at; the rule that needs it answers *undetermined*.

    ``key`` is the dotted key in the evidence, for a host with its name: ``nodes.n1.swap``.
    """

    kind = "absent"

    def __init__(self, key: str, why: str = "") -> None:
        super().__init__(key)
        self.key = key
        self.why = why or f"{key} was not looked at"

    def again(self) -> Missing:
        """The same to be raised once more: one that is kept and raised itself would hold the host whose key it is."""
        new = self.__class__.__new__(self.__class__, *self.args)
        new.__dict__.update(self.__dict__)
        return new


class Malformed(Missing):
    """The key is there and holds something else than the format says: as unknown as if it were absent."""

    kind = "malformed"

    def __init__(self, key: str, why: str) -> None:
        super().__init__(key, f"{key} cannot be read: {why}")


@dataclass(frozen=True)
class Found:
    """What a rule yields; whatever the rule does not say here comes from its ``RULE``.

    ``summary`` is one sentence and does not name the host, so that the same fault on many hosts becomes one line;
    ``evidence`` holds what was compared (plain JSON values); ``where`` is needed only when it is not the place that
    the function is about (``check_intent``: "intent", ``check_cluster``: "cluster", ``check_node``: the host).
    """

    summary: str
    evidence: dict[str, Any] = field(default_factory=dict)
    where: str | tuple[str, ...] | None = None
    severity: str | None = None
    remedy: str | None = None
    repair: str | None = None


@dataclass
class Finding:
    """One finding as a person and a machine see it: format of ``findings`` in the evidence format.

    ``consequences`` are the findings that this one explains; they are folded away under it.
    """

    code: str
    title: str
    chapter: str
    severity: str
    where: list[str]
    summary: str
    evidence: dict[str, Any]
    remedy: str
    repair: str | None
    consequences: list[Finding] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "title": self.title,
            "chapter": self.chapter,
            "severity": self.severity,
            "where": list(self.where),
            "summary": self.summary,
            "evidence": self.evidence,
            "remedy": self.remedy,
            "repair": self.repair,
            "consequences": [one.as_dict() for one in self.consequences],
        }

    def walk(self) -> Iterator[Finding]:
        """This finding and all that are folded under it."""
        yield self
        for one in self.consequences:
            yield from one.walk()


@dataclass
class Undetermined:
    """A rule that could not tell. ``kind``: ``absent``, ``malformed`` or ``failed`` (a fault of the rule itself)."""

    code: str
    where: list[str]
    key: str
    kind: str
    why: str

    def as_dict(self) -> dict[str, Any]:
        return {"code": self.code, "where": list(self.where), "key": self.key, "kind": self.kind, "why": self.why}
