# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads what iptables-save and ip6tables-save print, of either backend."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Callable, NamedTuple

from . import _xt_matches, _xt_targets
from ._model import ACT, MATCH, At, Chain, Rule, Step, Table
from ._packet import State
from ._values import Tri, Unsupported, address, negate

# Hooks and priorities of the tables' own chains (include/uapi/linux/netfilter_ipv4.h, enum nf_ip_hook_priorities).
_HOOKS = {
    "PREROUTING": "prerouting", "INPUT": "input", "FORWARD": "forward", "OUTPUT": "output",
    "POSTROUTING": "postrouting",
}  # fmt: skip
_PRIORITIES = {"raw": -300, "mangle": -150, "filter": 0, "security": 50}
_NAT = {"PREROUTING": -100, "OUTPUT": -100, "INPUT": 100, "POSTROUTING": 100}

_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_CHAIN = re.compile(r"\n:(\S+)(?: +(\S+))?")
_RULE = re.compile(r"\n(?:\[\d+:\d+\] )?(-A (\S+).*)")
_DESTINATION = {"ip": re.compile(r"-A \S+ -d ([0-9.]+)/32 "), "ip6": re.compile(r"-A \S+ -d ([0-9a-f.:]+)/128 ")}
_BARE_COMMENT = re.compile(r" --comment [^\s\"]+")  # written without quotes where it has no blank, even `-j`
_TARGET = re.compile(r" (?:-j|-g|--jump|--goto) (\S+)")
_INCOMPATIBLE = re.compile(r"^# Table `(\S+)' is incompatible")


class SavedTable(NamedTuple):
    """A table's text: the policy of each chain by name ("-" of one that users made, "" of one that is not declared),
    and the lines of its rules by chain."""

    name: str
    policies: dict[str, str]
    rules: dict[str, list[str]]


@functools.lru_cache(maxsize=4)
def split(text: str) -> tuple[SavedTable, ...]:
    """The tables of one save text, unread; kept for the texts of one host, of which two ask."""
    tables = []
    for part in f"\n{text}".split("\n*")[1:]:
        body = part.partition("\nCOMMIT")[0]
        policies = dict(_CHAIN.findall(body))
        rules: dict[str, list[str]] = defaultdict(list)
        for line, chain in _RULE.findall(body):
            rules[chain].append(line)
        for chain in rules:
            policies.setdefault(chain, "")
        tables.append(SavedTable(body.partition("\n")[0].strip(), policies, dict(rules)))
    return tuple(tables)


def read(text: str, backend: str, family: str) -> list[Table]:
    """Tables of one save text. Family is `ip` or `ip6`. Lines that are no rules are passed over.

    Raises ValueError for a text that has lines and no table.
    """
    tables: list[Table] = []
    if not split(text) and any(line.strip() and not line.startswith("#") for line in text.splitlines()):
        tool = "iptables" if family == "ip" else "ip6tables"
        raise ValueError(
            f"{tool}.{backend} is not what `{tool}-{backend}-save -c` prints: it has no table, which is a line such as "
            "*filter"
        )
    for saved in split(text):
        table = Table(family, saved.name, backend, from_save=True)
        tables.append(table)
        table.chains = _Chains(table, saved)
        table.base = [name for name in _HOOKS if name in table.chains]
    return tables


class _Chains(Mapping[str, Chain]):
    """The chains of a table, each made when it is asked for: a large cluster's has thousands that no packet enters."""

    def __init__(self, table: Table, saved: SavedTable) -> None:
        self._table = table
        self._saved = saved
        self._made: dict[str, Chain] = {}

    def __getitem__(self, name: str) -> Chain:
        if name not in self._made:
            chain = self._made[name] = _chain(self._table, name, self._saved.policies[name])
            chain.read = lambda: _rules(self._table, self._saved.rules.get(name, []))
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._saved.policies

    def __iter__(self) -> Iterator[str]:
        return iter(self._saved.policies)

    def __len__(self) -> int:
        return len(self._saved.policies)


def incompatible(text: str) -> list[str]:
    """Names of tables that iptables-nft-save says it cannot show, because nft rules of another kind are in them."""
    return [found.group(1) for found in map(_INCOMPATIBLE.match, text.splitlines()) if found]


def _chain(table: Table, name: str, policy: str) -> Chain:
    chain = Chain(name, table)
    if policy not in ("", "-") and name in _HOOKS:
        chain.hook = _HOOKS[name]
        chain.policy = policy.lower()
        if table.name == "nat":
            chain.type = "nat"
            chain.priority = _NAT.get(name, 0)
        else:
            chain.priority = _PRIORITIES.get(table.name, 0)
    return chain


def _rules(table: Table, lines: list[str]) -> list[Rule]:
    found = []
    for line in lines:
        target = _target(line)
        found.append(_rule(line, target, target in table.chains, table.family))
    return found


@functools.lru_cache(maxsize=20_000)
def _target(line: str) -> str:
    """What a rule jumps to, "" where it goes nowhere."""
    bare = _QUOTED.sub('""', line) if '"' in line else line
    found = _TARGET.search(_BARE_COMMENT.sub("", bare))
    return found.group(1) if found else ""


