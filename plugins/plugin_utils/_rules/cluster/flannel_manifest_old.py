# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A flannel manifest that does not fit its Kubernetes or its image.

## What it means
Manifests age: API versions are removed (DaemonSet in extensions/v1beta1, PodSecurityPolicy, RBAC v1beta1), newer
images need rights that older manifests do not give (`get nodes`), Pod Security refuses flannel where its namespace is
not labelled privileged, and the init command changed with v0.28.6 (`install-conf`), which older images do not have.

## How it looks
`no matches for kind "DaemonSet" in version "extensions/v1beta1"` when it is applied; `violates PodSecurity` in the
DaemonSet's events and no pod at all; `exec: "/opt/bin/install-conf": no such file or directory` in
Init:CrashLoopBackOff; `can't open lock file /run/xtables.lock: Is a directory` where a manifest, flannel's or another,
mounts that path without the type FileOrCreate and came first.

## What looks like it but is not
- Flannel in kube-system instead of kube-flannel, or installed by Helm: fine by itself.
- A namespace without any Pod Security label: kubeadm's default lets everything in.
- `cp` as init command with any image: older and newer ones have it.
- An older flannel that runs: see `version-unsupported`.

## How it is told
API versions of the manifest against the Kubernetes version; namespace labels and FailedCreate events; the init
command against the image's version.

## Mend
Use the manifest of a release, never of the master branch; podnet.kubeadm.site renders one that fits.

## Prevent
`flannel_version` chooses manifest and images together.

## Sources
- flannel issues 1225, 2469, 1735; PR 1529, PR 2466; talos issue 2251; lima-vm/lima 1034; kubespray 9365; kubernetes
  deprecation guide
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._item import Item
from ..._evidence._kube import DaemonSet
from ..._evidence._said import places, told
from ..._evidence._versions import Version, image_name, image_version, version
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's manifest does not fit Kubernetes or its image",
    severity="error",
    needs=("cluster.daemonsets",),
    remedy="Run podnet.kubeadm.site: it applies the manifest that belongs to flannel_version.",
    repair="flannel:rolled_out",
    explains=("flannel-rbac", "flannel-link-missing", "flannel-rules-missing", "route-missing"),
    rank=25,
)

REMOVED = {
    ("extensions/v1beta1", "DaemonSet"): Version(1, 16),
    ("apps/v1beta2", "DaemonSet"): Version(1, 16),
    ("extensions/v1beta1", "PodSecurityPolicy"): Version(1, 16),
    ("policy/v1beta1", "PodSecurityPolicy"): Version(1, 25),
    ("rbac.authorization.k8s.io/v1alpha1", "ClusterRole"): Version(1, 22),
    ("rbac.authorization.k8s.io/v1alpha1", "ClusterRoleBinding"): Version(1, 22),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRole"): Version(1, 22),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRoleBinding"): Version(1, 22),
}
"""API version and kind, and the Kubernetes version that no longer serves it (deprecation guide)."""

INSTALL_CONF = Version(0, 28, 6)
"""The first flannel image with /opt/bin/install-conf (PR 2466)."""

GETS_NODES = Version(0, 19)
"""Since about here flannel gets its own Node (PR 1657)."""
NO_COMMAND = re.compile(r'exec: "(?P<command>/opt/bin/install-conf|cp)": (?:stat|executable file not found)')
MESSAGES = (("state", "waiting", "message"), ("state", "terminated", "message"), ("lastState", "terminated", "message"))
LOCK = re.compile(r"(?:lock file \S*xtables\.lock|/run/xtables\.lock)\W*:? ?is a directory", re.IGNORECASE)
REFUSING = ("baseline", "restricted")


def check_intent(view: View) -> Iterator[Found]:
    if not view.intent.has("manifest"):
        return
    server = version(view.intent.kubernetes_version) if view.intent.has("kubernetes_version") else None
    removed = []
    for document in view.intent.manifest:
        key = (document.text("apiVersion"), document.text("kind"))
        since = REMOVED.get(key)
        if since and (server is None or server >= since):
            removed.append(f"{key[1]} in {key[0]} (removed in {since.series})")
    if removed:
        yield Found(
            "the flannel manifest uses API versions that Kubernetes no longer serves: " + ", ".join(removed),
            {"manifest": removed, "kubernetes_version": str(server or "")},
        )
    for document in view.intent.manifest:
        if document.text("kind") == "DaemonSet":
            yield from _init_command(DaemonSet(document.raw))
    if not removed:
        yield from _rights(view.intent.manifest)


