# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import number

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._nft_sets import (
    Lookup,
    comparison,
    element,
    is_known,
)
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN, Choice, Unsupported

A, B, C = number("10.244.1.5"), number("10.244.2.7"), number("192.0.2.1")
PODS = {"prefix": {"addr": "10.244.0.0", "len": 16}}
DROP, ACCEPT = {"drop": None}, {"accept": None}


@pytest.mark.parametrize(
    ("value", "known"),
    [(1, True), ("", True), ((1, "a"), True), (UNKNOWN, False), ((1, UNKNOWN), False), (Choice([1]), False),
     ((1, Choice([1, 2])), False)],
)  # fmt: skip
def test_what_is_known(value: Any, known: bool) -> None:
    assert is_known(value) is known


@pytest.mark.parametrize(
    ("tree", "kind", "exact", "hits", "misses"),
    [
        ("10.244.1.5", "address", A, [A], [B]),
        (PODS, "address", None, [A, B], [C]),
        ({"prefix": {"addr": "fd42::", "len": 64}}, "address", None, [number("fd42::5")], [number("fd42:0:0:1::5")]),
        ({"range": ["10.244.1.5", "10.244.1.9"]}, "address", None, [A, A + 4], [A + 5, A - 1]),
        ({"elem": {"val": 80, "timeout": 5}}, "port", 80, [80], [81]),
        ("http", "port", 80, [80], [443]),
        ("cni*", "name", None, ["cni0"], ["eth0"]),
        ("cni\\*", "name", "cni*", ["cni*"], ["cni0"]),
        ("*", "address", None, [A, C], []),
        ("*", "word", "*", ["*"], ["local"]),
        ({"concat": ["10.244.1.5", 80]}, ("address", "port"), (A, 80), [(A, 80)], [(A, 81), (B, 80)]),
        ({"concat": [PODS, 80]}, ("address", "port"), None, [(B, 80)], [(B, 81), (C, 80)]),
    ],
)
def test_an_element(tree: Any, kind: Any, exact: Any, hits: list[Any], misses: list[Any]) -> None:
    value, matcher = element(tree, kind)
    assert value == exact
    assert all(matcher(one) is True for one in hits) and all(matcher(one) is False for one in misses)
    assert matcher(UNKNOWN) in (None, True)


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        ({"concat": [1]}, ("address", "port")),
        ("pods", "address"),
        ("dnat", "ctstatus"),
        (True, "exists"),
        ({"new": 1}, "port"),
    ],
)
def test_an_element_that_cannot_be_read_is_unsupported(tree: Any, kind: Any) -> None:
    with pytest.raises(Unsupported):
        element(tree, kind)


@pytest.mark.parametrize(
    ("elements", "value", "found", "missed"),
    [
        ([("10.244.1.5", DROP), ("10.244.2.7", ACCEPT)], A, [DROP], False),
        ([("10.244.1.5", DROP)], B, [], True),
        ([("10.244.1.5", DROP)], UNKNOWN, [DROP], True),
        ([(PODS, DROP), ("10.244.1.5", ACCEPT)], A, [ACCEPT], False),  # the exact one first
        ([(PODS, DROP)], B, [DROP], False),
        ([("10.244.1.5", DROP), ("*", ACCEPT)], B, [ACCEPT], False),
        ([("10.244.1.5", DROP), ("*", ACCEPT)], UNKNOWN, [DROP, ACCEPT], False),
        ([("10.244.1.5", DROP), ("10.244.2.7", ACCEPT)], Choice([A, B]), [DROP, ACCEPT], False),
        ([("10.244.1.5", DROP), ("10.244.2.7", DROP)], Choice([A, B]), [DROP], False),
        ([("10.244.1.5", DROP)], Choice([A, B]), [DROP], True),
        ([], A, [], True),
    ],
)
def test_a_map_is_asked_by_a_key(elements: list[Any], value: Any, found: list[Any], missed: bool) -> None:
    assert Lookup(elements, "address").find(value) == (found, missed)


@pytest.mark.parametrize(
    ("value", "found", "missed"),
    [((A, 80), [DROP], False), ((A, UNKNOWN), [DROP], True), ((UNKNOWN, 81), [], True), ((B, UNKNOWN), [], True)],
)
def test_of_a_key_of_several_parts_those_that_are_known_count(value: Any, found: list[Any], missed: bool) -> None:
    lookup = Lookup([({"concat": ["10.244.1.5", 80]}, DROP)], ("address", "port"))
    assert lookup.find(value) == (found, missed)


@pytest.mark.parametrize(
    ("elements", "found"),
    [([], [True]), ([("10.244.1.5", DROP), (PODS, ACCEPT), ("*", 7)], [DROP, ACCEPT, 7])],
)
def test_of_a_set_that_rules_fill_anything_may_be_in_it(elements: list[Any], found: list[Any]) -> None:
    assert Lookup(elements, "address", changing=True).find(B) == (found, True)


@pytest.mark.parametrize(("value", "answer"), [(A, True), (B, False), (UNKNOWN, None), (Choice([A, B]), None)])
def test_a_set_contains(value: Any, answer: bool | None) -> None:
    assert Lookup([("10.244.1.5", True)], "address").contains(value) is answer
    assert Lookup([], "address").contains(value) is False


def named(name: str, kind: Any) -> Lookup:
    assert name == "ports"
    return Lookup([(80, True)], kind)


@pytest.mark.parametrize(
    ("operator", "right", "kind", "value", "answer"),
    [
        ("==", 80, "port", 80, True),
        ("!=", 80, "port", 80, False),
        ("!=", 80, "port", UNKNOWN, None),
        ("==", "@ports", "port", 80, True),
        ("!=", "@ports", "port", 80, False),
        ("!=", "@ports", "port", UNKNOWN, None),
        ("==", {"set": [22, {"range": [79, 81]}]}, "port", 80, True),
        ("!=", {"set": 22}, "port", 80, True),
        ("<", 80, "port", 79, True),
        ("<", 80, "port", 80, False),
        ("<=", 80, "port", 80, True),
        (">", 80, "port", 80, False),
        (">=", 80, "port", 80, True),
        (">", 80, "port", UNKNOWN, None),
        ("in", ["established", "related"], "ctstate", 2, True),
        ("in", ["established", "related"], "ctstate", 8, False),
        ("in", "new", "ctstate", UNKNOWN, None),
        ("!", "syn", "tcpflags", 16, True),
        ("!", "syn", "tcpflags", 18, False),
        ("==", ["syn", "ack"], "tcpflags", 18, True),
        ("==", ["syn", "ack"], "tcpflags", 2, False),
        ("!=", ["syn", "ack"], "tcpflags", 4, True),
        ("!=", ["syn", "ack"], "tcpflags", 2, None),  # of which versions of nft make different tests
        ("==", True, "exists", "eth0", True),
        ("==", False, "exists", "", True),
        ("!=", True, "exists", "eth0", False),
        ("==", "eth0", "exists", "eth0", True),
        ("==", True, "exists", UNKNOWN, None),
    ],
)
def test_comparisons(operator: str, right: Any, kind: str, value: Any, answer: bool | None) -> None:
    assert comparison(operator, right, kind, named)(value) is answer


@pytest.mark.parametrize(
    ("operator", "right", "kind"),
    [("~", 80, "port"), ("<", "@ports", "port"), ("==", 7, "exists"), ("==", "x", "opaque")],
)
def test_a_comparison_that_cannot_be_read_is_unsupported(operator: str, right: Any, kind: str) -> None:
    with pytest.raises(Unsupported):
        comparison(operator, right, kind, named)
