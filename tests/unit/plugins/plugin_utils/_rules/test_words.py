# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes that only words tell: of the kubelet where a key of its host is absent, of events where the host is."""

from __future__ import annotations

import pytest
from edits import event, flannel_pod, pods, waits
from rules import findings, healthy

WEB = "web-5bb4cdcfd-tgnz6"  # on node2
SOCKET = "/run/containerd/containerd.sock"
KUBELET = [
    ("swap-on", "swap", "running with swap on is not supported, please disable swap"),
    ("cgroup-v1", "cgroup", "kubelet is configured to not run on a host using cgroup v1"),
    ("runtime-down", "units", f"dial unix {SOCKET}: connect: no such file or directory"),
]
EVENTS = [
    ("cni-plugin-missing", "cni_bin", 'failed to find plugin "portmap" in path [/opt/cni/bin]'),
    ("stale-link", "", '"cni0" already has an IP address different from 10.244.1.1/24'),
    ("ipam-leak", "cni_ipam", "no IP addresses available in range set: 10.244.1.1-10.244.1.254"),
]


@pytest.mark.parametrize(("code", "key", "words"), KUBELET)
def test_the_kubelet_says_it(code, key, words):
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    node["journal"]["kubelet"] = words
    assert findings(code, bundle) == []
    node[key] = {} if key == "units" else None
    if key != "units":
        del node[key]
    assert [(one.severity, one.where) for one in findings(code, bundle)] == [("error", ["node2"])]


@pytest.mark.parametrize(("code", "key", "words"), EVENTS)
def test_an_event_says_it(code, key, words):
    bundle = healthy()
    event(bundle, WEB, words)
    assert findings(code, bundle) == []
    if key:
        del bundle["nodes"]["node2"][key]
        assert findings(code, bundle) == []  # the pod is ready now
        bundle["nodes"]["node2"][key] = healthy()["nodes"]["node2"][key]
    waits(pods(bundle, WEB)[0], "ContainerCreating")
    assert findings(code, bundle) == []
    if key:
        del bundle["nodes"]["node2"][key]
        assert [(one.severity, one.where) for one in findings(code, bundle)] == [("error", ["node2"])]
    del bundle["nodes"]["node2"]
    assert [(one.severity, one.where) for one in findings(code, bundle)] == [("error", ["node2"])]


def test_an_image_that_only_an_event_names():
    bundle = healthy()
    pod = flannel_pod(bundle)
    words = 'Failed to pull image "quay.io/coreos/flannel:v0.99.0": manifest unknown'
    event(bundle, pod["metadata"]["name"], words, "kube-flannel")
    assert findings("image-unavailable", bundle) == []
    waits(pod, "PodInitializing")
    (found,) = findings("image-unavailable", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_addresses_that_pods_really_use_up():
    bundle = healthy()
    event(bundle, WEB, EVENTS[2][2])
    waits(pods(bundle, WEB)[0], "ContainerCreating")
    assert findings("ipam-leak", bundle) == []
    del bundle["nodes"]["node2"]
    one = next(pod for pod in bundle["cluster"]["pods"]["items"] if pod["metadata"]["name"] == WEB)
    bundle["cluster"]["pods"]["items"] += [one] * 260
    assert findings("ipam-leak", bundle) == []
