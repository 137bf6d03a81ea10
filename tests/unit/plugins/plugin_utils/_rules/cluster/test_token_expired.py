# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import objects
from rules import findings, healthy

WORDS = [
    'could not find a JWS signature in the cluster-info ConfigMap for token ID "abcdef"',
    'token id "abcdef" is invalid for this cluster or it has expired. Use "kubeadm token create"',
    'there is no JWS signed token in the cluster-info ConfigMap. This token id "abcdef" is invalid for this cluster',
    'the cluster-info ConfigMap does not yet contain a JWS signature for token ID "abcdef", will try again',
    'error downloading the secret: Secret "kubeadm-certs" was not found in the "kube-system" Namespace',
]


def outsider(words: str) -> dict:
    """node3 tried to join and is no member."""
    bundle = healthy()
    bundle["nodes"]["node3"]["kubeadm_output"] = f"error execution phase preflight: {words}\n"
    bundle["nodes"]["node3"]["kubernetes_files"].remove("/etc/kubernetes/kubelet.conf")
    bundle["cluster"]["nodes"]["items"] = [
        one for one in objects(bundle, "nodes") if one["metadata"]["name"] != "node3"
    ]
    return bundle


@pytest.mark.parametrize("words", WORDS)
def test_words_of_a_refused_join(words):
    (found,) = findings("token-expired", outsider(words))
    assert (found.severity, found.where) == ("error", ["node3"])


def test_words_of_an_earlier_try_on_a_member():
    bundle = healthy()
    bundle["nodes"]["node3"]["kubeadm_output"] = WORDS[0]
    assert findings("token-expired", bundle) == []


def test_other_words():
    assert findings("token-expired", outsider("Port 10250 is in use")) == []
