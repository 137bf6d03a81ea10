# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from xml.etree import ElementTree

from reports import HOSTILE, broken
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._junit import junit
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._model import model


def read(hostile=""):
    return ElementTree.fromstring(junit(model(*broken(healthy("cluster"), hostile))))


def test_errors_fail_and_the_rest_does_not():
    root = read()
    assert {name: root.get(name) for name in ("tests", "failures", "skipped", "errors")} == {
        "tests": "6", "failures": "1", "skipped": "2", "errors": "0",
    }  # fmt: skip
    failure = root.find(".//failure")
    assert failure is not None and failure.get("type") == "forward-other-table"
    assert "policy: drop" in (failure.text or "") and "Next: Run podnet.kubeadm.repair." in (failure.text or "")
    names = [case.get("name") for case in root.iter("testcase")]
    assert names[0] == "forward-other-table (node2)" and len(set(names)) == len(names)


def test_nothing_found_is_one_case_that_passes():
    report = model(*broken(healthy("cluster")))
    root = ElementTree.fromstring(junit({**report, "findings": [], "accepted": [], "undetermined": []}))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_hostile_text_stays_text():
    root = read(HOSTILE)
    assert [element.tag for element in root.iter() if element.tag in ("script", "img")] == []
    text = ElementTree.tostring(root, encoding="unicode")
    assert "\x1b" not in text and "\\x1b" in text
