# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


def said(line, key="kernel"):
    bundle = healthy()
    bundle["nodes"]["node2"]["journal"][key] = line
    return bundle


@pytest.mark.parametrize(
    "line",
    [
        "kernel: nf_conntrack: nf_conntrack: table full, dropping packet",
        "kernel: neighbour: arp_cache: neighbor table overflow!",
        "kernel: cgroup: fork rejected by pids controller in /kubepods.slice",
        "open /var/lib/kubelet/x: too many open files",
    ],
)
def test_a_limit_that_is_reached(line):
    (found,) = findings("limit-too-low", said(line))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_too_many_open_files_with_few_inotify_instances_is_another_code():
    bundle = said("too many open files")
    bundle["nodes"]["node2"]["inotify"]["max_user_instances"] = 128
    assert findings("limit-too-low", bundle) == []


def test_a_neighbour_table_smaller_than_the_cluster():
    bundle = healthy()
    bundle["nodes"]["node2"]["sysctl"]["net.ipv4.neigh.default.gc_thresh3"] = "130"
    assert [found.severity for found in findings("limit-too-low", bundle)] == ["warning"]


def test_a_control_plane_smaller_than_kubeadm_asks():
    bundle = healthy("host")
    bundle["nodes"]["node1"].update(cpus=1)
    bundle["nodes"]["node2"].update(cpus=1)
    (found,) = findings("limit-too-low", bundle)
    assert (found.severity, found.where) == ("warning", ["node1"])


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["journal"]
    assert [missed.key for missed in undetermined("limit-too-low", bundle)] == ["nodes.*.journal"]
