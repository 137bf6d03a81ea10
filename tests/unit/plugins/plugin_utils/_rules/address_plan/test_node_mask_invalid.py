# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("pod", "mask", "count"),
    [
        ("10.0.0.0/25", 24, 1),
        ("10.0.0.0/8", 24, 0),
        ("10.0.0.0/7", 24, 1),
        ("10.0.0.0/16", 30, 0),
        ("10.0.0.0/16", 31, 1),
        ("10.0.0.0/29", 30, 1),
        ("10.0.0.0/28", 30, 0),
        ("0.0.0.0/1", 16, 1),
        ("10.0.0.0/16", "abc", 1),
    ],
)
def test_ipv4_limits(pod, mask, count):
    bundle = healthy("intent")
    bundle["intent"].update(pod_cidr=pod, node_mask=mask)
    assert [one.severity for one in findings("node-mask-invalid", bundle)] == ["error"] * count


@pytest.mark.parametrize(("pod", "mask", "count"), [("fd00::/48", 64, 0), ("fd00::/47", 64, 1), ("fd00::/112", 64, 1)])
def test_ipv6_limits(pod, mask, count):
    bundle = healthy("intent")
    bundle["intent"].update(pod_cidr=pod, node_mask_v6=mask)
    assert len(findings("node-mask-invalid", bundle)) == count


def test_running_clusters_are_right():
    assert findings("node-mask-invalid", healthy()) == findings("node-mask-invalid", healthy("cluster-dual")) == []
