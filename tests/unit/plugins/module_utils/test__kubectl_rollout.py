# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.podnet.kubeadm.plugins.module_utils._kubectl_rollout import pending


def daemonset(**status: Any) -> dict[str, Any]:
    return {
        "kind": "DaemonSet",
        "metadata": {
            "name": "ds",
            "namespace": "n",
            "generation": 2,
            "annotations": {"deprecated.daemonset.template.generation": "2"},
        },
        "status": {"observedGeneration": 2, "desiredNumberScheduled": 2, **status},
    }


def pod(node: str, ready: bool = True, generation: str = "2", **status: Any) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {
        "metadata": {"name": "ds-" + node, "labels": {"pod-template-generation": generation}},
        "spec": {"nodeName": node},
        "status": {"phase": "Running", "conditions": conditions, **status},
    }


def test_done_on_the_nodes_that_are_asked_for() -> None:
    pods = [pod("n1"), pod("n2"), pod("off", ready=False)]
    assert pending(daemonset(), pods, {"n1", "n2"}) == []
    assert pending(daemonset(numberAvailable=2, updatedNumberScheduled=3, desiredNumberScheduled=3), pods, None)


def test_without_nodes_the_status_decides() -> None:
    assert pending(daemonset(numberAvailable=2, updatedNumberScheduled=2), [], None) == []


def test_a_pod_of_the_old_template_is_waited_for() -> None:
    (one,) = pending(daemonset(), [pod("n1", generation="1")], {"n1"})
    assert "not been replaced" in one.what


def test_a_node_without_a_pod() -> None:
    (one,) = pending(daemonset(), [], {"n1"})
    assert "no pod on n1" in one.what


def test_a_generation_that_is_not_observed_yet() -> None:
    (one,) = pending(daemonset(observedGeneration=1), [pod("n1")], {"n1"})
    assert "not looked at" in one.what


def test_a_crash_loop_is_hopeless_and_names_its_container() -> None:
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}
    statuses = [{"name": "kube-flannel", "restartCount": 4, "state": state}]
    (one,) = pending(daemonset(), [pod("n1", ready=False, containerStatuses=statuses)], {"n1"})
    assert one.hopeless and one.container == "kube-flannel" and "CrashLoopBackOff" in one.what


def test_a_first_error_is_waited_out() -> None:
    statuses = [
        {"name": "kube-flannel", "restartCount": 0, "state": {"terminated": {"reason": "Error", "exitCode": 1}}}
    ]
    (one,) = pending(daemonset(), [pod("n1", ready=False, containerStatuses=statuses)], {"n1"})
    assert not one.hopeless


def test_an_image_that_cannot_be_had_says_why() -> None:
    state = {"waiting": {"reason": "ErrImagePull", "message": "not found"}}
    statuses = [{"name": "install-cni", "restartCount": 0, "state": state}]
    (one,) = pending(daemonset(), [pod("n1", ready=False, initContainerStatuses=statuses)], {"n1"})
    assert "not found" in one.what


def test_deployment() -> None:
    deployment = {
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "n", "generation": 1},
        "spec": {"replicas": 2},
        "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 1},
    }
    assert "1 available" in pending(deployment, [pod("n1")], None)[0].what
    deployment["status"]["availableReplicas"] = 2
    assert pending(deployment, [], None) == []
