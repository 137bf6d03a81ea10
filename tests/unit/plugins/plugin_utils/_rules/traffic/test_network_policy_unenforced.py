# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset, objects
from rules import findings, healthy

DENY = {
    "metadata": {"name": "deny", "namespace": "default"},
    "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
}


def with_policy(image: str = "") -> dict:
    bundle = healthy()
    objects(bundle, "network_policies").append(DENY)
    if image:
        containers = daemonset(bundle)["spec"]["template"]["spec"]["containers"]
        containers.append({"name": "policy", "image": image})
    return bundle


def test_a_policy_that_nobody_enforces_is_a_warning():
    (found,) = findings("network-policy-unenforced", with_policy())
    assert (found.severity, found.evidence["policies"]) == ("warning", ["default/deny"])


@pytest.mark.parametrize(
    "image",
    ["registry.k8s.io/networking/kube-network-policies:v1.0.0", "docker.io/calico/node:v3.31", "x/kube-router:v2"],
)
def test_enforcers(image):
    assert findings("network-policy-unenforced", with_policy(image)) == []


def test_no_policies():
    assert findings("network-policy-unenforced", healthy()) == []
