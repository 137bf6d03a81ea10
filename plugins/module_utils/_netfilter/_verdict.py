# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a walk answers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ._owner import owner_of

Note = tuple[Any, ...]  # (hook, Chain, Rule or None, action); made into a Place only when shown


@dataclass(frozen=True)
class Place:
    """A rule, a policy or a piece of evidence that decided something."""

    hook: str = ""
    backend: str = ""
    family: str = ""
    table: str = ""
    chain: str = ""
    rule: str = ""
    handle: int | None = None
    owner: str | None = None
    action: str = ""
    priority: int | None = None

    @property
    def lacks_address(self) -> bool:
        """Whether a packet is dropped because the link that it leaves by has no address to masquerade with.

        That is no matter of the rules: flanneld makes its link before it has a lease.
        """
        return self.hook == "postrouting" and self.action == "drop" and "masquerade" in self.rule.lower()

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass
class Verdict:
    """verdict: accept, drop or undetermined. lower and upper: the worst and the best that is possible.

    by: the rule or policy that drops or accepts, or that makes it undetermined.
    """

    verdict: str
    lower: str
    upper: str
    by: Place | None
    notes: tuple[Note, ...] = ()

    @functools.cached_property
    def trail(self) -> list[Place]:
        """What the packet met on the way to it, rules that do not match left out."""
        return [place(note) for note in self.notes]

    def as_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "lower": self.lower,
            "upper": self.upper,
            "by": self.by.as_dict() if self.by else None,
            "trail": [place.as_dict() for place in self.trail],
        }


def place(note: Note) -> Place:
    """What a person is shown of a note."""
    hook, chain, rule, action = note
    if chain is None:
        return Place(hook=hook, rule=str(rule), action=action)
    policy = rule is None
    return Place(
        hook=hook,
        backend=chain.table.backend,
        family=chain.table.family,
        table=chain.table.name,
        chain=chain.name,
        rule=f"(policy {chain.policy})" if policy else str(rule),
        handle=chain.handle if policy else rule.handle,
        owner=owner_of(chain),
        action=action,
        priority=chain.priority if chain.hook else None,
    )
