#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: manifest
short_description: Apply Kubernetes objects on the server's side, and wait for their roll-out
description:
  - Applies a list of objects by C(kubectl apply --server-side) on a control plane, or deletes them.
  - kubernetes.core needs the kubernetes Python client on the host, and its check mode does not ask the server. This
    module needs kubectl, which a control plane has; its check mode is the server's own dry run, and its diff compares
    what the server has with what it made, or would make, of the objects.
  - Waiting counts the nodes that it is told of, so that a node that is switched off does not hold up the others, and
    says what was seen last when it gives up.
author:
  - podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - The values of Secrets are shown as digests.
  idempotent:
    support: full
options:
  objects:
    description: The objects, each with its C(apiVersion), C(kind) and C(metadata.name).
    type: list
    elements: dict
    required: true
  state:
    description: Whether the objects shall be there as given, or not be there.
    type: str
    choices: [present, absent]
    default: present
  field_manager:
    description: Name under which the server remembers the fields that O(objects) set.
    type: str
    default: podnet.kubeadm
  force_conflicts:
    description: Take over fields that another manager owns, as everyone does who replaces a C(kubectl apply).
    type: bool
    default: true
  kubeconfig:
    description: The kubeconfig to use.
    type: path
    default: /etc/kubernetes/admin.conf
  wait:
    description:
      - With O(state=present), wait until each DaemonSet, Deployment and StatefulSet among O(objects) has rolled out.
      - With O(state=absent), wait until the objects are gone.
    type: bool
    default: false
  wait_nodes:
    description: Names of the nodes on which DaemonSets are waited for. Without it, all nodes that they want.
    type: list
    elements: str
  wait_timeout:
    description: Seconds to wait at most.
    type: int
    default: 180
"""

EXAMPLES = r"""
- name: Apply a namespace
  podnet.kubeadm.manifest:
    objects:
      - apiVersion: v1
        kind: Namespace
        metadata:
          name: demo

- name: Apply flannel and wait for two of its nodes
  podnet.kubeadm.manifest:
    objects: "{{ flannel_objects }}"
    wait: true
    wait_nodes: [n1, n2]
"""

RETURN = r"""
changed_objects:
  description: The objects that changed, or would change.
  type: list
  elements: str
  returned: success
  sample: [ConfigMap kube-flannel/kube-flannel-cfg, DaemonSet kube-flannel/kube-flannel-ds]
objects:
  description: The objects as the server has them now. Not returned for Secrets, nor where the server was not asked.
  type: list
  elements: dict
  returned: O(state=present), outside check mode
  sample: []
waited:
  description: Seconds spent on waiting.
  type: float
  returned: O(wait=true), outside check mode
  sample: 12.5
"""

import os
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubectl, _kubectl_rollout

POLL = 1.0


def predicted(objects: list[Any], live: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Split *objects* into those that the server can be asked about, and those whose namespace is still to be made."""
    names = {item["metadata"]["name"] for item in objects if item.get("kind") == "Namespace"}
    missing = names - {key[3] for key in live if key[1] == "Namespace"}
    asked = [item for item in objects if item["metadata"].get("namespace") not in missing]
    return asked, [item for item in objects if item["metadata"].get("namespace") in missing]


def wait_for_namespaces(kubectl: _kubectl.Kubectl, live: dict[Any, Any], limit: int) -> None:
    """A namespace that is being deleted takes nothing new: wait until it is gone."""
    going = [
        "namespace/" + item["metadata"]["name"]
        for item in live.values()
        if item.get("kind") == "Namespace" and item["metadata"].get("deletionTimestamp")
    ]
    if going:
        kubectl.run(["wait", "--for=delete", f"--timeout={limit}s", *going], limit=limit)
        for key in [key for key, item in live.items() if "namespace/" + (key[2] or key[3]) in going]:
            del live[key]


def wait_for_rollout(
    kubectl: _kubectl.Kubectl, workloads: list[Any], nodes: set[str] | None, limit: int
) -> list[_kubectl_rollout.Pending]:
    """What is still pending when all is ready, when waiting has become hopeless, or when *limit* seconds are over."""
    end = time.monotonic() + limit
    left = list(workloads)
    while True:
        pending: list[_kubectl_rollout.Pending] = []
        for workload in list(left):
            found = look(kubectl, workload, nodes)
            if not found:
                left.remove(workload)
            pending.extend(found)
        if not left or any(one.hopeless for one in pending) or time.monotonic() > end:
            return pending
        time.sleep(POLL)


