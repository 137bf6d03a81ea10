# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import daemonset, objects, probe
from rules import findings, healthy


def enforced(*policies: dict) -> dict:
    bundle = healthy()
    containers = daemonset(bundle)["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "netpol", "image": "registry.k8s.io/networking/kube-network-policies:v1.0.0"})
    objects(bundle, "network_policies").extend(policies)
    return bundle


def policy(name: str, namespace: str, **spec) -> dict:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"podSelector": {}, **spec}}


def test_coredns_that_nobody_may_ask():
    (found,) = findings("network-policy-blocks", enforced(policy("deny", "kube-system", policyTypes=["Ingress"])))
    assert (found.severity, found.where) == ("error", ["cluster"])


def test_another_policy_lets_dns_through():
    deny = policy("deny", "kube-system", policyTypes=["Ingress"])
    dns = policy("dns", "kube-system", ingress=[{"ports": [{"protocol": "UDP", "port": 53}]}])
    assert findings("network-policy-blocks", enforced(deny, dns)) == []


def test_a_namespace_that_is_closed_is_a_warning_and_an_error_where_dns_fails():
    bundle = enforced(policy("deny", "default", policyTypes=["Egress"]))
    assert [one.severity for one in findings("network-policy-blocks", bundle)] == ["warning"]
    probe(bundle, "udp/dns", sender="node2")
    assert [one.severity for one in findings("network-policy-blocks", bundle)] == ["error"]


def test_rules_that_are_not_for_dns():
    only_web = policy("web", "default", policyTypes=["Egress"], egress=[{"ports": [{"port": 443}]}])
    assert [one.severity for one in findings("network-policy-blocks", enforced(only_web))] == ["warning"]
    everything = policy("all", "default", policyTypes=["Egress"], egress=[{}])
    assert findings("network-policy-blocks", enforced(everything)) == []


def test_policies_that_nobody_enforces_block_nothing():
    bundle = healthy()
    objects(bundle, "network_policies").append(policy("deny", "kube-system", policyTypes=["Ingress"]))
    assert findings("network-policy-blocks", bundle) == []
