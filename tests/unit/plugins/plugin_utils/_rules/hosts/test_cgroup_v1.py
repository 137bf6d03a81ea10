# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


def host(version, kubelet, base="cluster"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    node["cgroup"] = {"version": version, "hybrid": False}
    node["kubelet_version"] = kubelet
    return bundle, node


@pytest.mark.parametrize(
    ("version", "kubelet", "severity"),
    [
        (1, "v1.37.2", "error"),
        (1, "v1.35.0", "error"),
        (1, "v1.34.5", "info"),
        (2, "v1.18.20", "error"),
    ],
)
def test_what_a_kubelet_refuses(version, kubelet, severity):
    bundle, _node = host(version, kubelet)
    (found,) = findings("cgroup-v1", bundle)
    assert (found.severity, found.where) == (severity, ["node2"])


@pytest.mark.parametrize("kubelet", ["v1.19.0", "v1.37.2"])
def test_version_2_is_fine(kubelet):
    bundle, _node = host(2, kubelet)
    assert findings("cgroup-v1", bundle) == []


def test_a_kubelet_that_is_told_to_bear_it_is_information():
    bundle, node = host(1, "v1.37.2")
    node["kubelet_config"] += "failCgroupV1: false\n"
    assert [found.severity for found in findings("cgroup-v1", bundle)] == ["info"]


def test_so_is_one_that_will_be_told():
    bundle, _node = host(1, "v1.37.2", "host")
    bundle["intent"]["kubeadm_config"] = "kind: KubeletConfiguration\nfailCgroupV1: false\n"
    assert [found.severity for found in findings("cgroup-v1", bundle)] == ["info"]


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["cgroup"]
    assert [missed.key for missed in undetermined("cgroup-v1", bundle)] == ["nodes.*.cgroup"]
