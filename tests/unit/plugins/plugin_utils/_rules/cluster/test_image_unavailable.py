# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import flannel_pod, objects, pods, waits
from rules import findings, healthy


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull"])
def test_an_image_of_the_network_that_cannot_be_pulled(reason):
    bundle = healthy()
    waits(flannel_pod(bundle), reason, "not found", "initContainerStatuses")
    (found,) = findings("image-unavailable", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert "ghcr.io/flannel-io/flannel:v0.28.10" in found.summary


def test_two_reasons_of_one_image_are_one_finding():
    bundle = healthy()
    waits(flannel_pod(bundle, "node1"), "ErrImagePull", "not found", "initContainerStatuses")
    waits(flannel_pod(bundle, "node3"), "ImagePullBackOff", "back-off", "initContainerStatuses")
    (found,) = findings("image-unavailable", bundle)
    assert found.where == ["node1", "node3"]


def test_a_store_that_lost_a_layer():
    bundle = healthy()
    message = "error unpacking image: failed to extract layer: content digest sha256:da: not found"
    waits(flannel_pod(bundle), "CreateContainerError", message, "initContainerStatuses")
    assert findings("image-unavailable", bundle)[0].where == ["node2"]


def test_an_applications_image_is_not_the_networks():
    bundle = healthy()
    waits(pods(bundle, "web-")[0], "ImagePullBackOff", "not found")
    assert findings("image-unavailable", bundle) == []


def test_another_platform_has_its_own_code():
    bundle = healthy()
    waits(flannel_pod(bundle), "ErrImagePull", "no match for platform in manifest: not found", "initContainerStatuses")
    assert findings("image-unavailable", bundle) == []
    assert findings("image-wrong-arch", bundle)[0].where == ["node2"]


def test_the_sandbox_image_of_pods_that_wait():
    bundle = healthy()
    pod = pods(bundle, "web-", "node2")[0]
    message = 'Failed to create pod sandbox: failed to get sandbox image "registry.k8s.io/pause:3.8": failed to pull'
    event = {
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": pod["metadata"]["name"]},
        "message": message,
        "count": 9,
    }
    objects(bundle, "events").append(event)
    assert findings("image-unavailable", bundle) == []  # the pod runs: an old event
    pod["status"]["phase"] = "Pending"
    (found,) = findings("image-unavailable", bundle)
    assert found.where == ["node2"]


def test_kubeadm_that_could_not_pull():
    bundle = healthy("host")
    words = "[ERROR ImagePull]: failed to pull image registry.example.com/kube-proxy:v1.37.2: output: not found"
    bundle["nodes"]["node3"]["kubeadm_output"] = words
    (found,) = findings("image-unavailable", bundle)
    assert found.where == ["node3"]
    assert "registry.example.com/kube-proxy:v1.37.2" in found.summary


def test_one_event_is_enough():
    event = {
        "involvedObject": {"kind": "Pod", "namespace": "kube-flannel", "name": "kube-flannel-ds-x"},
        "message": 'Failed to pull image "ghcr.io/flannel-io/flannel:v0.29.9": not found',
        "source": {"host": "node2"},
    }
    bundle = {"format": 1, "stage": "cluster", "cluster": {"events": {"items": [event]}}}
    assert findings("image-unavailable", bundle)[0].where == ["node2"]
    event["message"] = event["message"].replace("flannel-io/flannel", "shop/cart")
    assert findings("image-unavailable", bundle) == []
