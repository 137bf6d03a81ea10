# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._kube import DaemonSet
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._other_cni import other_networks, runs_canal


def running(*images, init=()):
    one = daemonset(healthy(), "kube-proxy")
    spec = one["spec"]["template"]["spec"]
    spec["containers"] = [{"image": image} for image in images]
    spec["initContainers"] = [{"image": image} for image in init]
    return [DaemonSet(one)]


@pytest.mark.parametrize(
    ("image", "network"),
    [
        ("registry.k8s.io/kube-proxy:v1.37.2", None),
        ("quay.io/calico/node:v3.30.0", "Calico"),
        ("registry.example:5000/calico/node@sha256:00", "Calico"),
        ("example.com/fleet/node:v1", None),
        ("quay.io/cilium/cilium:v1.18", "Cilium"),
        ("quay.io/cilium/operator:v1.18", None),
        ("ghcr.io/weaveworks/launcher/weave-kube:2.8", "Weave Net"),
        ("docker.io/kindest/kindnetd:v2", "kindnet"),
        ("", None),
    ],
)
def test_a_pod_network_is_told_by_the_image(image, network):
    assert other_networks(running(image)) == ({"kube-system/kube-proxy": network} if network else {})


def test_init_containers_do_not_make_it_one():
    assert other_networks(running("x", init=["quay.io/calico/node:v3"])) == {}


def test_canal_is_flannels():
    canal = running("quay.io/calico/node:v3.30.0", "ghcr.io/flannel-io/flannel:v0.28.10")
    assert (other_networks(canal), runs_canal(canal)) == ({}, True)
    assert not runs_canal(running("quay.io/calico/node:v3.30.0") + running("ghcr.io/flannel-io/flannel:v1"))
