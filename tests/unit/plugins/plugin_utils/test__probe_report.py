# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from ansible_collections.podnet.kubeadm.plugins.plugin_utils import _probe_report


def probe(source: str, target: str, what: str = "tcp/pod", ok: bool = True) -> dict[str, Any]:
    ms = 1.25 if ok else None
    detail = "" if ok else "no answer"
    return {"from": source, "to": target, "what": what, "address": "10.0.0.1", "ok": ok, "ms": ms, "detail": detail}


PROBES = [probe("n1", "n2"), probe("n2", "n1"), probe("n2", "n1", "udp/pod", ok=False), probe("n1", "n1", "udp/name")]


def test_table() -> None:
    assert _probe_report.table(PROBES, []) == [
        "from/to  n1          n2",
        "n1       -           1.2 ms",
        "n2       FAILED udp  -",
    ]


def test_report_has_a_sentence_per_failure_and_drops() -> None:
    lines = _probe_report.report(PROBES, {"n1": {"OutNoRoutes": 3}})
    assert "udp/pod from n2 to n1 (10.0.0.1): no answer" in lines
    assert "udp/pod: 0 of 1" in lines
    assert lines[-1] == "n1 dropped meanwhile: OutNoRoutes 3"


def test_the_cause_stands_beside_what_failed() -> None:
    """The first error at one of both nodes; warnings, and what is wrong elsewhere, explain nothing."""
    findings: list[dict[str, Any]] = [
        {"code": "route-missing", "severity": "error", "where": ["n1"]},
        {"code": "ip-forward-off", "severity": "error", "where": ["n3"]},
        {"code": "swap-on", "severity": "warning", "where": ["n4"]},
    ]
    failed = [probe("n1", "n2", ok=False), probe("n1", "n2", "udp/pod", ok=False), probe("n4", "n2", ok=False)]
    lines = _probe_report.report([*failed, probe("n2", "n4"), probe("n2", "n4", "udp/pod", ok=False)], {}, findings)
    assert lines[1].startswith("n1       -   FAILED (route-missing)  -")
    assert lines[2].split() == ["n2", "-", "-", "FAILED", "udp"]
    assert "tcp/pod, udp/pod from n1 to n2 (10.0.0.1): no answer (route-missing)" in lines
    assert "tcp/pod from n4 to n2 (10.0.0.1): no answer" in lines
    (line,) = _probe_report.failures([probe("n4", "n4", "tcp/vip", ok=False)], findings)
    assert line == "tcp/vip from n4 to 10.0.0.1: no answer (route-missing)"  # its pods are on every node


def test_what_has_no_time_of_its_own_is_summed_up() -> None:
    """A pod that reached itself through its service before another pod of it failed."""
    probes = [{**probe("n1", "n1", "tcp/hairpin"), "ms": None}, probe("n2", "n2", "tcp/hairpin")]
    assert _probe_report.summary(probes) == ["tcp/hairpin: 2 of 2, at most 1.2 ms"]


def test_nothing_was_probed() -> None:
    assert _probe_report.report([]) == ["No path was tried."]


def test_evidence_has_the_names_of_its_format() -> None:
    probes = [*PROBES, {**probe("n1", "n2", "icmp/pod"), "bytes": 1422}, probe("n1", "n2", "tcp/hostport")]
    found = _probe_report.evidence(probes)
    assert {(one["what"], one["ok"]) for one in found["n2"]} == {("tcp/pod", True), ("udp/dns", False)}
    assert {one["what"] for one in found["n1"]} == {"tcp/pod", "icmp/1422", "tcp/hostport"}
    six = _probe_report.evidence([{**probe("n1", "n2"), "address": "fd42::1"}, probe("n1", "n2")])["n1"]
    assert [one.get("family") for one in six] == [6, None]


def test_junit() -> None:
    suite = ElementTree.fromstring(_probe_report.junit(PROBES))
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.get("message") == "no answer"