def look(kubectl: _kubectl.Kubectl, workload: Any, nodes: set[str] | None) -> list[_kubectl_rollout.Pending]:
    namespace, name = workload["metadata"].get("namespace", "default"), workload["metadata"]["name"]
    try:
        now = kubectl.get(["-n", namespace, workload["kind"].lower(), name])
        if not now:
            return [_kubectl_rollout.Pending(f"{_kubectl.title_of(workload)} is gone")]
        pods = kubectl.get(["-n", namespace, "pods", "-l", _kubectl_rollout.selector_of(now[0])])
    except _kubectl.KubectlError as exc:
        return [_kubectl_rollout.Pending(str(exc))]
    return _kubectl_rollout.pending(now[0], pods, nodes)


def explained(kubectl: _kubectl.Kubectl, namespace: str, pending: list[_kubectl_rollout.Pending]) -> str:
    """The sentences of what is pending, hopeless ones first, with the last words of at most three containers."""
    sentences: list[str] = []
    for one in sorted(pending, key=lambda item: not item.hopeless)[:6]:
        sentence = one.what
        if one.pod and len(sentences) < 3:
            log = kubectl.logs(namespace, one.pod, one.container)
            sentence += ", its log ends: " + log if log else ""
        sentences.append(sentence)
    return "; ".join(sentences)


def present(module: AnsibleModule, kubectl: _kubectl.Kubectl) -> dict[str, Any]:
    params = module.params
    objects = params["objects"]
    if module.check_mode and not os.path.exists(params["kubeconfig"]):
        # No cluster yet: everything would be created, and there is no server to ask.
        diff = _kubectl.changes({}, objects)
        return {"changed": True, "diff": diff, "changed_objects": [one["after_header"] for one in diff]}
    live = kubectl.live(objects)
    if module.check_mode:
        asked, new = predicted(objects, live)
        after = kubectl.apply(asked, params["field_manager"], params["force_conflicts"], True) + new
    else:
        wait_for_namespaces(kubectl, live, params["wait_timeout"])
        after = kubectl.apply(objects, params["field_manager"], params["force_conflicts"], False)
    diff = _kubectl.changes(live, after)
    result = {"changed": bool(diff), "diff": diff, "changed_objects": [one["after_header"] for one in diff]}
    if not module.check_mode:
        result["objects"] = [item for item in after if item.get("kind") != "Secret"]
        if params["wait"]:
            result["waited"] = wait(module, kubectl, after)
    return result


def wait(module: AnsibleModule, kubectl: _kubectl.Kubectl, objects: list[Any]) -> float:
    start = time.monotonic()
    workloads = [item for item in objects if item.get("kind") in _kubectl_rollout.WORKLOADS]
    nodes = module.params["wait_nodes"]
    limit = module.params["wait_timeout"]
    pending = wait_for_rollout(kubectl, workloads, None if nodes is None else set(nodes), limit)
    if pending:
        seconds = round(time.monotonic() - start)
        why = explained(kubectl, workloads[0]["metadata"].get("namespace", "default"), pending)
        module.fail_json(msg=f"after {seconds} s {why}", pending=[one.what for one in pending])
    return round(time.monotonic() - start, 1)


def absent(module: AnsibleModule, kubectl: _kubectl.Kubectl) -> dict[str, Any]:
    params = module.params
    if module.check_mode and not os.path.exists(params["kubeconfig"]):
        return {"changed": False, "changed_objects": []}
    live = kubectl.live(params["objects"])
    going = [item for item in live.values() if not item["metadata"].get("deletionTimestamp")]
    if live and not module.check_mode and (going or params["wait"]):
        kubectl.delete(list(live.values()), params["wait"], params["wait_timeout"])
    diff = [
        {
            "before_header": _kubectl.title_of(item),
            "after_header": _kubectl.title_of(item),
            "before": _kubectl.pretty(_kubectl.normalised(item)),
            "after": "",
        }
        for item in going
    ]
    return {"changed": bool(going), "diff": diff, "changed_objects": [one["before_header"] for one in diff]}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "objects": {"type": "list", "elements": "dict", "required": True},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "field_manager": {"type": "str", "default": "podnet.kubeadm"},
            "force_conflicts": {"type": "bool", "default": True},
            "kubeconfig": {"type": "path", "default": "/etc/kubernetes/admin.conf"},
            "wait": {"type": "bool", "default": False},
            "wait_nodes": {"type": "list", "elements": "str"},
            "wait_timeout": {"type": "int", "default": 180},
        },
        supports_check_mode=True,
    )
    for item in module.params["objects"]:
        if not item.get("kind") or not item.get("apiVersion") or not item.get("metadata", {}).get("name"):
            module.fail_json(msg=f"an object in 'objects' has no apiVersion, kind or metadata.name: {item!r:.200}")
    kubectl = _kubectl.Kubectl(module.run_command, module.params["kubeconfig"])
    try:
        result = present(module, kubectl) if module.params["state"] == "present" else absent(module, kubectl)
    except _kubectl.KubectlError as exc:
        module.fail_json(msg=str(exc))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