@functools.lru_cache(maxsize=20_000)
def _rule(line: str, target: str, enters: bool, family: str) -> Rule:
    """One rule; hosts of a cluster have most of theirs in common, so that each is made and compiled once.
    `enters`: whether its target is a chain of its table."""
    return Rule(
        line,
        effects=target in _xt_targets.EFFECTS,
        find_targets=lambda: (target,) if target else (),
        may_drop=lambda: bool(target) and not enters and _xt_targets.may_drop(target),
        compile=lambda: compile_rule(line, family, enters),
        destination=_destination(line, family),
    )


def _destination(line: str, family: str) -> int | None:
    found = _DESTINATION[family].match(line)
    try:
        return address(found.group(1)) if found else None
    except Unsupported:
        return None


# Options whose value is free text and may look like an option itself.
_FREE_TEXT = frozenset(("--comment", "--log-prefix", "--nflog-prefix", "--ulog-prefix", "--string", "--hex-string"))


class Words:
    """A rule's words from a position on: options with their negation and values."""

    def __init__(self, line: str, at: int = 0) -> None:
        self.words: list[tuple[bool, str]] = []  # whether it was quoted, and the word without its escapes
        for match in _WORD.finditer(line):
            quoted, plain = match.groups()
            self.words.append((False, plain) if quoted is None else (True, re.sub(r"\\(.)", r"\1", quoted)))
        self.at = at

    def option(self) -> tuple[bool, str] | None:
        """(negated, option), or None at the end."""
        if self.at >= len(self.words):
            return None
        negated = self.words[self.at] == (False, "!")
        self.at += 1 if negated else 0
        name = self.words[self.at][1] if self.at < len(self.words) else ""
        self.at += 1
        return negated, name

    def values(self, option: str) -> list[str]:
        """The words up to the next option."""
        start = self.at
        if option in _FREE_TEXT:
            self.at += 1
        while self.at < len(self.words) and not self._is_option():
            self.at += 1
        return [word for _quoted, word in self.words[start : self.at]]

    def _is_option(self) -> bool:
        quoted, word = self.words[self.at]
        return not quoted and (word == "!" or (len(word) > 1 and word[0] == "-" and not word[1].isdigit()))


def _unknown(state: State, at: At) -> Tri:
    return None


def _negated(match: Callable[[State, At], Tri]) -> Callable[[State, At], Tri]:
    return lambda state, at: negate(match(state, at))


def compile_rule(line: str, table_family: str, enters: bool) -> list[Step]:
    """The steps of one `-A CHAIN ...` line. What cannot be read becomes a match that is unknown.
    `enters`: whether its target is a chain of the table."""
    words = Words(line, 2)
    family = 4 if table_family == "ip" else 6
    steps: list[Step] = []
    module = ""
    protocol = ""
    target: tuple[str, str] | None = None
    options: list[tuple[bool, str, list[str]]] = []

    def flush() -> None:
        if module:
            try:
                match = _xt_matches.build(module, options, family)
            except (Unsupported, IndexError, ValueError):
                match = _unknown
            if match is not None:
                steps.append((MATCH, match))

    while True:
        option = words.option()
        if option is None:
            break
        negated, name = option
        values = words.values(name)
        if target is not None:
            options.append((negated, name, values))
        elif name in ("-m", "--match"):
            flush()
            module, options = values[0], []
        elif name in ("-j", "-g", "--jump", "--goto"):
            flush()
            module, options = "", []
            target = ("goto" if name in ("-g", "--goto") else "jump", values[0])
        elif name in _xt_matches.GENERIC:
            protocol = values[0] if name in ("-p", "--protocol") and values else protocol
            try:
                match = _xt_matches.GENERIC[name](values, family)
            except (Unsupported, IndexError, ValueError):
                match = _unknown
            if match is not None:
                steps.append((MATCH, _negated(match) if negated else match))
        else:
            if not module:  # `-p tcp --dport 80` without `-m tcp`
                module, options = protocol or "unknown", []
            options.append((negated, name, values))
    flush()
    if target is not None:
        steps.append((ACT, _act(target, options, family, enters)))
    return steps


def _act(
    target: tuple[str, str], options: list[tuple[bool, str, list[str]]], family: int, enters: bool
) -> Callable[..., Any]:
    verb, name = target
    if enters:
        return lambda state, at: [(verb, name, state)]
    try:
        return _xt_targets.build(name, options, family)
    except (Unsupported, IndexError, ValueError):
        return _xt_targets.unreadable


def compile_accept(words: str, version: int) -> Rule:
    """A rule that is in no ruleset yet, for packets of one IP version: `-s 10.244.0.0/16 -j ACCEPT`."""
    family = "ip" if version == 4 else "ip6"
    rule = Rule(f"-A PODNET {words}")
    own_version: Step = (MATCH, lambda state, at: state.family == version)
    rule.compile = lambda: [own_version, *compile_rule(rule.text, family, False)]
    return rule
