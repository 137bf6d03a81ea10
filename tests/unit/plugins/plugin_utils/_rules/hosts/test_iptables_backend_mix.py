# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined

KUBELET = "*filter\n:FORWARD ACCEPT [0:0]\n:KUBE-FIREWALL - [0:0]\n[0:0] -A KUBE-FIREWALL -j DROP\nCOMMIT\n"
DOCKER = "*filter\n:FORWARD {} [0:0]\n:DOCKER-USER - [0:0]\n[0:0] -A FORWARD -j DOCKER-USER\nCOMMIT\n"
EMPTY = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
MARKER = "*mangle\n:FORWARD ACCEPT [0:0]\n:KUBE-IPTABLES-HINT - [0:0]\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n"


def legacy(text):
    bundle = healthy()
    bundle["nodes"]["node2"]["iptables"]["legacy"] = text
    return bundle


def test_the_clusters_rules_in_both_backends():
    bundle = healthy()
    rules = bundle["nodes"]["node2"]["iptables"]
    rules["legacy"] = rules["nft"]
    (found,) = findings("iptables-backend-mix", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_the_kubelet_in_one_and_the_images_in_the_other():
    (found,) = findings("iptables-backend-mix", legacy(KUBELET))
    assert found.severity == "error" and "kubelet" in found.summary


def test_a_drop_in_the_other_backend_has_a_code_of_its_own():
    bundle = legacy(DOCKER.format("DROP"))
    (found,) = findings("iptables-backend-mix", bundle)
    assert found.severity == "info" and "drop" in found.summary
    (found,) = findings("forward-policy-drop", bundle)
    assert found.severity == "error" and found.evidence["backend"] == "legacy"


def test_what_looks_like_it():
    assert findings("iptables-backend-mix", legacy(EMPTY)) == []
    assert findings("iptables-backend-mix", legacy(MARKER)) == []
    (found,) = findings("iptables-backend-mix", legacy(DOCKER.format("ACCEPT")))
    assert found.severity == "info"


def test_docker_beside_in_the_same_backend():
    assert findings("iptables-backend-mix", healthy("cluster-docker")) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["iptables"]
    assert [missed.key for missed in undetermined("iptables-backend-mix", bundle)] == ["nodes.*.iptables"]
