# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import rules
from rules import findings, healthy

FIRST = ":KUBE-SERVICES - [0:0]\n"


def with_rule(node: str, rule: str) -> dict:
    bundle = healthy()
    rules(bundle, node, FIRST, f"{FIRST}[5:500] -A INPUT {rule}\n")
    return bundle


@pytest.mark.parametrize(
    ("node", "rule", "told"),
    [
        ("node2", "-p tcp -m tcp --dport 10250 -j DROP", ["10250 from other nodes", "10250 from pods"]),
        ("node1", "-p tcp -m tcp --dport 6443 -j REJECT", ["6443 from other nodes", "6443 from pods"]),
        ("node2", "-s 10.244.0.0/16 -p tcp -m tcp --dport 10250 -j DROP", ["10250 from pods"]),
    ],
)
def test_ports_that_others_need(node, rule, told):
    (found,) = findings("host-firewall-blocks", with_rule(node, rule))
    assert (found.severity, found.where, list(found.evidence)) == ("error", [node], told)


@pytest.mark.parametrize(
    ("node", "rule"),
    [
        ("node2", "-p tcp -m tcp --dport 6443 -j DROP"),
        ("node1", "! -s 192.168.10.0/24 -i eth0 -p tcp -m tcp --dport 6443 -j DROP"),
        ("node2", "-p tcp -m tcp --dport 22 -j DROP"),
    ],
)
def test_ports_that_are_closed_to_strangers_only(node, rule):
    assert findings("host-firewall-blocks", with_rule(node, rule)) == []
