# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._model import Table
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._nft_ends import may_drop
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._nft_scope import Scope

IIF = {"meta": {"key": "iifname"}}
DROP, JUMP = {"drop": None}, {"jump": {"target": "own"}}
MANGLE = {"mangle": {"key": {"meta": {"key": "mark"}}, "value": 7}}
MATCH = {"match": {"op": "==", "left": IIF, "right": "drop"}}
VMAP = {"vmap": {"key": IIF, "data": {"set": [["cni0", DROP], ["eth*", JUMP], ["lo", {"continue": None}]]}}}


@pytest.mark.parametrize(
    ("statement", "may"),
    [
        (DROP, True), ({"reject": None}, True), ({"queue": None}, True), ({"text": "x"}, True),
        ({"accept": None}, False), (JUMP, False), (MANGLE, False), (VMAP, True),
        ({"vmap": {"key": IIF, "data": {"set": [["cni0", JUMP]]}}}, False),
        ({"vmap": {"key": IIF, "data": "@denied"}}, True), ({"vmap": {"key": IIF, "data": "@jumps"}}, False),
        ({"vmap": {"key": IIF, "data": "@empty"}}, True), ({"vmap": {"key": IIF, "data": "@filled"}}, True),
        ({"xt": {"type": "target", "name": "REJECT"}}, True), ({"xt": {"type": "target", "name": "LOG"}}, False),
        ({"xt": {"type": "match", "name": "REJECT"}}, False), (MATCH, False),
    ],
)  # fmt: skip
def test_whether_a_rule_may_end_a_packet(statement: dict[str, Any], may: bool) -> None:
    named = Scope(Table("inet", "t", "nft"))
    maps = {"denied": [["cni0", DROP]], "jumps": [["cni0", JUMP]], "empty": [], "filled": [["cni0", JUMP]]}
    named.sets.update({name: {"map": "verdict", "elem": elements} for name, elements in maps.items()})
    named.changed.add("filled")
    assert may_drop([statement], named) is may
