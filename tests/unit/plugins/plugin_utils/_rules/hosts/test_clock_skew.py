# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, heard_of_node2, undetermined


def apart(**seconds):
    bundle = healthy("host")
    for name, node in bundle["nodes"].items():
        node["clock"] = node["controller_clock"] + seconds.get(name, 0.2)
    return bundle


def test_an_hour_behind():
    (found,) = findings("clock-skew", apart(node2=-3725))
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.summary == "the clock is 62 minutes behind"


def test_half_a_minute_is_a_warning_and_seconds_are_nothing():
    assert [found.severity for found in findings("clock-skew", apart(node2=30))] == ["warning"]
    assert findings("clock-skew", apart(node1=-1.5, node2=3, node3=-2)) == []


def test_a_host_that_was_asked_late_is_not_ahead():
    late = apart(node2=25)
    late["taken_at"] = "2026-11-30T15:50:30Z"
    assert {node["controller_clock"] for node in late["nodes"].values()} == {1796053800.0}  # half a minute before
    assert findings("clock-skew", late) == []
    late["nodes"]["node2"]["clock"] += 20
    assert [(found.where, found.severity) for found in findings("clock-skew", late)] == [(["node2"], "warning")]


def test_a_bundle_that_was_packed_days_later_still_tells():
    bundle = apart(node2=7200)
    bundle["taken_at"] = "2026-12-02T15:50:30Z"
    assert [(found.where, found.severity) for found in findings("clock-skew", bundle)] == [(["node2"], "error")]


def test_a_controller_that_is_off_itself():
    (found,) = findings("clock-skew", apart(node1=7200, node2=7201, node3=7200.5))
    assert (found.severity, found.where) == ("warning", ["cluster"])


def test_without_the_key_it_is_undetermined():
    bundle = apart()
    del bundle["nodes"]["node2"]["controller_clock"]
    assert [missed.key for missed in undetermined("clock-skew", bundle)] == ["nodes.*.controller_clock"]


def test_a_certificate_of_the_future():
    words = "x509: certificate has expired or is not yet valid: current time 2026-11-29T03:00:00Z is before 2026"
    assert findings("clock-skew", heard_of_node2(words, "clock"))[0].where == ["node2"]
    assert findings("clock-skew", heard_of_node2(words, "journal")) == []  # the clock was looked at
    assert findings("clock-skew", heard_of_node2(words.replace("before", "after"), "clock")) == []
