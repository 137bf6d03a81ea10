# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Versions of one cluster that do not fit each other.

## What it means
A kubelet and a kube-proxy may be up to three minor versions older than the API server (two before 1.28), never newer;
controller manager and scheduler one; API servers of one cluster differ by one at most. kubeadm builds its own minor
version and the one before it.

## How it looks
A node registers and misbehaves, or never becomes Ready; kubeadm refuses (`kubelet version is higher than the control
plane version`). Often an unheld package was upgraded with the system.

## What looks like it but is not
- Patch versions differ, or a kubelet is older within the limit: an upgrade in progress, nothing is reported.
- A kubeadm one minor version newer than the cluster: the first step of an upgrade.
- All of it is old: see `version-unsupported`. Packages that are not held: see `package-not-held`.

## How it is told
The API server's version against every Node's kubelet and the images of control plane and kube-proxy; before the cluster
is built, the version asked for against kubelet and kubeadm on each host.

## Mend
Bring the newer one back (`apt install kubelet=...`, held), or upgrade the control plane first: `kubeadm upgrade plan`.

## Prevent
Packages on hold: the role kubernetes_packages pins and holds them.

## Sources
- kubernetes.io/releases/version-skew-policy; flannel issue 1076
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._versions import Version, image_name, image_version, version
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Versions of one cluster that do not fit each other",
    severity="error",
    needs=("nodes.kubelet_version", "intent.kubernetes_version"),
    remedy="Upgrade the control plane first (kubeadm upgrade plan tells how), or install the kubelet of its version "
    "and hold it, as the role kubernetes_packages does.",
    explains=("package-not-held",),
    rank=15,
)

CONTROL_PLANE = ("kube-controller-manager", "kube-scheduler")


def oldest_kubelet(server: Version) -> int:
    """How many minor versions a kubelet may be older than the API server."""
    return 3 if server.minor >= 28 else 2


def check_node(node: Host, view: View) -> Iterator[Found]:
    """Of a host that is no member yet: what is installed against what is asked for, or against the running cluster."""
    if view.stage == "cluster":
        yield from _joining(node, view)
    if view.stage != "host" or not view.intent.has("kubernetes_version"):
        return
    asked = version(view.intent.kubernetes_version)
    for what, key in (("kubelet", "kubelet_version"), ("kubeadm", "kubeadm_version")):
        installed = version(getattr(node, key)) if node.has(key) else None
        if asked and installed and installed.minor > asked.minor:
            yield Found(
                f"{what} {installed} is installed, newer than the Kubernetes {asked.series} asked for",
                {what: str(installed), "cluster_kubernetes_version": str(asked)},
            )


def _joining(node: Host, view: View) -> Iterator[Found]:
    if view.kube_node(node) is not None or not node.has("kubelet_version"):
        return
    server, kubelet = version(view.cluster.server_version), version(node.kubelet_version)
    kubeadm = version(node.kubeadm_version) if node.has("kubeadm_version") else None
    if server is None:
        return
    relation = _relation(kubelet, server, oldest_kubelet(server))
    if kubelet and relation:
        compared = {"kubelet": str(kubelet), "API server": str(server)}
        yield Found(
            f"kubelet {kubelet} is {relation} the API server {server} allows, so the host cannot join", compared
        )
    elif kubeadm and kubeadm.major == server.major and not 0 <= kubeadm.minor - server.minor <= 1:
        compared = {"kubeadm": str(kubeadm), "API server": str(server)}
        yield Found(f"kubeadm {kubeadm} does not join a cluster of {server}", compared)


def check_cluster(view: View) -> Iterator[Found]:
    server = version(view.cluster.server_version)
    if server is None:
        return
    skewed: dict[tuple[str, Version, str], list[str]] = {}
    for node in view.cluster.nodes:
        kubelet = version(node.text("status", "nodeInfo", "kubeletVersion"))
        relation = _relation(kubelet, server, oldest_kubelet(server))
        if kubelet and relation:
            skewed.setdefault(("kubelet", kubelet, relation), []).append(view.place(node.name))
    for pod in view.cluster.network_pods if view.cluster.has("pods") else []:
        for image in pod.images:
            name = image_name(image)
            limit = oldest_kubelet(server) if name == "kube-proxy" else 1
            running = image_version(image) if name == "kube-proxy" or name in CONTROL_PLANE else None
            relation = _relation(running, server, limit)
            if running and relation:
                skewed.setdefault((name, running, relation), []).append(view.place(pod.node_name))
    for (what, running, relation), nodes in skewed.items():
        yield Found(
            f"{what} {running} is {relation} the API server {server} allows",
            {what: str(running), "API server": str(server)},
            where=tuple(nodes),
        )


def _relation(running: Version | None, server: Version, limit: int) -> str:
    if running is None or running.major != server.major:
        return ""
    if running.minor > server.minor:
        return "newer than"
    return "older than" if server.minor - running.minor > limit else ""
