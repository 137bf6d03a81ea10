# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import probe
from rules import findings, healthy

LINK, ALL = "net.ipv4.conf.flannel/1.rp_filter", "net.ipv4.conf.all.rp_filter"


@pytest.mark.parametrize(
    ("everywhere", "link", "told"),
    [("0", "1", True), ("1", "0", True), ("2", "1", False), ("1", "2", False), ("0", "0", False)],
)
def test_the_larger_value_counts(everywhere, link, told):
    bundle = healthy()
    bundle["nodes"]["node2"]["sysctl"].update({ALL: everywhere, LINK: link})
    probe(bundle, "tcp/pod", sender="node2")
    found = findings("rp-filter-strict", bundle)
    assert [(one.severity, one.where) for one in found] == ([("warning", ["node2"])] if told else [])


def test_without_probes_it_is_a_warning():
    bundle = healthy()
    bundle["nodes"]["node2"]["sysctl"][LINK] = "1"
    del bundle["nodes"]["node2"]["probes"]
    assert [one.severity for one in findings("rp-filter-strict", bundle)] == ["warning"]


def test_strict_filtering_that_hurts_nobody_is_an_info():
    bundle = healthy()
    bundle["nodes"]["node2"]["sysctl"][LINK] = "1"
    assert [one.severity for one in findings("rp-filter-strict", bundle)] == ["info"]


def test_a_nics_own_value_does_not_matter():
    bundle = healthy()
    bundle["nodes"]["node2"]["sysctl"]["net.ipv4.conf.eth0.rp_filter"] = "1"
    assert findings("rp-filter-strict", bundle) == []
