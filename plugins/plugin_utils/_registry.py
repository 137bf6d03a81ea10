# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the rules: one file per code under ``_rules/CHAPTER/``, its name the code with ``_`` for ``-``.

A rule file holds ``RULE``, a docstring that is the code's documentation page, and at least one of

- ``check_intent(view)``: over what the inventory asks for; runs whenever there is an intent;
- ``check_node(node, view)``: over one host; runs for every host of which there is evidence;
- ``collect(node, view)`` with ``check_nodes(facts, view)``: over all hosts; ``collect`` answers a small fact of one
  host (or None), ``check_nodes`` gets ``{host name: fact}``. Hosts are read one by one and never held together;
- ``check_cluster(view)``: over what the API server and the control plane say.

Each yields `Found`, or nothing.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ._finding import SEVERITIES, Found

CHAPTERS = {"address_plan": "Address plan", "hosts": "Hosts", "traffic": "Traffic", "cluster": "Cluster"}
"""Folders of ``_rules`` and the chapters' titles, in the order of the documentation."""


@dataclass(frozen=True)
class Rule:
    """What a rule file declares.

    ``needs``: keys of the evidence without which the rule cannot tell, as ``intent.K``, ``cluster.K`` or ``nodes.K``.
    They are its documentation; functions over hosts of a rule that needs ``cluster.K`` run on running clusters only.
    ``remedy``: what a person does next, naming a playbook, variable or command that exists. ``repair``:
    ``ROLE:ENTRY_POINT`` of the safe automatic repair, or None. ``explains``: codes that, at the same place, are
    consequences of this one. ``rank``: 0 to 99, who is seen first among findings of one severity: small for the root
    of much (a wrong plan), large for what is rarely the cause.
    """

    title: str
    severity: str
    needs: tuple[str, ...]
    remedy: str
    repair: str | None = None
    explains: tuple[str, ...] = ()
    rank: int = 50


@dataclass(frozen=True)
class LoadedRule:
    """A rule with its code, its chapter, its page and its functions."""

    code: str
    chapter: str
    rule: Rule
    page: str
    check_intent: Callable[..., Iterable[Found]] | None = None
    check_node: Callable[..., Iterable[Found]] | None = None
    collect: Callable[..., Any] | None = None
    check_nodes: Callable[..., Iterable[Found]] | None = None
    check_cluster: Callable[..., Iterable[Found]] | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        return self.rule.needs

    def tells_of_hosts(self, stage: str) -> bool:
        """Whether its functions over hosts can tell anything at ``stage`` (intent, host, cluster)."""
        return stage == "cluster" or (stage == "host" and not any(need.startswith("cluster.") for need in self.needs))


FUNCTIONS = ("check_intent", "check_node", "collect", "check_nodes", "check_cluster")


def _load(package: str, chapter: str, name: str) -> LoadedRule:
    module = importlib.import_module(f"{package}._rules.{chapter}.{name}")
    rule = getattr(module, "RULE", None)
    code = name.replace("_", "-")
    functions = {function: getattr(module, function, None) for function in FUNCTIONS}
    if not isinstance(rule, Rule):
        raise TypeError(f"rule file {chapter}/{name}.py declares no RULE = Rule(...)")
    if rule.severity not in SEVERITIES:
        raise ValueError(f"rule {code}: severity {rule.severity!r} is none of {', '.join(SEVERITIES)}")
    if not any(functions.values()) or (functions["collect"] is None) != (functions["check_nodes"] is None):
        raise TypeError(f"rule {code} has none of {', '.join(FUNCTIONS)}, or only one of collect and check_nodes")
    return LoadedRule(code, chapter, rule, module.__doc__ or "", **functions)


@lru_cache(maxsize=8)
def load_rules(chapters: tuple[str, ...] = tuple(CHAPTERS)) -> dict[str, LoadedRule]:
    """The rules of the chapters by code, sorted by chapter and code. Loading a rule imports its file, once."""
    rules: dict[str, LoadedRule] = {}
    package = __name__.rpartition(".")[0]
    for chapter in chapters:
        folder = os.path.join(os.path.dirname(__file__), "_rules", chapter)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py") and not name.startswith("_"):
                loaded = _load(package, chapter, name[:-3])
                if loaded.code in rules:
                    raise ValueError(f"code {loaded.code} is declared by two chapters")
                rules[loaded.code] = loaded
    return rules
