# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Finding, Malformed, Missing, Undetermined


@pytest.mark.parametrize(
    ("error", "kind", "why"),
    [
        (Missing("nodes.n1.swap"), "absent", "nodes.n1.swap was not looked at"),
        (Missing("nodes.n1.swap", "kubectl said no"), "absent", "kubectl said no"),
        (
            Malformed("nodes.n1.swap", "a list stands there"),
            "malformed",
            "nodes.n1.swap cannot be read: a list stands there",
        ),
    ],
)
def test_what_is_missing_says_which_key_and_why(error, kind, why):
    assert (error.key, error.kind, error.why) == ("nodes.n1.swap", kind, why)


@pytest.mark.parametrize("error", [Missing("a", "b"), Malformed("a", "b")])
def test_one_raised_again_says_the_same_and_holds_nothing_of_the_first(error):
    with pytest.raises(Missing) as caught:
        raise error
    new = caught.value.again()
    assert (type(new), new.key, new.kind, new.why) == (type(error), error.key, error.kind, error.why)
    assert error.__traceback__ is not None and new.__traceback__ is None


def finding(code, *consequences):
    return Finding(code, "Title", "Hosts", "error", ["n1"], "It is so.", {"a": 1}, "Do it.", None, list(consequences))


def test_a_finding_walks_what_is_folded_under_it_from_the_root():
    tree = finding("a", finding("b", finding("c")), finding("d"))
    assert [one.code for one in tree.walk()] == ["a", "b", "c", "d"]


def test_a_finding_as_a_mapping_is_that_of_the_evidence_format_all_the_way_down():
    plain = {
        "title": "Title",
        "chapter": "Hosts",
        "severity": "error",
        "where": ["n1"],
        "summary": "It is so.",
        "evidence": {"a": 1},
        "remedy": "Do it.",
        "repair": None,
    }
    below = {"code": "b", **plain, "consequences": []}
    assert finding("a", finding("b")).as_dict() == {"code": "a", **plain, "consequences": [below]}


def test_what_could_not_be_told_as_a_mapping():
    fields = {"code": "a", "where": ["n1"], "key": "nodes.n1.swap", "kind": "absent", "why": "so"}
    assert Undetermined(**fields).as_dict() == fields
