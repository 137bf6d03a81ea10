# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An image is for another architecture than its node.

## What it means
A manifest from before multi-architecture images names `flannel:v0.11.0-amd64` for every node, or a mirror copied only
one architecture, or an image was loaded from another machine.

## How it looks
`exec format error` in the log and CrashLoopBackOff, or `no match for platform in manifest` while pulling.

## What looks like it but is not
- A DaemonSet for each architecture, kept apart by its selector, as long as there is one for every node.
- A tag without an architecture: it stands for all of them.
- An application's image: not the network's business.

## How it is told
Log and waiting message of flannel, kube-proxy and CoreDNS; the architecture in an image's tag against that of the nodes
which the DaemonSet selects.

## Mend
Use the multi-architecture image: podnet.kubeadm.site sets it. Let a mirror copy all platforms.

## Prevent
`flannel_version` instead of an old manifest.

## Sources
- flannel's manifests up to v0.11; containerd, "no match for platform in manifest"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._kube import KubeNode
from ..._evidence._scheduling import selects
from ..._evidence._versions import image_tag
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="An image is for another architecture than its node",
    severity="error",
    needs=("cluster.pods",),
    remedy="Run podnet.kubeadm.site: it uses images that are built for every architecture.",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing", "cni-plugin-missing"),
    rank=20,
)

SIGNS = re.compile(r"exec format error|no match for platform in manifest|no matching manifest for linux/\S+", re.I)
ARCHITECTURES = ("amd64", "arm64", "arm", "ppc64le", "s390x", "riscv64", "386")


def check_cluster(view: View) -> Iterator[Found]:
    told: dict[str, list[str]] = {}
    for pod in view.cluster.network_pods:
        if pod.ready:
            continue
        said = [status.text("state", "waiting", "message") for status in pod.statuses]
        said += [status.text("lastState", "terminated", "message") for status in pod.statuses]
        match = SIGNS.search("\n".join([*said, view.cluster.pod_log(pod)]))
        if match:
            told.setdefault(match[0], []).append(view.place(pod.node_name))
    for sign, nodes in told.items():
        yield Found(f"an image does not run on its node's architecture: {sign}", {"sign": sign}, where=tuple(nodes))
    if not told and view.cluster.has("daemonsets") and view.cluster.has("nodes"):
        yield from _by_tag(view)


def _by_tag(view: View) -> Iterator[Found]:
    yield from _left_out(view)
    for daemonset in view.cluster.flannel_daemonsets:
        for image in daemonset.images:
            built = image_tag(image).rpartition("-")[2]
            if built not in ARCHITECTURES:
                continue
            others = [
                view.place(node.name)
                for node in view.cluster.nodes
                if selects(daemonset.pod_spec, node)
                and node.text("status", "nodeInfo", "architecture") not in ("", built)
            ]
            if others:
                compared = {"image": image, "DaemonSet": f"{daemonset.namespace}/{daemonset.name}"}
                yield Found(f"the image {image} is for {built}, the node is not", compared, where=tuple(others))


def _left_out(view: View) -> Iterator[Found]:
    """Nodes that every flannel's selector leaves out for their architecture alone."""
    flannels = view.cluster.flannel_daemonsets
    served = view.cluster.flannel_pods_by_node
    left_out: dict[str, list[str]] = {}
    for node in view.cluster.nodes:
        built = node.text("status", "nodeInfo", "architecture")
        if node.name in served or not built or node.text("status", "nodeInfo", "operatingSystem") == "windows":
            continue
        if not any(selects(one.pod_spec, node) for one in flannels) and any(
            selects(one.pod_spec, _as(node, architecture)) for one in flannels for architecture in ARCHITECTURES
        ):
            left_out.setdefault(built, []).append(view.place(node.name))
    for built, nodes in left_out.items():
        names = [f"{one.namespace}/{one.name}" for one in flannels]
        yield Found(f"no flannel DaemonSet is for {built}", {"DaemonSets": names}, where=tuple(nodes))


def _as(node: KubeNode, architecture: str) -> KubeNode:
    """The node as it would be with another architecture."""
    labels = {**node.labels, "kubernetes.io/arch": architecture, "beta.kubernetes.io/arch": architecture}
    return KubeNode({**node.raw, "metadata": {**node.item("metadata").raw, "labels": labels}})
