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
    assert _probe_report.table(PROBES) == [
        "from \\ to  n1          n2",
        "n1         -           1.2 ms",
        "n2         FAILED udp  -",
    ]


def test_report_has_a_sentence_per_failure_and_drops() -> None:
    lines = _probe_report.report(PROBES, {"n1": {"OutNoRoutes": 3}})
    assert "udp/pod from n2 to n1 (10.0.0.1): no answer" in lines
    assert "udp/pod: 0 of 1" in lines
    assert lines[-1] == "n1 dropped meanwhile: OutNoRoutes 3"


def test_nothing_was_probed() -> None:
    assert _probe_report.report([]) == []


def test_evidence_has_the_names_of_its_format() -> None:
    probes = [*PROBES, {**probe("n1", "n2", "icmp/pod"), "bytes": 1422}, probe("n1", "n2", "tcp/hostport")]
    found = _probe_report.evidence(probes)
    assert {(one["what"], one["ok"]) for one in found["n2"]} == {("tcp/pod", True), ("udp/dns", False)}
    assert {one["what"] for one in found["n1"]} == {"tcp/pod", "icmp/1422", "tcp/hostport"}


def test_junit() -> None:
    suite = ElementTree.fromstring(_probe_report.junit(PROBES))
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.get("message") == "no answer"