def check_cluster(view: View) -> Iterator[Found]:
    by_version = False
    for daemonset in view.cluster.flannel_daemonsets:
        for found in _init_command(daemonset):
            by_version = True
            yield found
        yield from _pod_security(view, daemonset)
    if not by_version and view.cluster.has("pods"):
        yield from _said_by_pods(view)
    yield from _lock(view)


def _lock(view: View) -> Iterator[Found]:
    """A lock that kubelet made as a directory, since a manifest mounts it without saying that it is a file."""
    said = told(view, LOCK)
    if not said:
        return
    untyped = [
        f"{one.namespace}/{one.name}"
        for one in view.cluster.daemonsets
        for volume in one.pod_spec.items("volumes")
        if volume.text("hostPath", "path").endswith("xtables.lock") and not volume.text("hostPath", "type")
    ]
    words = {name: one.string.strip()[-300:] for name, one in said.items()}
    yield Found(
        "/run/xtables.lock is a directory, for a manifest mounts it without the type FileOrCreate",
        {"said": words, "DaemonSets that mount it so": untyped},
        where=places(said),
        remedy="Run podnet.kubeadm.site, which applies a manifest with FileOrCreate, then on those hosts rmdir "
        "/run/xtables.lock and delete flannel's and kube-proxy's pods.",
    )


def _said_by_pods(view: View) -> Iterator[Found]:
    """Init commands that the image turned out not to have."""
    found: dict[str, list[str]] = {}
    for pod in view.cluster.flannel_pods:
        said = [status.text(*keys) for status in pod.statuses for keys in MESSAGES]
        for match in filter(None, (NO_COMMAND.search(text) for text in said)):
            found.setdefault(match["command"], []).append(view.place(pod.node_name))
    for command, nodes in found.items():
        where = ("cluster", *dict.fromkeys(nodes))
        yield Found(f"the manifest calls {command}, which flannel's image does not have", {"command": command}, where)


def _rights(documents: list[Item]) -> Iterator[Found]:
    """A ClusterRole from before flannel asked for its own Node."""
    images = [image for one in documents if one.text("kind") == "DaemonSet" for image in DaemonSet(one.raw).images]
    versions = [found for image in images if (found := image_version(image)) and image_name(image).endswith("flannel")]
    for role in documents:
        if role.text("kind") != "ClusterRole" or not versions or min(versions) < GETS_NODES:
            continue
        rules = [rule for rule in role.items("rules") if {"nodes", "*"} & set(rule.texts("resources"))]
        if rules and not any({"get", "*"} & set(rule.texts("verbs")) for rule in rules):
            yield Found("the manifest's ClusterRole does not let flannel get nodes", {"image": images})


def _init_command(daemonset: DaemonSet) -> Iterator[Found]:
    for one in daemonset.pod_spec.items("initContainers"):
        image = image_version(one.text("image"))
        if "/opt/bin/install-conf" in one.texts("command") and image and image < INSTALL_CONF:
            yield Found(
                f"the manifest calls /opt/bin/install-conf, which flannel's image has since {INSTALL_CONF} only",
                {"image": one.text("image"), "command": one.texts("command")},
            )


def _pod_security(view: View, daemonset: DaemonSet) -> Iterator[Found]:
    status = daemonset.item("status")
    wanted, current = status.number("desiredNumberScheduled") or 0, status.number("currentNumberScheduled") or 0
    if not wanted or current >= wanted:
        return
    enforced = _enforced(view, daemonset.namespace)
    refused = [text for text in _refusals(view, daemonset) if "violates PodSecurity" in text]
    if enforced in REFUSING or refused:
        yield Found(
            "Pod Security keeps flannel's pods out of their namespace, which is not labelled privileged",
            {"namespace": daemonset.namespace, "enforce": enforced or "not set", "events": refused[:1]},
        )


def _enforced(view: View, namespace: str) -> str:
    if not view.cluster.has("namespaces"):
        return ""
    found = [one for one in view.cluster.namespaces if one.name == namespace]
    return found[0].labels.get("pod-security.kubernetes.io/enforce", "") if found else ""


def _refusals(view: View, daemonset: DaemonSet) -> list[str]:
    def of_it(event: Item) -> bool:
        about = event.item("involvedObject")
        return (about.text("kind"), about.text("namespace"), about.text("name")) == (
            "DaemonSet",
            daemonset.namespace,
            daemonset.name,
        )

    try:
        return [event.text("message") for event in view.cluster.events if of_it(event)]
    except Missing:
        return []
