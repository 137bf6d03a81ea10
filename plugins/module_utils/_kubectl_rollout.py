# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a workload has rolled out, told from the workload and its pods.

PRIVATE to the collection. Pure. C(kubectl rollout status) waits for every node that a DaemonSet wants, also for one
that is switched off, and never says why it waits; this counts the nodes that are asked for, and says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

WORKLOADS = ("DaemonSet", "Deployment", "StatefulSet")
# A container that ended this often is not going to make it by waiting. One that starts before kube-proxy has written
# its rules ends once or twice on any node, and more often on a slow one.
HOPELESS_RESTARTS = 4


@dataclass(frozen=True)
class Pending:
    """One thing that is waited for.

    what: a sentence without a full stop. pod and container: whose log may say more, if any. hopeless: waiting will not
    help.
    """

    what: str
    pod: str = ""
    container: str = ""
    hopeless: bool = False


def ready(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def why_not(pod: Object) -> Pending:
    """The reason that a pod is not ready, from its containers' states."""
    name = pod["metadata"]["name"]
    node = pod.get("spec", {}).get("nodeName", "no node")
    status = pod.get("status", {})
    containers = status.get("initContainerStatuses", []) + status.get("containerStatuses", [])
    for one in containers:
        waiting = one.get("state", {}).get("waiting", {})
        ended = one.get("state", {}).get("terminated", {})
        if ended.get("exitCode") == 0:  # an init container that is done
            continue
        reason = waiting.get("reason") or ended.get("reason")
        if reason and reason not in ("PodInitializing", "ContainerCreating"):
            restarts = one.get("restartCount", 0)
            text = waiting.get("message", "") if "Image" in reason or "Err" in reason else ""
            what = f"pod {name} on {node}: container {one['name']} is in {reason} after {restarts} restarts"
            return Pending(
                what + (": " + text if text else ""),
                name,
                one["name"],
                restarts >= HOPELESS_RESTARTS or reason == "InvalidImageName",
            )
    if containers and all(one.get("state", {}).get("running") for one in containers if one.get("name")):
        return Pending(f"pod {name} on {node} runs and is not ready yet")
    return Pending(f"pod {name} on {node} is {status.get('phase', 'unknown')}")


def selector_of(workload: Object) -> str:
    labels = workload.get("spec", {}).get("selector", {}).get("matchLabels", {})
    return ",".join(f"{name}={value}" for name, value in sorted(labels.items()))


def pending(workload: Object, pods: Iterable[Object], nodes: set[str] | None) -> list[Pending]:
    """What *workload* still waits for on *nodes* (None: wherever it is wanted); empty when it has rolled out."""
    metadata, status = workload["metadata"], workload.get("status", {})
    title = f"{workload['kind']} {metadata.get('namespace', '')}/{metadata['name']}"
    if status.get("observedGeneration", 0) < metadata.get("generation", 1):
        return [Pending(f"{title} is not looked at by the controller manager yet")]
    if workload["kind"] == "DaemonSet":
        return _pending_daemonset(title, workload, list(pods), nodes)
    wanted = workload.get("spec", {}).get("replicas", 1)
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if updated >= wanted and available >= wanted and status.get("replicas", 0) == wanted:
        return []
    reasons = [why_not(pod) for pod in pods if not ready(pod)]
    return reasons or [Pending(f"{title} has {updated} of {wanted} pods updated and {available} available")]


def _pending_daemonset(title: str, workload: Object, pods: list[Object], nodes: set[str] | None) -> list[Pending]:
    status = workload.get("status", {})
    if nodes is None:
        wanted = status.get("desiredNumberScheduled", 0)
        if status.get("updatedNumberScheduled", 0) >= wanted and status.get("numberAvailable", 0) >= wanted:
            return []
    # The label that a DaemonSet's controller gives its pods; it counts the templates.
    generation = workload["metadata"].get("annotations", {}).get("deprecated.daemonset.template.generation", "")
    by_node: dict[str, Object] = {}
    for pod in pods:
        if not pod["metadata"].get("deletionTimestamp"):
            by_node[pod.get("spec", {}).get("nodeName", "")] = pod
    found = []
    for node in sorted(by_node if nodes is None else nodes):
        pod = by_node.get(node, {})
        if not pod:
            found.append(Pending(f"{title} has no pod on {node} yet"))
        elif pod["metadata"].get("labels", {}).get("pod-template-generation") != generation:
            found.append(Pending(f"{title}: the pod on {node} has not been replaced yet"))
        elif not ready(pod):
            found.append(why_not(pod))
    if not found and nodes is None:
        found.append(Pending(f"{title} has not got all its pods yet"))
    return found
