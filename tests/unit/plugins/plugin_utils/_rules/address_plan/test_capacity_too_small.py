# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("pod", "mask", "nodes", "expected"),
    [
        ("10.244.0.0/24", 24, 2, "error"),
        ("10.244.0.0/16", 24, 257, "error"),
        ("10.244.0.0/16", 24, 256, "info"),
        ("10.244.0.0/16", 24, 255, None),
        ("10.244.0.0/16", 26, 1000, None),
        ("10.233.64.0/18", 24, 64, "info"),
    ],
)
def test_node_ranges_against_planned_nodes(pod, mask, nodes, expected):
    bundle = healthy("intent")
    bundle["intent"].update(pod_cidr=pod, node_mask=mask, planned_nodes=nodes)
    assert [one.severity for one in findings("capacity-too-small", bundle)] == ([expected] if expected else [])


def test_each_family_has_to_have_room():
    bundle = healthy("intent")
    bundle["intent"].update(pod_cidr="10.244.0.0/16,fd00::/64", service_cidr="10.96.0.0/12,fd00:10:96::/112")
    (found,) = findings("capacity-too-small", bundle)
    assert "ipv6" in found.summary


def test_a_running_cluster_with_more_nodes_than_ranges():
    bundle = healthy()
    for name in ("kubeadm_config", "kube_proxy_config"):
        bundle["cluster"][name] = bundle["cluster"][name].replace("10.244.0.0/16", "10.244.0.0/23")
    (found,) = findings("capacity-too-small", bundle)
    assert (found.severity, found.where) == ("error", ["cluster"])
