# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubectl on a control plane: read, apply on the server's side, delete, and compare what was with what is.

PRIVATE to the collection. Standard library only. Every call has a limit: without one kubectl hangs on a control plane
that lost its quorum.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from collections.abc import Iterable
from typing import Any, Callable

RunCommand = Callable[..., "tuple[int, str, str]"]
Object = dict[str, Any]
Key = tuple[str, str, str, str]

ADMIN_CONF = "/etc/kubernetes/admin.conf"
# What the server writes of itself; none of it is anyone's intent.
SERVER_FIELDS = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink")
SERVER_ANNOTATIONS = ("deprecated.daemonset.template.generation", "deployment.kubernetes.io/revision")


class KubectlError(Exception):
    """kubectl failed; the message has its own words."""


def key_of(item: Object) -> Key:
    """API group, kind, namespace and name: what tells two objects apart, whatever the version."""
    version = item.get("apiVersion", "")
    metadata = item.get("metadata", {})
    group = version.rpartition("/")[0]
    return group, item.get("kind", ""), metadata.get("namespace", ""), metadata.get("name", "")


def title_of(item: Object) -> str:
    """C(DaemonSet kube-flannel/kube-flannel-ds), as a person would call it."""
    _group, kind, namespace, name = key_of(item)
    return f"{kind} {namespace + '/' if namespace else ''}{name}"


def normalised(item: Object | None) -> Object:
    """*item* without what the server writes of itself, and with a Secret's values replaced by their digests."""
    if not item:
        return {}
    item = copy.deepcopy(item)
    item.pop("status", None)
    metadata = item.get("metadata", {})
    for field in SERVER_FIELDS:
        metadata.pop(field, None)
    annotations = metadata.get("annotations", {})
    for name in SERVER_ANNOTATIONS:
        annotations.pop(name, None)
    if not annotations:
        metadata.pop("annotations", None)
    if item.get("kind") == "Secret":
        for field, decode in (("data", base64.b64decode), ("stringData", str.encode)):
            for name, value in (item.get(field) or {}).items():
                item[field][name] = "sha256:" + hashlib.sha256(decode(value)).hexdigest()[:16]
    return item


def changes(before: dict[Key, Object], after: Iterable[Object]) -> list[dict[str, str]]:
    """Ansible's diff of the objects in *after* that differ from those in *before*; empty when nothing changed."""
    diff = []
    for item in after:
        old, new = normalised(before.get(key_of(item))), normalised(item)
        if old != new:
            title = title_of(item)
            diff.append({"before_header": title, "after_header": title, "before": pretty(old), "after": pretty(new)})
    return diff


def pretty(item: Object) -> str:
    return json.dumps(item, indent=2, sort_keys=True) + "\n" if item else ""


def items_of(text: str) -> list[Object]:
    """The objects in kubectl's JSON output: one object, a List, or nothing."""
    if not text.strip():
        return []
    value = json.loads(text)
    return value["items"] if value.get("kind", "").endswith("List") and "items" in value else [value]


def as_list(objects: list[Object]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


class Kubectl:
    """kubectl, run by *run_command* (as AnsibleModule's) with the rights of *kubeconfig*.

    limit: seconds that one request may take.
    """

    def __init__(
        self, run_command: RunCommand, kubeconfig: str = ADMIN_CONF, binary: str = "kubectl", limit: int = 30
    ) -> None:
        self._run_command = run_command
        self._kubeconfig = kubeconfig
        self._binary = binary
        self._limit = limit

    def run(self, args: list[str], data: str | None = None, limit: int | None = None) -> str:
        """kubectl's standard output; raises KubectlError with what it said instead."""
        limit = limit or self._limit
        command = ["timeout", "-k", "5", str(limit + 5), self._binary, f"--request-timeout={limit}s", *args]
        code, out, err = self._run_command(
            command, data=data, environ_update={"KUBECONFIG": self._kubeconfig, "LC_ALL": "C"}
        )
        if code:
            words = " ".join(word for word in args if not word.startswith("-"))
            why = f"no answer within {limit} s" if code == 124 else err.strip() or out.strip()
            raise KubectlError(f"kubectl {words}: {why}")
        return out

    def get(self, args: list[str]) -> list[Object]:
        """The objects that C(kubectl get ARGS) finds; what is not there is left out."""
        return items_of(self.run(["get", *args, "-o", "json", "--ignore-not-found"]))

    def live(self, objects: list[Object]) -> dict[Key, Object]:
        """Those of *objects* that the cluster has, as it has them."""
        text = self.run(["get", "-f", "-", "-o", "json", "--ignore-not-found"], as_list(objects))
        return {key_of(item): item for item in items_of(text)}

    def apply(self, objects: list[Object], manager: str, force: bool, dry_run: bool) -> list[Object]:
        """Apply *objects* on the server's side as *manager*; what the server made, or would make, of them."""
        args = ["apply", "--server-side", "--field-manager=" + manager, "-f", "-", "-o", "json"]
        if force:
            args.append("--force-conflicts")
        if dry_run:
            args.append("--dry-run=server")
        return items_of(self.run(args, as_list(objects))) if objects else []

    def delete(self, objects: list[Object], wait: bool, limit: int) -> None:
        args = ["delete", "-f", "-", "--ignore-not-found", f"--wait={str(wait).lower()}"]
        if wait:
            args.append(f"--timeout={limit}s")
        self.run(args, as_list(objects), limit)

    def logs(self, namespace: str, pod: str, container: str, lines: int = 3) -> str:
        """The last lines of a container, or of the one before it, or nothing."""
        for previous in ([], ["--previous"]):
            try:
                text = self.run(["logs", "-n", namespace, pod, "-c", container, f"--tail={lines}", *previous], limit=5)
            except KubectlError:
                continue
            if text.strip():
                return text.strip()
        return ""
