# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset
from rules import findings, healthy


@pytest.mark.parametrize(
    ("asked", "severity"),
    [("1.34.9", "error"), ("1.35.0", ""), ("1.37.2", ""), ("1.38.0", "warning"), ("1.15.0", "error")],
)
def test_the_version_asked_for(asked, severity):
    bundle = healthy("intent")
    bundle["intent"]["kubernetes_version"] = asked
    assert [one.severity for one in findings("version-unsupported", bundle)] == ([severity] if severity else [])


@pytest.mark.parametrize("asked", ["latest", "1.37", "v1.37.2", "1.37.x", "stable-1.37"])
def test_what_packages_images_and_kubeadm_cannot_be_named_by(asked):
    bundle = healthy("intent")
    bundle["intent"]["kubernetes_version"] = asked
    (found,) = findings("version-unsupported", bundle)
    assert (found.severity, asked in found.summary) == ("error", True)
    bundle = healthy()
    bundle["intent"]["kubernetes_version"] = "1.37"
    assert findings("version-unsupported", bundle) == []


def test_a_kubelet_that_is_installed_before_the_cluster_is_built():
    bundle = healthy("host")
    bundle["nodes"]["node2"]["kubelet_version"] = "v1.18.20"
    (found,) = findings("version-unsupported", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_running_cluster_that_is_old_is_a_warning():
    bundle = healthy()
    bundle["cluster"]["version"]["serverVersion"]["gitVersion"] = "v1.31.4+vendor.1"
    (found,) = findings("version-unsupported", bundle)
    assert (found.severity, found.where) == ("warning", ["cluster"])


@pytest.mark.parametrize(("tag", "severity"), [("v0.26.7", "info"), ("v0.13.0", "warning"), ("v0.28.6", "")])
def test_a_running_flannel_that_is_old(tag, severity):
    bundle = healthy()
    daemonset(bundle)["spec"]["template"]["spec"]["containers"][0]["image"] = f"quay.io/coreos/flannel:{tag}"
    assert [one.severity for one in findings("version-unsupported", bundle)] == ([severity] if severity else [])
