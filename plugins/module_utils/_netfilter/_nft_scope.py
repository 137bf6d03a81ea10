# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the rules of one nft table share: its sets and maps, and the values that expressions take from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from ._model import At, Table
from ._nft_sets import Lookup
from ._nft_values import Getter, Kind, constant, expression
from ._packet import State
from ._values import ABSENT, UNKNOWN, Choice, Unsupported


class Scope:
    """What the rules of one table share: its named sets, and which of them rules change."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.sets: dict[str, Mapping[str, Any]] = {}
        self.changed: set[str] = set()
        self._lookups: dict[tuple[str, Kind], Lookup] = {}

    def note(self, statements: list[Mapping[str, Any]]) -> None:
        for statement in statements:
            for name in ("set", "map"):
                body = statement.get(name)
                if isinstance(body, dict):
                    self.changed.add(str(body.get(name, "")).lstrip("@"))

    def lookup(self, name: str, kind: Kind) -> Lookup:
        """Elements of a named set or map by its key; raises Unsupported where the listing has none of that name."""
        if (name, kind) not in self._lookups:
            body = self.sets.get(name)
            if body is None:
                raise Unsupported(f"set {name}")
            pairs = [_pair(one, "map" in body) for one in body.get("elem") or []]
            self._lookups[(name, kind)] = Lookup(pairs, kind, changing=name in self.changed)
        return self._lookups[(name, kind)]

    def data(self, tree: Any, kind: Kind) -> Lookup:
        """Elements of a map, named or written in place."""
        if isinstance(tree, str) and tree.startswith("@"):
            return self.lookup(tree[1:], kind)
        return Lookup([_pair(one, True) for one in tree["set"]], kind)


def _pair(tree: Any, is_map: bool) -> tuple[Any, Any]:
    return (tree[0], tree[1]) if is_map and isinstance(tree, list) and len(tree) == 2 else (tree, True)


def values(tree: Any, kind: Kind, scope: Scope) -> Callable[[State, At], tuple[list[Any], bool]]:
    """What a value expression may be: (possible values, whether the rule may break off instead)."""
    if isinstance(tree, dict) and set(tree) == {"map"}:
        getter, key_kind = expression(tree["map"]["key"])
        lookup = scope.data(tree["map"]["data"], key_kind)

        def look(state: State, at: At) -> tuple[list[Any], bool]:
            key = getter(state, at)
            if key is ABSENT:
                return [], True
            found, missed = lookup.find(key)
            return [UNKNOWN if data is True else _data(data, kind) for data in found], missed

        return look
    if isinstance(tree, dict) and set(tree) == {"range"}:
        return lambda state, at: ([UNKNOWN], False)
    if isinstance(tree, dict) and next(iter(tree)) != "elem" and not _is_flags(tree):
        read: Getter = expression(tree)[0]

        def evaluate(state: State, at: At) -> tuple[list[Any], bool]:
            value = read(state, at)
            if value is ABSENT:
                return [], True
            return (value.values, False) if isinstance(value, Choice) else ([value], False)

        return evaluate
    fixed = constant(tree, kind)
    return lambda state, at: ([fixed], False)


def _data(tree: Any, kind: Kind) -> Any:
    if isinstance(tree, dict) and set(tree) == {"concat"}:
        return (constant(tree["concat"][0], "address"), constant(tree["concat"][1], "port"))
    try:
        return constant(tree, kind)
    except Unsupported:
        return UNKNOWN


def _is_flags(tree: dict[str, Any]) -> bool:
    """Whether it is names of bits, put together."""
    return set(tree) == {"|"} and not any(isinstance(part, dict) for part in tree["|"])
