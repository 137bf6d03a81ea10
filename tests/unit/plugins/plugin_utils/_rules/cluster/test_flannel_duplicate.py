# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy

from edits import daemonset, objects
from rules import findings, healthy


def doubled(**selector: str) -> dict:
    bundle = healthy()
    second = copy.deepcopy(daemonset(bundle))
    second["metadata"].update(name="kube-flannel-ds-arm64", namespace="kube-system")
    second["spec"]["template"]["spec"]["nodeSelector"] = selector
    objects(bundle, "daemonsets").append(second)
    return bundle


def test_two_daemonsets_on_the_same_nodes_are_an_error():
    (found,) = findings("flannel-duplicate", doubled())
    assert (found.severity, found.where) == ("error", ["cluster"])
    assert found.evidence["DaemonSets"] == ["kube-flannel/kube-flannel-ds", "kube-system/kube-flannel-ds-arm64"]
    assert found.evidence["number of nodes"] == 3


def test_one_for_each_architecture_is_healthy():
    assert findings("flannel-duplicate", doubled(**{"kubernetes.io/arch": "arm64"})) == []


def test_one_switched_off_by_a_selector_is_healthy():
    assert findings("flannel-duplicate", doubled(disabled="true")) == []


def test_affinities_keep_node_pools_apart():
    bundle = doubled()
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for name, operator in (("kube-flannel-ds", "DoesNotExist"), ("kube-flannel-ds-arm64", "Exists")):
        term = {"matchExpressions": [{"key": "pool", "operator": operator}]}
        affinity = {"nodeAffinity": {required: {"nodeSelectorTerms": [term]}}}
        daemonset(bundle, name)["spec"]["template"]["spec"]["affinity"] = affinity
    assert findings("flannel-duplicate", bundle) == []
