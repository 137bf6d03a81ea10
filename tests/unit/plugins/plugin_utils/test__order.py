# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Finding, Undetermined
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._order import fold, group, group_undetermined
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import CHAPTERS, LoadedRule, Rule


def rules(chapter="hosts", rank=50, **explains):
    """Rules by code, each with the codes that it explains."""
    return {
        code: LoadedRule(
            code, chapter, Rule(code, "error", (), "Do it.", explains=tuple(effects.split()), rank=rank), ""
        )
        for code, effects in explains.items()
    }


def finding(code, *where, severity="error", summary="", chapter="hosts", **evidence):
    title = CHAPTERS[chapter]
    return Finding(code, code, title, severity, list(where), summary or f"{code}.", evidence, "Do it.", None)


def tree(findings):
    return [(one.code, one.where, tree(one.consequences)) for one in findings]


@pytest.mark.parametrize(
    ("cause", "effect", "folded"),
    [
        (("n1",), ("n1",), True),
        (("n1", "n2"), ("n2",), True),
        (("n1",), ("n2",), False),
        (("n1",), ("n1", "n2"), False),
        (("cluster",), ("n1",), True),
        (("intent",), ("n1", "n2"), True),
        (("n1",), ("cluster",), True),
        (("n1",), ("intent",), True),
    ],
)
def test_a_cause_folds_what_it_explains_at_its_own_places(cause, effect, folded):
    found = fold([finding("effect", *effect), finding("cause", *cause)], rules(cause="effect", effect=""))
    below = ("effect", list(effect), [])
    apart = [below, ("cause", list(cause), [])]
    assert tree(found) == ([("cause", list(cause), [below])] if folded else apart)


@pytest.mark.parametrize(
    ("severity", "other", "folded"),
    [
        ("error", "error", True),
        ("error", "info", True),
        ("warning", "error", False),
        ("info", "warning", False),
        ("warning", "info", True),
    ],
)
def test_what_is_more_severe_than_its_cause_stays_in_sight(severity, other, folded):
    findings = [finding("cause", "n1", severity=severity), finding("effect", "n1", severity=other)]
    assert len(fold(findings, rules(cause="effect", effect=""))) == (1 if folded else 2)


@pytest.mark.parametrize(("hosts", "folded"), [(("n1", "n2"), True), (("n1",), False), (("n1", "n3"), False)])
def test_a_cause_found_host_by_host_explains_what_is_about_all_of_them(hosts, folded):
    findings = [*(finding("cause", host) for host in hosts), finding("effect", "n1", "n2")]
    assert ("effect" in [one.code for one in fold(findings, rules(cause="effect", effect=""))]) is not folded


def test_hosts_of_two_causes_do_not_add_up():
    findings = [finding("a", "n1"), finding("b", "n2"), finding("effect", "n1", "n2")]
    assert len(fold(findings, rules(a="effect", b="effect", effect=""))) == 3


def test_what_explains_through_another_lies_flat_under_the_root():
    every = rules(root="middle", middle="leaf", leaf="")
    found = fold([finding("leaf", "n1"), finding("middle", "n1"), finding("root", "n1")], every)
    assert tree(found) == [("root", ["n1"], [("leaf", ["n1"], []), ("middle", ["n1"], [])])]


def test_a_link_of_the_chain_that_was_not_found_breaks_it():
    every = rules(root="middle", middle="leaf", leaf="")
    assert len(fold([finding("leaf", "n1"), finding("root", "n1")], every)) == 2
    assert len(fold([finding("root", "n1")], rules(root="unknown"))) == 1


def test_a_cause_reaches_through_what_was_found_elsewhere():
    every = rules(root="middle", middle="leaf", leaf="")
    found = fold([finding("leaf", "n1"), finding("middle", "n2"), finding("root", "n1")], every)
    assert tree(found) == [("middle", ["n2"], []), ("root", ["n1"], [("leaf", ["n1"], [])])]


def test_the_same_finding_of_many_hosts_is_one_with_what_each_host_showed():
    findings = [finding("a", "n2", mtu=1), finding("a", "n1", mtu=2), finding("a", "n2", mtu=1)]
    (one,) = group(findings, rules(a=""))
    assert (one.where, one.evidence) == (["n2", "n1"], {"n2": {"mtu": 1}, "n1": {"mtu": 2}})
    (same,) = group([finding("a", "n1", mtu=1), finding("a", "n2", mtu=1)], rules(a=""))
    assert (same.where, same.evidence) == (["n1", "n2"], {"mtu": 1})


def test_another_sentence_or_severity_is_another_finding():
    findings = [finding("a", "n1"), finding("a", "n2", summary="Else."), finding("a", "n3", severity="info")]
    assert [one.where for one in group(findings, rules(a=""))] == [["n1"], ["n2"], ["n3"]]


def test_consequences_of_many_hosts_become_one_too():
    findings = [finding("a", "n1"), finding("a", "n2")]
    for one in findings:
        one.consequences = [finding("b", *one.where)]
    assert tree(group(findings, rules(a="b", b=""))) == [("a", ["n1", "n2"], [("b", ["n1", "n2"], [])])]


def test_first_is_the_most_severe_then_rank_then_what_explains_most_then_the_chapter_and_the_code():
    every = rules(b="x", a="", x="") | rules(chapter="address_plan", plan="") | rules(rank=10, early="", info="")
    findings = [
        finding("info", "n1", severity="info"),
        finding("a", "n1"),
        finding("plan", "n1", chapter="address_plan"),
        finding("b", "n1"),
        finding("x", "n2"),
        finding("early", "n1"),
    ]
    findings[3].consequences = [finding("x", "n1")]
    assert [one.code for one in group(findings, every)] == ["early", "b", "plan", "a", "x", "info"]


def missed(code, host, key, why="", kind="absent"):
    return Undetermined(code, [host], key, kind, why or f"{key} was not looked at")


def test_a_key_missed_on_many_hosts_is_one_with_a_star_for_the_host():
    (one,) = group_undetermined([missed("a", "n2", "nodes.n2.swap"), missed("a", "n1", "nodes.n1.swap")] * 2)
    assert one.as_dict() == {
        "code": "a",
        "where": ["n2", "n1"],
        "key": "nodes.*.swap",
        "kind": "absent",
        "why": "nodes.*.swap was not looked at",
    }


def test_other_codes_keys_and_reasons_are_others_in_order():
    entries = [
        missed("b", "n1", "nodes.n1.swap"),
        missed("a", "n1", "nodes.n1.swap"),
        missed("a", "n1", "cluster.nodes"),
        missed("a", "n1", "", "the rule failed: KeyError: 'n1'", "failed"),
        missed("a", "n2", "", "the rule failed: KeyError: 'n2'", "failed"),
    ]
    assert [(one.code, one.key, one.where) for one in group_undetermined(entries)] == [
        ("a", "", ["n1"]),
        ("a", "", ["n2"]),
        ("a", "cluster.nodes", ["n1"]),
        ("a", "nodes.*.swap", ["n1"]),
        ("b", "nodes.*.swap", ["n1"]),
    ]
