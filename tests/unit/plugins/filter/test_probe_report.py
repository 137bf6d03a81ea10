# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from xml.etree import ElementTree

from ansible_collections.podnet.kubeadm.plugins.filter.probe_report import FilterModule

probe_report = FilterModule().filters()["probe_report"]
PROBES = [
    {"from": "n1", "to": "n2", "what": "tcp/pod", "address": "10.244.1.2", "ok": True, "ms": 1.5, "detail": ""},
    {
        "from": "n2",
        "to": "n1",
        "what": "tcp/pod",
        "address": "10.244.0.2",
        "ok": False,
        "ms": None,
        "detail": "no answer",
    },
]


def test_lines_are_what_is_told_unless_said_otherwise():
    lines = probe_report(PROBES, {"n1": {"OutNoRoutes": 3}})
    assert "tcp/pod from n2 to n1 (10.244.0.2): no answer" in lines
    assert lines[-1] == "n1 dropped meanwhile: OutNoRoutes 3"
    assert probe_report(PROBES) == lines[:-1] == probe_report(PROBES, form="lines")


def test_junit_has_a_case_for_each_probe():
    suite = ElementTree.fromstring(probe_report(PROBES, form="junit"))
    assert len(list(suite.iter("testcase"))) == 2 and len(list(suite.iter("failure"))) == 1


def test_evidence_is_by_the_host_that_asked():
    assert {host: [one["ok"] for one in found] for host, found in probe_report(PROBES, form="evidence").items()} == {
        "n1": [True],
        "n2": [False],
    }
