# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import nft_table
from rules import findings, healthy

CHAIN = {"name": "forward", "type": "filter", "hook": "forward", "prio": 0, "policy": "drop"}


def match(key: str, value: str) -> dict:
    return {"match": {"op": "==", "left": {"meta": {"key": key}}, "right": value}}


def test_a_hand_written_table_with_policy_drop():
    bundle = healthy()
    established = {"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["established", "related"]}}
    nft_table(bundle, "node2", "inet", "filter", CHAIN, [established, {"accept": None}])
    (found,) = findings("forward-other-table", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence["table"] == "inet filter"


def test_a_table_that_accepts_the_pods_interfaces():
    bundle = healthy()
    pods = [[match("iifname", "cni0"), {"accept": None}], [match("oifname", "cni0"), {"accept": None}]]
    nft_table(bundle, "node2", "inet", "filter", CHAIN, *pods)
    assert findings("forward-other-table", bundle) == []


def test_a_table_that_only_watches():
    bundle = healthy()
    chain = {**CHAIN, "policy": "accept"}
    nft_table(bundle, "node2", "inet", "crowdsec", chain, [{"counter": {"packets": 1, "bytes": 60}}])
    assert findings("forward-other-table", bundle) == []
    assert findings("forward-rule-drop", bundle) == []
