# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads JSON and YAML objects without surprises: what is not of the asked type reads as empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._finding import Malformed, Missing


class Item:
    """One object (JSON mapping) of the evidence.

    Readers take the keys that lead to a value, and answer an empty value of their type where it is absent or of
    another type: ``pod.text("spec", "nodeName")``. Where "absent" must make a rule *undetermined*, ask with `need`.
    """

    __slots__ = ("path", "raw")

    def __init__(self, raw: Any, path: str = "") -> None:
        self.raw: dict[str, Any] = raw if isinstance(raw, dict) else {}
        self.path = path

    def get(self, *keys: str) -> Any:
        """The value as it is, None where a key on the way is absent."""
        if len(keys) == 1:
            return self.raw.get(keys[0])
        value: Any = self.raw
        for key in keys:
            if not isinstance(value, dict):
                return None
            value = value.get(key)
        return value

    def has(self, *keys: str) -> bool:
        return self.get(*keys) is not None

    def text(self, *keys: str) -> str:
        value = self.get(*keys)
        return value if isinstance(value, str) else ""

    def number(self, *keys: str) -> int | None:
        """An integer, also where it is written as text."""
        return as_number(self.get(*keys))

    def flag(self, *keys: str) -> bool | None:
        value = self.get(*keys)
        return value if isinstance(value, bool) else None

    def item(self, *keys: str) -> Item:
        return Item(self.get(*keys), self._below(*keys))

    def items(self, *keys: str) -> list[Item]:
        """A list of objects; what is no object is left out."""
        path = self._below(*keys)
        return [Item(one, path) for one in as_list(self.get(*keys)) if isinstance(one, dict)]

    def texts(self, *keys: str) -> list[str]:
        return [one for one in as_list(self.get(*keys)) if isinstance(one, str)]

    def map(self, *keys: str) -> dict[str, str]:
        """Texts by name: labels, annotations."""
        pairs = self.item(*keys).raw.items()
        return {key: value for key, value in pairs if isinstance(key, str) and isinstance(value, str)}

    def need(self, *keys: str, kind: type | tuple[type, ...] = object) -> Any:
        """The value; raises `Missing` where it is absent and `Malformed` where it is not of ``kind``."""
        value = self.get(*keys)
        if value is None:
            raise Missing(self._below(*keys))
        if not isinstance(value, kind):
            raise Malformed(self._below(*keys), f"a {type(value).__name__} stands there")
        return value

    def _below(self, *keys: str) -> str:
        return ".".join((self.path, *keys)) if self.path else ".".join(keys)

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __iter__(self) -> Iterator[str]:
        return (key for key in self.raw if isinstance(key, str))

    def __repr__(self) -> str:
        return f"Item({self.path or '.'}: {', '.join(map(str, self.raw))})"


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and len(value) < 20:
        digits = value.strip().removeprefix("-")
        if digits.isascii() and digits.isdigit():
            return int(value)
    return None
