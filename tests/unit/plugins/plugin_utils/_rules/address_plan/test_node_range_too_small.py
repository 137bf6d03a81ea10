# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("mask", "pods", "count"), [(26, 110, 1), (24, 110, 0), (24, 253, 0), (24, 254, 1), (30, 1, 0), (30, 2, 1)]
)
def test_addresses_of_a_nodes_range_against_max_pods(mask, pods, count):
    bundle = healthy("intent")
    bundle["intent"].update(node_mask=mask, max_pods=pods)
    assert [one.severity for one in findings("node-range-too-small", bundle)] == ["error"] * count


def test_a_running_cluster_only_warns_until_the_range_is_full():
    bundle = healthy()
    bundle["cluster"]["kubelet_config"] += "maxPods: 300\n"
    (found,) = findings("node-range-too-small", bundle)
    assert (found.severity, found.where) == ("warning", ["cluster"])


@pytest.mark.parametrize("value", ["x", 0, -1])
def test_a_max_pods_that_is_no_number_of_pods(value):
    bundle = healthy("intent")
    bundle["intent"]["max_pods"] = value
    assert len(findings("node-range-too-small", bundle)) == 1
