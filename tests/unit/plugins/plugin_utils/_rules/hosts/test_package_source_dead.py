# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


def source(line, base="host"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["package_sources"].append(line)
    return bundle


@pytest.mark.parametrize(
    "line",
    [
        "deb https://apt.kubernetes.io/ kubernetes-xenial main",
        "deb [signed-by=/x] http://packages.cloud.google.com/apt kubernetes-xenial main",
        "baseurl=https://packages.cloud.google.com/yum/repos/kubernetes-el7-x86_64",
        "deb http://deb.debian.org/debian buster main",
        "mirrorlist=http://mirrorlist.centos.org/?release=7&arch=x86_64&repo=os",
    ],
)
def test_a_repository_that_is_gone(line):
    (found,) = findings("package-source-dead", source(line))
    assert (found.severity, found.where) == ("error", ["node2"])
    assert [found.severity for found in findings("package-source-dead", source(line, "cluster"))] == ["warning"]


@pytest.mark.parametrize(
    "line",
    [
        "# deb https://apt.kubernetes.io/ kubernetes-xenial main",
        "deb https://packages.cloud.google.com/apt cloud-sdk main",
        "deb https://pkgs.k8s.io/core:/stable:/v1.30/deb/ /",
        "deb http://deb.debian.org/debian bookworm main",
        "deb https://mirror.example.com/kubernetes/apt kubernetes-xenial main",
    ],
)
def test_what_looks_like_it(line):
    assert findings("package-source-dead", source(line)) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["package_sources"]
    assert [missed.key for missed in undetermined("package-source-dead", bundle)] == ["nodes.*.package_sources"]
