# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the rules would do once a remedy is carried out, before it is."""

from __future__ import annotations

from typing import Any

from .._netfilter import Ruleset, compile_accept
from .accepts import Accepts
from .change import accept_words, nth_of
from .remedy import Jump, Remedy


def carry_out(rules: Ruleset, remedy: Remedy, accepts: Accepts) -> None:
    """Puts the accepts of a remedy into a ruleset that was read, at the place where they would stand."""
    if remedy.jump:
        chain = chain_of(rules, remedy.jump)
        if chain is not None:
            _insert(chain, remedy.hook, accepts, position(chain, remedy.jump))
        return
    # firewalld and ufw look at what they were told before their last word; where in their chains does not matter here.
    for table in rules.tables:
        for chain in table.chains.values():
            if chain.hook == remedy.hook and chain.type == "filter" and _keeps(remedy.tool, chain):
                _insert(chain, remedy.hook, accepts, 0)


def _keeps(tool: str, chain: Any) -> bool:
    if chain.table.name == "firewalld":
        return tool == "firewalld"
    marks = {"ufw": ("ufw-", "ufw6-"), "firewalld": ("FWD", "IN_", "FORWARD_", "INPUT_")}[tool]
    entered = [name for rule in chain.rules for name in rule.find_targets()]
    return any(name.startswith(marks) for name in entered)


def chain_of(rules: Ruleset, jump: Jump) -> Any:
    for table in rules.tables:
        if (table.family, table.name, table.backend) == (jump.family, jump.table, jump.backend):
            return table.chains.get(jump.chain)
    return None


def position(chain: Any, jump: Jump) -> int:
    """Index of the rule that a jump has to come before; the number of rules for the end."""
    handles = [rule.handle for rule in chain.rules]
    if jump.before and jump.handle is not None and jump.handle in handles:
        return handles.index(jump.handle)
    return nth_of([str(rule) for rule in chain.rules], jump.before, jump.nth)


def _insert(chain: Any, hook: str, accepts: Accepts, position: int) -> None:
    rules = []
    for version in accepts.versions(hook):
        for words in accept_words(accepts, hook, version):
            rules.append(compile_accept(" ".join(words), version))
    chain.rules[position:position] = rules
