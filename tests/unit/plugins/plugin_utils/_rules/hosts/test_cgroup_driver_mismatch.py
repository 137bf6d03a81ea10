# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, heard_of_node2, undetermined


def test_the_runtime_on_cgroupfs_is_an_error_on_a_member():
    bundle = healthy()
    bundle["nodes"]["node2"]["runtime"]["systemd_cgroup"] = False
    (found,) = findings("cgroup-driver-mismatch", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_before_the_cluster_kubeadms_default_is_what_counts():
    bundle = healthy("host")
    bundle["nodes"]["node2"]["runtime"]["systemd_cgroup"] = False
    (found,) = findings("cgroup-driver-mismatch", bundle)
    assert found.severity == "warning"
    bundle["intent"]["kubeadm_config"] = "kind: KubeletConfiguration\ncgroupDriver: cgroupfs\n"
    (found,) = findings("cgroup-driver-mismatch", bundle)
    assert found.where == ["node1", "node3"]


def test_both_on_cgroupfs_agree():
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    node["runtime"]["systemd_cgroup"] = False
    node["kubelet_config"] = node["kubelet_config"].replace("cgroupDriver: systemd", "cgroupDriver: cgroupfs")
    assert findings("cgroup-driver-mismatch", bundle) == []


def handlers(default):
    bundle = healthy()
    runtime = bundle["nodes"]["node2"]["runtime"]
    runtime["handlers"] = {"runc": {"systemd_cgroup": True}, "nvidia": {"systemd_cgroup": False}}
    runtime["default_handler"] = default
    return bundle


def test_the_default_handler_decides():
    (found,) = findings("cgroup-driver-mismatch", handlers("nvidia"))
    assert found.severity == "error"
    (found,) = findings("cgroup-driver-mismatch", handlers("runc"))
    assert found.severity == "warning" and "nvidia" in found.summary


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node1"]["runtime"]
    del bundle["nodes"]["node2"]["runtime"]["systemd_cgroup"]
    assert len(undetermined("cgroup-driver-mismatch", bundle)) == 2


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("journal", 'kubelet cgroup driver: \\"systemd\\" is different from docker cgroup driver: \\"cgroupfs\\"'),
        ("journal", 'kubelet cgroup driver: "cgroupfs" is different from docker cgroup driver: "systemd"'),
        ("kubeadm_output", '[WARNING IsDockerSystemdCheck]: detected "cgroupfs" as the Docker cgroup driver.'),
    ],
)
def test_words_of_a_docker_that_was_not_asked(key, words):
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    del node["runtime"]["systemd_cgroup"]
    assert [one.where for one in undetermined("cgroup-driver-mismatch", bundle)] == [["node2"]]
    node[key] = {"kubelet": words} if key == "journal" else words
    (found,) = findings("cgroup-driver-mismatch", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_runcs_words_are_enough():
    words = 'expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got "/kubepods"'
    assert findings("cgroup-driver-mismatch", heard_of_node2(words))[0].where == ["node2"]
    assert findings("cgroup-driver-mismatch", heard_of_node2(words, "runtime")) == []  # not looked at: undetermined
    bundle = heard_of_node2(words, "journal")
    bundle["nodes"]["node2"]["runtime"].pop("systemd_cgroup")
    assert findings("cgroup-driver-mismatch", bundle)[0].where == ["node2"]
