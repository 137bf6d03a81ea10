# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Edits of healthy evidence that several tests of rules make."""

from __future__ import annotations

from typing import Any

NODES = ["node1", "node2", "node3"]


def objects(bundle: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The items of a list of the cluster: nodes, pods, daemonsets, events, ..."""
    return bundle["cluster"][kind]["items"]


def kube_node(bundle: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in objects(bundle, "nodes") if one["metadata"]["name"] == name)


def daemonset(bundle: dict[str, Any], name: str = "kube-flannel-ds") -> dict[str, Any]:
    return next(one for one in objects(bundle, "daemonsets") if one["metadata"]["name"] == name)


def pods(bundle: dict[str, Any], prefix: str, node: str = "") -> list[dict[str, Any]]:
    """Pods whose name begins with the prefix, all of them or those of one node."""
    return [
        one
        for one in objects(bundle, "pods")
        if one["metadata"]["name"].startswith(prefix) and node in ("", one["spec"].get("nodeName"))
    ]


def flannel_pod(bundle: dict[str, Any], node: str = "node2") -> dict[str, Any]:
    return pods(bundle, "kube-flannel-ds-", node)[0]


def not_ready(pod: dict[str, Any]) -> None:
    for condition in pod["status"]["conditions"]:
        if condition["type"] in ("Ready", "ContainersReady"):
            condition["status"] = "False"


def waits(pod: dict[str, Any], reason: str, message: str = "", kind: str = "containerStatuses") -> dict[str, Any]:
    """Lets the pod's last container (or init container) wait, and answers its status."""
    not_ready(pod)
    status = pod["status"][kind][-1]
    status["state"] = {"waiting": {"reason": reason, "message": message}}
    status["ready"] = False
    return status


def log(bundle: dict[str, Any], pod: dict[str, Any], text: str, container: str = "kube-flannel") -> None:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}/{container}"
    bundle["cluster"]["logs"][name] = text


def remove_pods(bundle: dict[str, Any], prefix: str, node: str = "") -> None:
    gone = pods(bundle, prefix, node)
    bundle["cluster"]["pods"]["items"] = [one for one in objects(bundle, "pods") if one not in gone]
