# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads `nft -j list ruleset` (libnftables-json(5)) into tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from ._model import Chain, Rule, Table
from ._nft_ends import may_drop
from ._nft_scope import Scope
from ._nft_statements import EFFECTS, compile_rule, targets_of
from ._nft_text import rule_text


def read(listing: str | Mapping[str, Any]) -> list[Table]:
    """Tables of a listing, text or already parsed. Raises ValueError if it is not one."""
    data: Any = listing
    if isinstance(listing, str):
        try:
            data = json.loads(listing) if listing.strip() else None
        except ValueError:
            raise ValueError("the nft ruleset is not what `nft -j list ruleset` prints: it is no JSON") from None
    if not data:
        return []
    if not isinstance(data, Mapping) or not isinstance(data.get("nftables"), list):
        raise ValueError("the nft ruleset is not what `nft -j list ruleset` prints: it has no list `nftables`")
    tables: dict[tuple[str, str], Table] = {}
    scopes: dict[tuple[str, str], Scope] = {}
    dormant: dict[tuple[str, str], Any] = {}
    for item in data["nftables"]:
        if not isinstance(item, dict) or not item:
            continue
        kind, body = next(iter(item.items()))
        if not isinstance(body, dict) or "family" not in body:
            continue
        name = str(body["name"] if kind == "table" else body.get("table"))
        key = (str(body["family"]), name)
        if key not in tables:
            tables[key] = Table(key[0], key[1], "nft")
            scopes[key] = Scope(tables[key])
        if kind == "table":
            dormant[key] = body.get("flags")
        elif kind == "chain":
            _chain(tables[key], body, dormant.get(key))
        elif kind in ("set", "map"):
            scopes[key].sets[str(body["name"])] = body
        elif kind == "flowtable":
            devices = body.get("dev") or []
            tables[key].flowtable_devices += (devices,) if isinstance(devices, str) else tuple(devices)
        elif kind == "rule":
            _rule(tables[key], scopes[key], body)
    return list(tables.values())


# What rules of iptables are made of in nft's listing, beside the extensions that it cannot show.
_OF_IPTABLES = frozenset(("match", "counter", "limit", "log", "accept", "drop", "return", "jump", "goto"))


def _iptables_can_say(statements: list[Mapping[str, Any]]) -> bool:
    """Whether iptables-nft-save tells a rule as it is.

    It leaves out, without a word, what it does not know of a rule that nft made: lookups in sets, ranges of addresses,
    a second match of the same field. A rule with an extension is of its own making.
    """
    fields = []
    for statement in statements:
        name, body = next(iter(statement.items()))
        if name == "xt":
            return True
        if name not in _OF_IPTABLES:
            return False
        if name == "match":
            right = body.get("right")
            if isinstance(right, list) or (isinstance(right, str) and right.startswith("@")):
                return False
            if (isinstance(right, dict) and "prefix" not in right) or body.get("op") not in ("==", "!=", "in"):
                return False
            fields.append(str(body.get("left")))
    return len(fields) == len(set(fields))


def _chain(table: Table, body: Mapping[str, Any], flags: Any) -> None:
    chain = Chain(str(body["name"]), table, handle=body.get("handle"))
    cast("dict[str, Chain]", table.chains)[chain.name] = chain
    words = [flags] if isinstance(flags, str) else list(flags or [])
    # nft 1.0 writes a single flag as a word of chance (it frees the string before it prints it). It is `dormant` then:
    # the only other, `owner`, is of tables that go with the process that made them, which but firewalld none stays for.
    unreadable = any(word not in ("dormant", "owner", "persist") for word in words)
    if not body.get("hook") or "dormant" in words or (unreadable and table.name != "firewalld"):
        return
    chain.certain = not unreadable
    chain.hook = str(body["hook"])
    chain.type = str(body.get("type") or "filter")
    chain.policy = str(body.get("policy") or "accept")
    chain.priority = int(body.get("prio") or 0)
    devices = body.get("dev") or body.get("devs") or ()
    chain.device = (devices,) if isinstance(devices, str) else tuple(devices)


def _rule(table: Table, scope: Scope, body: Mapping[str, Any]) -> None:
    chain = table.chains.get(str(body.get("chain")))
    if chain is None:
        return
    # What nft has no JSON for it writes as text (`jump { ... }`): it may do anything.
    statements: list[Mapping[str, Any]] = [
        one if isinstance(one, dict) and one else {"text": one} for one in body.get("expr") or []
    ]
    scope.note(statements)
    rule = Rule(
        text="",
        handle=body.get("handle"),
        only_nft=not _iptables_can_say(statements),
        effects=any(name in EFFECTS for one in statements for name in one),
        looks_up=any("vmap" in one for one in statements),
        compile=lambda: compile_rule(statements, scope),
    )
    rule.render = lambda: rule_text(statements, str(body.get("comment") or ""))
    rule.find_targets = lambda: targets_of(statements, scope)
    rule.may_drop = lambda: may_drop(statements, scope)
    chain.rules.append(rule)
