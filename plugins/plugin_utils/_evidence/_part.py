# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A part of the evidence whose keys are parsed once, when a rule first asks, and raise `Missing` where absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from .._finding import Malformed, Missing
from ._item import Item, as_number

T = TypeVar("T")


class Part:
    """A mapping of the evidence (``raw``) that is found at ``path`` (``nodes.n1``)."""

    def __init__(self, raw: Any, path: str) -> None:
        self.raw: dict[str, Any] = raw if isinstance(raw, dict) else {}
        self.path = path
        self._parsed: dict[str, Any] = {}

    def has(self, key: str) -> bool:
        """Whether the key was looked at."""
        return self.raw.get(key) is not None


class Key(Generic[T]):
    """An attribute of a `Part`: the raw value under the key, read by ``parse``.

    ``parse`` gets the raw value and raises ValueError, with a sentence, where it is not what the format says.
    """

    def __init__(self, parse: Callable[[Any], T], key: str = "") -> None:
        self.parse = parse
        self.key = key

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.key = self.key or name

    @overload
    def __get__(self, part: None, owner: type) -> Key[T]: ...

    @overload
    def __get__(self, part: Part, owner: type) -> T: ...

    def __get__(self, part: Part | None, owner: type) -> Key[T] | T:
        if part is None:
            return self
        if self.name not in part._parsed:
            part._parsed[self.name] = self._read(part)
        value = part._parsed[self.name]
        if isinstance(value, Missing):
            raise value.again()
        return value  # type: ignore[no-any-return]

    def _read(self, part: Part) -> T | Missing:
        path = f"{part.path}.{self.key}"
        raw = part.raw.get(self.key)
        if raw is None:
            return Missing(path)
        try:
            return self.parse(raw)
        except Missing as missing:
            return missing.again()
        except Exception as error:  # whatever a host said, it is the evidence that is bad, not the rule
            return Malformed(path, str(error) or type(error).__name__)


def _expect(raw: Any, kind: type | tuple[type, ...], name: str) -> Any:
    if not isinstance(raw, kind) or (isinstance(raw, bool) and kind is not bool):
        raise ValueError(f"{name} is expected, a {type(raw).__name__} stands there")
    return raw


def text(raw: Any) -> str:
    return str(_expect(raw, str, "text"))


def integer(raw: Any) -> int:
    return int(_expect(raw, int, "a number"))


def whole(raw: Any) -> int:
    """A whole number, also as text, which is what ``-e`` and INI inventories make of it."""
    found = as_number(raw)
    if found is None or found < 0:
        raise ValueError(f"a whole number is expected, {raw!r} stands there")
    return found


def number(raw: Any) -> float:
    return float(_expect(raw, (int, float), "a number"))


def boolean(raw: Any) -> bool:
    return bool(_expect(raw, bool, "true or false"))


def texts(raw: Any) -> list[str]:
    return [str(_expect(one, str, "a list of texts")) for one in _expect(raw, list, "a list of texts")]


def text_map(raw: Any) -> dict[str, str]:
    """Texts by name; what is no text is left out, numbers become text."""
    pairs = _expect(raw, dict, "a mapping").items()
    return {k: str(v) for k, v in pairs if isinstance(k, str) and isinstance(v, (str, int)) and not isinstance(v, bool)}


def item(raw: Any) -> Item:
    return Item(_expect(raw, dict, "a mapping"))


def items(raw: Any) -> list[Item]:
    """The objects of a list."""
    return [Item(one) for one in _expect(raw, list, "a list of objects") if isinstance(one, dict)]


def list_items(raw: Any) -> list[Item]:
    """The objects of a Kubernetes List."""
    return items(_expect(raw, dict, "a Kubernetes List").get("items"))


def kube_items(raw: Any) -> list[Item]:
    """The objects of a Kubernetes List that have a name, as all but events must."""
    return [one for one in list_items(raw) if one.text("metadata", "name")]
