# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def beside(image, name="calico-node", **container):
    bundle = healthy()
    bundle["cluster"]["daemonsets"]["items"].append(
        {
            "metadata": {"name": name, "namespace": "kube-system"},
            "spec": {"template": {"spec": {"containers": [{"name": "x", "image": image, **container}]}}},
            "status": {"desiredNumberScheduled": 3},
        }
    )
    return bundle


def test_another_network_whose_file_is_used():
    bundle = beside("docker.io/calico/node:v3.30.0")
    bundle["nodes"]["node2"]["cni_config"]["10-calico.conflist"] = '{"name": "k8s", "plugins": [{"type": "calico"}]}'
    (found,) = findings("cni-other-installed", bundle)
    assert (found.severity, found.where) == ("error", ["cluster"])
    assert "Calico" in found.summary


def test_with_flannels_file_in_use_everywhere_it_is_a_warning():
    assert [found.severity for found in findings("cni-other-installed", beside("calico/node:v3.30.0"))] == ["warning"]


def test_canal_and_policy_engines_belong_together():
    canal = beside("calico/node:v3.30.0", "canal")
    containers = canal["cluster"]["daemonsets"]["items"][-1]["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "kube-flannel", "image": "flannel/flannel:v0.28.10", "command": ["/opt/bin/flanneld"]})
    assert findings("cni-other-installed", canal) == []
    router = beside("cloudnativelabs/kube-router:v2.6.0", "kube-router", args=["--run-router=false"])
    assert findings("cni-other-installed", router) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["cluster"]["daemonsets"]
    assert "cluster.daemonsets" in {missed.key for missed in undetermined("cni-other-installed", bundle)}
