# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import daemonset, flannel_pod, log, not_ready
from rules import findings, healthy, heard_alone, heard_of_node2, undetermined

ACCOUNT = "system:serviceaccount:kube-flannel:flannel"


def test_a_right_that_is_refused_is_an_error():
    bundle = healthy()
    bundle["cluster"]["access"][ACCOUNT]["patch nodes/status"] = False
    (found,) = findings("flannel-rbac", bundle)
    assert found.severity == "error"
    assert found.evidence == {"account": ACCOUNT, "lacking": ["patch nodes/status"]}


def test_get_pods_alone_is_a_warning_while_flannel_runs():
    bundle = healthy()
    bundle["cluster"]["access"][ACCOUNT]["get pods"] = False
    assert findings("flannel-rbac", bundle)[0].severity == "warning"
    daemonset(bundle)["status"]["numberReady"] = 0
    assert findings("flannel-rbac", bundle)[0].severity == "error"


def test_without_reviews_the_log_tells():
    bundle = healthy()
    del bundle["cluster"]["access"]
    assert undetermined("flannel-rbac", bundle)[0].key == "cluster.access"
    pod = flannel_pod(bundle)
    not_ready(pod)
    refused = f'nodes is forbidden: User "{ACCOUNT}" cannot list resource "nodes" in API group "" at the cluster scope'
    log(bundle, pod, f"E1 reflector.go:205] Failed to watch: {refused}")
    (found,) = findings("flannel-rbac", bundle)
    assert found.evidence["lacking"] == ["list nodes"]


def test_another_account_that_is_refused_is_not_flannels():
    bundle = healthy()
    bundle["cluster"]["access"]["system:serviceaccount:default:app"] = {"get nodes": False}
    assert findings("flannel-rbac", bundle) == []


def test_flannels_words_are_enough():
    account = 'User "system:serviceaccount:kube-flannel:flannel"'
    for words in (
        f'pods "x" is forbidden: {account} cannot get resource "pods" in API group "" in the namespace "kube-flannel"',
        f'pods "x" is forbidden: {account} cannot get pods in the namespace "kube-flannel"',
        f'err="nodes is forbidden: {account} cannot list resource "nodes""'.replace('"', '\\"'),
    ):
        assert findings("flannel-rbac", heard_alone(words))[0].where == ["cluster"]


def test_a_token_that_is_not_taken():
    bundle = heard_of_node2("Failed to create SubnetManager: error retrieving pod spec for 'x': Unauthorized")
    (found,) = findings("flannel-rbac", bundle)
    assert found.where == ["cluster", "node2"]
    assert "token" in found.summary
