# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def test_a_kubelet_that_may_move():
    bundle = healthy()
    bundle["nodes"]["node2"]["packages"]["kubelet"]["held"] = False
    (found,) = findings("package-not-held", bundle)
    assert (found.severity, found.where) == ("warning", ["node2"])
    assert found.summary == "kubelet is not held"


def test_all_that_is_held_or_need_not_be():
    bundle = healthy("cluster-docker")
    assert findings("package-not-held", bundle) == []


def test_binaries_without_packages():
    bundle = healthy()
    bundle["nodes"]["node2"]["packages"] = {}
    assert findings("package-not-held", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["packages"]
    assert [missed.key for missed in undetermined("package-not-held", bundle)] == ["nodes.*.packages"]
