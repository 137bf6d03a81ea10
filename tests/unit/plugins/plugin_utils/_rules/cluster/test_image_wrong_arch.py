# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import daemonset, flannel_pod, kube_node, log, pods, remove_pods, waits
from rules import findings, healthy


def test_exec_format_error_in_the_log():
    bundle = healthy()
    pod = flannel_pod(bundle)
    waits(pod, "CrashLoopBackOff")
    log(bundle, pod, "exec /opt/bin/flanneld: exec format error\n")
    (found,) = findings("image-wrong-arch", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_an_application_of_another_architecture_is_not_the_networks():
    bundle = healthy()
    pod = pods(bundle, "web-")[0]
    waits(pod, "CrashLoopBackOff")
    log(bundle, pod, "exec format error", "web")
    assert findings("image-wrong-arch", bundle) == []


def test_a_node_whose_architecture_no_daemonset_is_for():
    bundle = healthy()
    daemonset(bundle)["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/arch": "amd64"}
    node = kube_node(bundle, "node3")
    node["status"]["nodeInfo"]["architecture"] = node["metadata"]["labels"]["kubernetes.io/arch"] = "arm64"
    assert findings("image-wrong-arch", bundle) == []  # its pod is from before
    remove_pods(bundle, "kube-flannel-ds-", "node3")
    assert findings("image-wrong-arch", bundle)[0].where == ["node3"]
    daemonset(bundle)["spec"]["template"]["spec"]["nodeSelector"]["pool"] = "flannel"
    assert findings("image-wrong-arch", bundle) == []  # left out on purpose


def test_an_architecture_in_the_tag_against_the_node():
    bundle = healthy()
    daemonset(bundle)["spec"]["template"]["spec"]["containers"][0]["image"] = "quay.io/coreos/flannel:v0.11.0-amd64"
    assert findings("image-wrong-arch", bundle) == []
    kube_node(bundle, "node3")["status"]["nodeInfo"]["architecture"] = "arm64"
    assert findings("image-wrong-arch", bundle)[0].where == ["node3"]
    daemonset(bundle)["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/arch": "amd64"}
    kube_node(bundle, "node3")["metadata"]["labels"]["kubernetes.io/arch"] = "arm64"
    assert findings("image-wrong-arch", bundle) == []
