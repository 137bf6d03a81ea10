# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import at, number, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._model import Table
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._nft_scope import Scope, values
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN, Unsupported

IIF, MARK = {"meta": {"key": "iifname"}}, {"meta": {"key": "mark"}}
UDP_PORT = {"payload": {"protocol": "udp", "field": "dport"}}
POD = "10.244.2.9"


@pytest.fixture
def scope() -> Scope:
    found = Scope(Table("inet", "t", "nft"))
    found.sets["links"] = {"elem": ["cni0", {"elem": {"val": "eth*"}}]}
    found.sets["to"] = {"map": "ipv4_addr", "elem": [["cni0", POD], ["eth0", {"concat": [POD, 80]}]]}
    found.sets["empty"] = {}
    return found


def test_a_named_set_is_read_once(scope: Scope) -> None:
    lookup = scope.lookup("links", "name")
    assert lookup.contains("cni0") and lookup.contains("eth9") and not lookup.contains("lo")
    assert scope.lookup("links", "name") is lookup
    assert scope.lookup("empty", "name").find("cni0") == ([], True)


def test_a_set_that_is_not_listed_is_unsupported(scope: Scope) -> None:
    with pytest.raises(Unsupported, match="set gone"):
        scope.lookup("gone", "name")


@pytest.mark.parametrize(
    "statement", [{"set": {"op": "add", "set": "@links"}}, {"map": {"op": "add", "map": "@links"}}]
)
def test_what_rules_fill_is_changing(scope: Scope, statement: dict[str, Any]) -> None:
    scope.note([{"accept": None}, statement])
    assert scope.changed == {"links"}
    assert scope.lookup("links", "name").contains("lo") is None and not scope.lookup("to", "name").changing


def test_a_map_is_named_or_written_in_place(scope: Scope) -> None:
    assert scope.data("@to", "name").find("cni0") == ([POD], False)
    assert scope.data({"set": [["cni0", {"drop": None}]]}, "name").find("cni0") == ([{"drop": None}], False)


@pytest.mark.parametrize(
    ("tree", "kind", "packet", "found", "missed"),
    [
        (7, "mark", {}, [7], False),
        ("0x7", "mark", {}, [7], False),
        (POD, "address", {}, [number(POD)], False),
        (MARK, "mark", {"mark": 5}, [5], False),
        ({"|": [MARK, 8]}, "mark", {"mark": 5}, [13], False),
        ({"|": ["syn", "ack"]}, "tcpflags", {}, [18], False),
        ({"range": [POD, "10.244.2.19"]}, "address", {}, [UNKNOWN], False),
        ({"numgen": {"mode": "inc", "mod": 2}}, "mark", {}, [0, 1], False),
        (UDP_PORT, "mark", {}, [], True),
        ({"map": {"key": IIF, "data": "@to"}}, "address", {}, [number(POD)], False),
        ({"map": {"key": IIF, "data": "@to"}}, "address", {"in": "eth0"}, [(number(POD), 80)], False),
        ({"map": {"key": IIF, "data": "@to"}}, "address", {"in": "lo"}, [], True),
        ({"map": {"key": IIF, "data": {"set": [["cni0", "pods"]]}}}, "address", {}, [UNKNOWN], False),
        ({"map": {"key": UDP_PORT, "data": {"set": [[53, 1]]}}}, "mark", {}, [], True),
    ],
)  # fmt: skip
def test_what_a_value_may_be(
    scope: Scope, tree: Any, kind: str, packet: dict[str, Any], found: list[Any], missed: bool
) -> None:
    assert values(tree, kind, scope)(state(**packet), at()) == (found, missed)
