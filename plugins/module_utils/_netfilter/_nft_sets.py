# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""nft's sets and maps, named and anonymous, and the comparison of a value with what stands on a rule's right side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._nft_values import FLAGS, Kind, constant
from ._values import (
    UNKNOWN,
    Choice,
    Matcher,
    Tri,
    Unsupported,
    all_of,
    anything,
    equals,
    interface,
    masked,
    within,
)


def is_known(value: Any) -> bool:
    """Whether nothing of a value, or of a concatenation, is unknown."""
    if isinstance(value, tuple):
        return all(part is not UNKNOWN and not isinstance(part, Choice) for part in value)
    return value is not UNKNOWN and not isinstance(value, Choice)


def element(tree: Any, kind: Kind) -> tuple[Any | None, Matcher]:
    """(exact value or None, matcher) of one element; raises Unsupported."""
    if isinstance(tree, dict):
        name, body = next(iter(tree.items()))
        if name == "elem":
            return element(body.get("val"), kind)
        if name == "prefix":
            base = constant(body["addr"], kind)
            width = 128 if ":" in str(body["addr"]) else 32
            mask = (1 << width) - (1 << width - int(body["len"]))
            return None, masked(base & mask, mask)
        if name == "range":
            return None, within(constant(body[0], kind), constant(body[1], kind))
        if name == "concat" and isinstance(kind, tuple):
            if len(body) != len(kind):
                raise Unsupported(str(tree))
            return _concat([element(part, of) for part, of in zip(body, kind)])
    if tree == "*" and kind != "word":
        return None, anything
    if kind == "name" and isinstance(tree, str):
        if tree.endswith("*") and not tree.endswith("\\*"):
            return None, interface(tree, "*")
        plain = tree.replace("\\*", "*")
        return plain, equals(plain)
    if kind in ("ctstatus", "exists"):
        raise Unsupported(str(tree))  # compared as a whole word, of which not all bits are known
    value = constant(tree, kind)
    return value, equals(value)


def _concat(parts: list[tuple[Any | None, Matcher]]) -> tuple[Any | None, Matcher]:
    matchers = [matcher for _exact, matcher in parts]

    def match(value: Any) -> Tri:
        if value is UNKNOWN:
            return None
        return all_of(matcher(part) for matcher, part in zip(matchers, value))

    exact = tuple(exact for exact, _matcher in parts)
    return (None if None in exact else exact), match


class Lookup:
    """Elements of a set (data True) or a map, asked by a key that may be unknown."""

    def __init__(self, elements: Iterable[tuple[Any, Any]], kind: Kind, changing: bool = False) -> None:
        """`changing`: rules add or delete elements, so the listing tells only of the moment it was made."""
        self.exact: dict[Any, Any] = {}
        self.others: list[tuple[Matcher, Any]] = []
        self.rest: list[Any] = []
        self.changing = changing
        for tree, data in elements:
            if tree == "*":
                self.rest.append(data)
                continue
            value, matcher = element(tree, kind)
            if value is None:
                self.others.append((matcher, data))
            else:
                self.exact[value] = data

    def find(self, value: Any) -> tuple[list[Any], bool]:
        """(data of the elements that may be the one, whether there may be none)."""
        if isinstance(value, Choice):
            found: list[Any] = []
            missed = False
            for one in value.values:
                hits, miss = self.find(one)
                found += [hit for hit in hits if hit not in found]
                missed = missed or miss
            return found, missed
        if self.changing:
            return [*self.exact.values(), *(data for _m, data in self.others), *self.rest] or [True], True
        if is_known(value) and value in self.exact:
            return [self.exact[value]], False
        possible: list[Any] = []
        for matcher, data in self.others:
            answer = matcher(value)
            if answer is True and is_known(value):
                return [data], False
            if answer is not False:
                possible.append(data)
        if not is_known(value):
            for key, data in self.exact.items():
                pairs = zip(key, value) if isinstance(value, tuple) else ()
                if all(not is_known(part) or part == known for known, part in pairs):
                    possible.append(data)
            return possible + self.rest, not self.rest
        return (self.rest, False) if self.rest and not possible else (possible + self.rest, not self.rest)

    def contains(self, value: Any) -> Tri:
        found, missed = self.find(value)
        return None if found and missed else bool(found)


def comparison(operator: str, right: Any, kind: Kind, named: Any) -> Matcher:
    """Matcher of `left OPERATOR right`; `named` gives the Lookup of a named set. Raises Unsupported."""
    if isinstance(right, str) and right.startswith("@"):
        return _member(named(right[1:], kind), operator)
    if isinstance(right, dict) and "set" in right:
        members = right["set"] if isinstance(right["set"], list) else [right["set"]]
        return _member(Lookup(((one, True) for one in members), kind), operator)
    if kind in FLAGS and (operator in ("in", "!") or isinstance(right, list)):
        return _flags(operator, right, constant(right, kind))
    if operator in ("==", "in"):
        return _exists(right) if kind == "exists" else element(right, kind)[1]
    if operator == "!=":
        test = _exists(right) if kind == "exists" else element(right, kind)[1]
        return lambda value: None if test(value) is None else not test(value)
    return _order(operator, constant(right, kind))


def _exists(right: Any) -> Matcher:
    if isinstance(right, bool):
        return lambda value: None if value is UNKNOWN else bool(value) == right
    if isinstance(right, str):
        return equals(right)
    raise Unsupported(str(right))


def _member(lookup: Lookup, operator: str) -> Matcher:
    if operator in ("==", "in"):
        return lookup.contains
    if operator != "!=":
        raise Unsupported(operator)

    def outside(value: Any) -> Tri:
        answer = lookup.contains(value)
        return None if answer is None else not answer

    return outside


def _flags(operator: str, right: Any, bits: int) -> Matcher:
    def match(value: Any) -> Tri:
        if value is UNKNOWN:
            return None
        if operator == "in":
            return bool(value & bits)
        if operator == "!":
            return not value & bits
        if operator == "==":
            return value == bits
        # `!= a,b` tests the bits or the whole word, by the version of nft; the answer counts where both agree.
        return True if not value & bits else None

    return match


def _order(operator: str, bound: int) -> Matcher:
    tests = {
        "<": lambda value: value < bound, ">": lambda value: value > bound,
        "<=": lambda value: value <= bound, ">=": lambda value: value >= bound,
    }  # fmt: skip
    if operator not in tests:
        raise Unsupported(operator)
    test = tests[operator]
    return lambda value: test(value) if isinstance(value, int) else None
