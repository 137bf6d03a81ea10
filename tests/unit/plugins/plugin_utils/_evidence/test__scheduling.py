# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._kube import DaemonSet, KubeNode
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._scheduling import (
    selects,
    taint_text,
    untolerated,
)

LABELS = {"arch": "amd64", "size": "7"}


def node(*taints: dict) -> KubeNode:
    return KubeNode({"metadata": {"name": "n1", "labels": LABELS}, "spec": {"taints": list(taints)}})


def daemonset(**spec) -> DaemonSet:
    return DaemonSet({"spec": {"template": {"spec": spec}}})


def affinity(*terms: dict) -> dict:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


@pytest.mark.parametrize(
    ("operator", "key", "values", "selected"),
    [
        ("In", "arch", ["amd64"], True),
        ("NotIn", "arch", ["amd64"], False),
        ("NotIn", "zone", ["a"], True),
        ("Exists", "zone", [], False),
        ("DoesNotExist", "zone", [], True),
        ("Gt", "size", ["5"], True),
        ("Lt", "size", ["5"], False),
        ("Gt", "arch", ["5"], False),
        ("Unknown", "arch", [], False),
    ],
)
def test_expressions(operator, key, values, selected):
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
    assert selects(daemonset(affinity=affinity(term)).pod_spec, node()) is selected


def test_terms_are_alternatives_and_an_empty_one_selects_nothing():
    no = {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    assert selects(daemonset(affinity=affinity(no, by_name)).pod_spec, node())
    assert not selects(daemonset(affinity=affinity({})).pod_spec, node())
    assert not selects(daemonset(nodeSelector={"arch": "arm64"}).pod_spec, node())
    assert selects(daemonset().pod_spec, node())


def test_network_unavailable_is_tolerated_on_the_hosts_network_only():
    taint = {"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}
    assert untolerated(daemonset(hostNetwork=True), node(taint)) == []
    assert [taint_text(one) for one in untolerated(daemonset(), node(taint))] == [f"{taint['key']}:NoSchedule"]


def test_preferences_are_no_taints():
    assert untolerated(daemonset(), node({"key": "x", "effect": "PreferNoSchedule"})) == []
