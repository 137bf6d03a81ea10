# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


def said(line, kind="kvm", base="cluster"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    node["virtualization"] = kind
    node["journal"]["kubelet"] = line
    return bundle


@pytest.mark.parametrize(
    "line",
    [
        "open /proc/sys/net/netfilter/nf_conntrack_max: permission denied",
        "open /proc/sys/vm/overcommit_memory: read-only file system",
        "failed to create kubelet: open /dev/kmsg: no such file or directory",
    ],
)
def test_a_refused_kernel_value_is_an_error(line):
    (found,) = findings("sysctl-unwritable", said(line))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_kubelet_that_does_without_the_kernels_messages():
    line = "disabling OOM events: open /dev/kmsg: no such file or directory"
    assert findings("sysctl-unwritable", said(line)) == []


def test_a_file_that_is_not_there_is_a_missing_module():
    line = "open /proc/sys/net/netfilter/nf_conntrack_max: no such file or directory"
    assert findings("sysctl-unwritable", said(line)) == []


@pytest.mark.parametrize(
    ("kind", "base", "severity"),
    [("lxc", "host", "warning"), ("lxc", "cluster", "info"), ("podman", "host", "info"), ("docker", "cluster", "info")],
)
def test_a_container_is_told_and_is_no_fault_by_itself(kind, base, severity):
    (found,) = findings("sysctl-unwritable", said("", kind, base))
    assert found.severity == severity


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["virtualization"]
    assert [missed.key for missed in undetermined("sysctl-unwritable", bundle)] == ["nodes.*.virtualization"]
