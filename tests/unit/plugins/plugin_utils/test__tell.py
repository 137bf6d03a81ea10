# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Finding, Undetermined
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import Verdict
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._tell import printable, tell


def finding(code="swap-on", severity="error", where=("n1",), **more):
    given = {"summary": "swap is on", "evidence": {"/proc/swaps": ["/dev/vda2"]}, "remedy": "Turn it off."}
    return Finding(code, code, "Hosts", severity, list(where), repair=None, **{**given, **more})


def text(verdict, width=80, **more):
    return "\n".join(line for line, _kind in tell(verdict, width, **more))


def test_a_finding_says_where_what_was_compared_and_what_is_next():
    said = text(Verdict([finding()]))
    assert "ERROR       swap-on  at n1" in said
    assert "compared  /proc/swaps: /dev/vda2" in said
    assert "next      Turn it off." in said


def test_consequences_are_one_line_under_their_cause():
    said = text(Verdict([finding(consequences=[finding("kubelet-down")])]))
    assert "explains  kubelet-down (n1)" in said
    assert said.count("ERROR") == 1


def test_a_consequence_at_many_places_is_named_once():
    consequences = [finding("route-missing", where=[name], summary=name) for name in ("n1", "n2")]
    assert "explains  route-missing (n1, n2)" in text(Verdict([finding(consequences=consequences)]))


def test_many_hosts_are_cut():
    said = text(Verdict([finding(where=[f"n{number}" for number in range(100)])]))
    assert "and 92 more" in said


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width):
    verdict = Verdict(
        [finding(summary="word " * 60, remedy="do " * 80, where=[f"node{number}" for number in range(30)])],
        [finding("cidr-public", "warning", summary="it is " * 30)],
        [Undetermined("route-missing", ["n1"], "nodes.*.ip_route", "absent", "nodes.*.ip_route was not looked at")],
    )
    assert max(len(line) for line, _kind in tell(verdict, width)) <= width


def test_hostile_text_cannot_act_on_the_terminal():
    hostile = "\x1b[2J\x07n1\u202e\r\n</script>"
    said = text(Verdict([finding(where=[hostile], summary=hostile, evidence={hostile: hostile}, remedy=hostile)]))
    assert not any(sign in said for sign in "\x1b\x07\u202e\r")
    assert printable("\x1b[2J") == "\\x1b[2J"


def test_accepted_and_undetermined_are_listed_with_their_reason():
    undetermined = [
        Undetermined(code, ["n1"], "nodes.*.swap", "absent", "nodes.*.swap was not looked at") for code in ("a", "b")
    ]
    said = text(
        Verdict([], [finding("cidr-public", "warning")], undetermined), accept_variable="cluster_accept_findings"
    )
    assert "nothing is wrong" in said
    assert "cidr-public (n1)" in said
    assert "cluster_accept_findings" in said
    assert "nodes.*.swap was not looked at (n1): a, b" in said
