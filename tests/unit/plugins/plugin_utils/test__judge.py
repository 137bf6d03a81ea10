# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Found, Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import LoadedRule, Rule
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

BUNDLE = {"stage": "cluster", "intent": {"pod_cidr": "10.244.0.0/16"}, "nodes": {"n1": {}, "n2": {}, "n3": {}}}


def rule(code, severity="error", explains=(), needs=(), rank=50, **functions):
    declared = Rule(code.title(), severity, needs, "Do it.", explains=explains, rank=rank)
    return {code: LoadedRule(code, "hosts", declared, "", **functions)}


def on(*hosts, summary="it is so", **more):
    return lambda node, view: [Found(summary, {"host": node.name}, **more)] if node.name in hosts else []


def test_a_consequence_is_folded_under_its_cause_at_the_same_place_only():
    rules = rule("cause", explains=("effect",), check_node=on("n1")) | rule("effect", check_node=on("n1", "n2"))
    first, second = judge(View(BUNDLE), rules).findings
    assert (first.code, [one.where for one in first.consequences]) == ("cause", [["n1"]])
    assert (second.code, second.where) == ("effect", ["n2"])


def test_an_accepted_code_is_listed_and_explains_nothing():
    rules = rule("cause", explains=("effect",), check_node=on("n1")) | rule("effect", check_node=on("n1"))
    verdict = judge(View(BUNDLE), rules, accept=["cause"])
    assert [one.code for one in verdict.findings] == ["effect"]
    assert [one.code for one in verdict.accepted] == ["cause"]


def test_a_missing_key_keeps_what_was_found_before_it():
    def check(node, view):
        yield Found("seen")
        raise Missing(f"nodes.{node.name}.swap")

    verdict = judge(View(BUNDLE), rule("a", check_node=check))
    assert verdict.findings[0].where == ["n1", "n2", "n3"]
    (missed,) = verdict.undetermined
    assert (missed.key, missed.where) == ("nodes.*.swap", ["n1", "n2", "n3"])


def test_a_rule_that_fails_is_undetermined_and_the_others_go_on():
    def check(node, view):
        raise KeyError("x")

    verdict = judge(View(BUNDLE), rule("bad", check_node=check) | rule("good", check_node=on("n1")))
    assert [one.code for one in verdict.findings] == ["good"]
    assert {one.kind for one in verdict.undetermined} == {"failed"}
    with pytest.raises(KeyError):
        judge(View(BUNDLE), rule("bad", check_node=check), strict=True)


def test_facts_of_all_hosts_are_compared_once():
    def check(facts, view):
        yield Found("twice", {"facts": facts}, where=tuple(facts))

    rules = rule("pair", collect=lambda node, view: node.name if node.name != "n2" else None, check_nodes=check)
    (found,) = judge(View(BUNDLE), rules).findings
    assert found.where == ["n1", "n3"]


@pytest.mark.parametrize(
    ("stage", "needs", "expected"),
    [
        ("intent", ("nodes.swap",), ["intent"]),
        ("host", ("nodes.swap",), ["intent", "n1", "n2", "n3"]),
        ("host", ("nodes.swap", "cluster.nodes"), ["intent"]),
        ("cluster", ("cluster.nodes",), ["intent", "n1", "n2", "n3", "cluster"]),
    ],
)
def test_functions_run_at_the_stages_at_which_they_can_tell(stage, needs, expected):
    functions = {
        "check_intent": lambda view: [Found("intent")],
        "check_node": lambda node, view: [Found(node.name)],
        "check_cluster": lambda view: [Found("cluster")],
    }
    verdict = judge(View({**BUNDLE, "stage": stage}), rule("a", needs=needs, **functions))
    assert sorted(place for one in verdict.findings for place in one.where) == sorted(expected)


def test_a_note_about_other_hosts_is_left_out_beside_the_cause_itself():
    def check(node, view):
        yield Found("it is so" if node.name == "n2" else "it may come", severity=None if node.name == "n2" else "info")

    (found,) = judge(View(BUNDLE), rule("a", check_node=check)).findings
    assert found.where == ["n2"]
    notes = judge(View(BUNDLE), rule("a", check_node=on("n1", severity="info"))).findings
    assert [one.severity for one in notes] == ["info"]
