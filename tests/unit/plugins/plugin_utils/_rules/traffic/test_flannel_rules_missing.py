# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset, flannel_pod, not_ready, rules
from rules import findings, healthy, undetermined

FORWARD, MASQUERADE = "-j FLANNEL-FWD", "-j FLANNEL-POSTRTG"


def without(*jumps: str) -> dict:
    bundle = healthy()
    for jump in jumps:
        rules(bundle, "node2", jump, "-j RETURN")
    return bundle


def test_both_gone_is_an_error():
    (found,) = findings("flannel-rules-missing", without(FORWARD, MASQUERADE))
    assert (found.severity, found.where) == ("error", ["node2"])


@pytest.mark.parametrize(("jump", "severity"), [(FORWARD, "info"), (MASQUERADE, "error")])
def test_one_of_them(jump, severity):
    assert [one.severity for one in findings("flannel-rules-missing", without(jump))] == [severity]


def test_a_node_where_flannel_does_not_run_has_a_consequence():
    bundle = without(FORWARD, MASQUERADE)
    not_ready(flannel_pod(bundle))
    assert [one.severity for one in findings("flannel-rules-missing", bundle)] == ["info"]


def test_rules_that_flannel_was_told_not_to_write():
    bundle = without(FORWARD, MASQUERADE)
    daemonset(bundle)["spec"]["template"]["spec"]["containers"][0]["args"] = [
        "--kube-subnet-mgr",
        "--iptables-forward-rules=false",
    ]
    assert findings("flannel-rules-missing", bundle) == []


def test_rules_in_the_other_backend_are_there():
    bundle = healthy()
    both = bundle["nodes"]["node2"]["iptables"]
    both.update(legacy=both["nft"], nft="")
    assert findings("flannel-rules-missing", bundle) == []


def test_nftables_mode_has_tables_instead():
    bundle = healthy()
    listing = bundle["nodes"]["node2"]["nft"]["nftables"]
    bundle["nodes"]["node2"]["iptables"]["nft"] = ""
    assert findings("flannel-rules-missing", bundle) != []
    listing.append({"table": {"family": "ip", "name": "flannel-ipv4"}})
    assert findings("flannel-rules-missing", bundle) == []


def test_without_iptables_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["iptables"]
    assert undetermined("flannel-rules-missing", bundle)[0].where == ["node2"]
