# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._item import Item
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._kube import DaemonSet, Object
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._policies import (
    applies,
    enforcers,
    lets_dns,
    selects,
)

WEB = {"app": "web", "tier": "front"}


@pytest.mark.parametrize(
    ("image", "who"),
    [
        ("ghcr.io/flannel-io/flannel:v0.28.10", None),
        ("registry.k8s.io/networking/kube-network-policies:v1.1.1", "flannel's policy add-on"),
        ("quay.io/calico/node:v3.30.0", "Calico"),
        ("example.com/fleet/node:v1", None),
        ("rancher/mirrored-calico-node:v3.30", "Calico"),
        ("quay.io/cilium/cilium@sha256:00", "Cilium"),
    ],
)
def test_who_enforces_policies_is_told_by_the_image(image, who):
    one = daemonset(healthy())
    one["spec"]["template"]["spec"]["containers"].append({"image": image})
    assert enforcers([DaemonSet(one)]) == ({"kube-flannel/kube-flannel-ds": who} if who else {})


def expression(operator, *values, key="app"):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "web", "tier": "back"}}, False),
        ({"matchLabels": {"zone": "a"}}, False),
        (expression("In", "web", "x"), True),
        (expression("In", "x"), False),
        (expression("In", "a", key="zone"), False),
        (expression("NotIn", "x"), True),
        (expression("NotIn", "web"), False),
        (expression("NotIn", "a", key="zone"), True),
        (expression("Exists"), True),
        (expression("Exists", key="zone"), False),
        (expression("DoesNotExist"), False),
        (expression("DoesNotExist", key="zone"), True),
        ({"matchLabels": {"app": "web"}, **expression("In", "x")}, False),
    ],
)
def test_what_a_selector_selects(selector, selected):
    assert selects(Item(selector), WEB) is selected


@pytest.mark.parametrize(
    ("spec", "directions"),
    [
        ({}, ["Ingress"]),
        ({"egress": [{}]}, ["Ingress", "Egress"]),
        ({"egress": []}, ["Ingress"]),  # SetDefaults_NetworkPolicy adds Egress for rules only
        ({"policyTypes": ["Egress"]}, ["Egress"]),
        ({"policyTypes": ["Ingress"], "egress": [{}]}, ["Ingress"]),
        ({"podSelector": {"matchLabels": {"app": "other"}}}, []),
    ],
)
def test_whom_a_policy_isolates_in_which_direction(spec, directions):
    policy = Object({"spec": {"podSelector": {}, **spec}})
    assert [one for one in ("Ingress", "Egress") if applies(policy, one, WEB)] == directions


@pytest.mark.parametrize(
    ("rules", "open_"),
    [
        (None, False),
        ([], False),
        ([{}], True),
        ([{"ports": []}], True),
        ([{"ports": [{"protocol": "TCP", "port": 80}]}], False),
        ([{"ports": [{"port": 80}]}, {"ports": [{"port": 53}]}], True),
        ([{"ports": [{"port": 50, "endPort": 60}]}], True),
        ([{"ports": [{"port": 50, "endPort": 52}]}], False),
        ([{"ports": [{"port": 54, "endPort": 60}]}], False),
        ([{"ports": [{"protocol": "UDP"}]}], True),
        ([{"ports": [{"port": "dns-tcp"}]}], True),
        ([{"ports": [{"port": "http"}]}], False),
    ],
)
def test_whether_dns_may_pass_a_policy(rules, open_):
    policy = Object({"spec": {"egress": rules, "ingress": [{"ports": [{"port": 443}]}]}})
    assert lets_dns(policy, "Egress") is open_
    assert lets_dns(policy, "Ingress") is False
