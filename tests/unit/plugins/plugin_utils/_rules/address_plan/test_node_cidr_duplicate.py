# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def with_ranges(*ranges):
    bundle = healthy()
    for node, text in zip(bundle["cluster"]["nodes"]["items"], ranges):
        node["spec"].update(podCIDR=text, podCIDRs=[text])
    return findings("node-cidr-duplicate", bundle)


def test_equal_ranges():
    (found,) = with_ranges("10.244.1.0/24", "10.244.1.0/24", "10.244.2.0/24")
    assert (found.severity, found.where) == ("error", ["node1", "node2"])


def test_the_whole_range_on_one_node_meets_all():
    (found,) = with_ranges("10.244.0.0/16", "10.244.1.0/24", "10.244.2.0/24")
    assert found.where == ["node1", "node2", "node3"]


def test_ranges_side_by_side():
    assert with_ranges("10.244.0.0/24", "10.244.1.0/24", "10.244.2.0/24") == []
