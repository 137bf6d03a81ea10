# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset, flannel_pod, objects, waits
from rules import findings, healthy, heard_of_node2


@pytest.mark.parametrize(
    ("api", "kind", "kubernetes", "told"),
    [
        ("extensions/v1beta1", "DaemonSet", "1.16.0", True),
        ("extensions/v1beta1", "DaemonSet", "1.15.12", False),
        ("policy/v1beta1", "PodSecurityPolicy", "1.37.2", True),
        ("policy/v1beta1", "PodSecurityPolicy", "1.24.17", False),
        ("rbac.authorization.k8s.io/v1beta1", "ClusterRole", "1.37.2", True),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", "1.37.2", False),
        ("apps/v1", "DaemonSet", "1.37.2", False),
    ],
)
def test_api_versions_against_the_version_asked_for(api, kind, kubernetes, told):
    bundle = healthy("intent")
    bundle["intent"].update(kubernetes_version=kubernetes, manifest=f"apiVersion: {api}\nkind: {kind}\n")
    found = findings("flannel-manifest-old", bundle)
    assert [one.where for one in found] == ([["intent"]] if told else [])


@pytest.mark.parametrize(("tag", "told"), [("v0.28.5", True), ("v0.28.6", False), ("latest", False)])
def test_install_conf_needs_an_image_that_has_it(tag, told):
    bundle = healthy()
    install = daemonset(bundle)["spec"]["template"]["spec"]["initContainers"][1]
    install["image"] = f"ghcr.io/flannel-io/flannel:{tag}"
    assert bool(findings("flannel-manifest-old", bundle)) is told


def test_an_init_command_that_the_image_turned_out_not_to_have():
    bundle = healthy()
    message = 'exec: "/opt/bin/install-conf": stat /opt/bin/install-conf: no such file or directory'
    waits(flannel_pod(bundle), "RunContainerError", message, "initContainerStatuses")
    assert findings("flannel-manifest-old", bundle)[0].where == ["cluster", "node2"]


@pytest.mark.parametrize(("tag", "told"), [("v0.13.0", False), ("v0.28.10", True)])
def test_rights_that_a_newer_image_asks_for(tag, told):
    bundle = healthy("intent")
    bundle["intent"]["manifest"] = (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
        "rules:\n- {apiGroups: [''], resources: [nodes], verbs: [list, watch]}\n"
        "---\napiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: "
        f"[{{name: f, image: 'x/flannel:{tag}'}}]}}}}}}\n"
    )
    assert bool(findings("flannel-manifest-old", bundle)) is told


def test_cp_is_right_with_every_image():
    bundle = healthy()
    install = daemonset(bundle)["spec"]["template"]["spec"]["initContainers"][1]
    install.update(command=["cp"], args=["-f", "/etc/kube-flannel/cni-conf.json", "/etc/cni/net.d/10-flannel.conflist"])
    assert findings("flannel-manifest-old", bundle) == []


def test_pod_security_that_keeps_the_pods_out():
    bundle = healthy()
    daemonset(bundle)["status"].update(currentNumberScheduled=0)
    about = {"kind": "DaemonSet", "namespace": "kube-flannel", "name": "kube-flannel-ds"}
    message = 'Error creating: pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces'
    objects(bundle, "events").append({"involvedObject": about, "reason": "FailedCreate", "message": message})
    (found,) = findings("flannel-manifest-old", bundle)
    assert found.evidence["events"] == [message]


def test_a_restricted_namespace_whose_pods_all_run_is_not_reported():
    bundle = healthy()
    for one in objects(bundle, "namespaces"):
        one["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "restricted"
    assert findings("flannel-manifest-old", bundle) == []


def test_a_lock_that_is_a_directory():
    bundle = heard_of_node2("Fatal: can't open lock file /run/xtables.lock: Is a directory")
    for volume in bundle["cluster"]["daemonsets"]["items"][0]["spec"]["template"]["spec"]["volumes"]:
        volume.get("hostPath", {}).pop("type", None)
    (found,) = findings("flannel-manifest-old", bundle)
    assert found.where == ["cluster", "node2"]
    assert found.evidence["DaemonSets that mount it so"] == ["kube-flannel/kube-flannel-ds"]
