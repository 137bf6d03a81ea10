# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An image of the cluster's network cannot be had.

## What it means
The container runtime of a node cannot get, or cannot use, an image of flannel, kube-proxy, CoreDNS, a control plane
component or the sandbox: the registry does not have the tag, answers with an error or a limit, cannot be reached, or
what lies in the runtime's store is incomplete or in another runtime's store.

## How it looks
ErrImagePull, ImagePullBackOff, ErrImageNeverPull; `failed to get sandbox image`; CreateContainerError with `content
digest ...: not found`; `kubeadm init` stops at the check ImagePull. The node stays NotReady.

## What looks like it but is not
- An application's image that cannot be pulled: not the network's business, nothing is reported.
- `no match for platform in manifest`: see `image-wrong-arch`.
- The runtime's sandbox image is another than kubeadm's: see `sandbox-image-mismatch`.
- A pull that is under way (ContainerCreating, PodInitializing).

## How it is told
Waiting reasons of the containers of flannel, kube-proxy, CoreDNS and the control plane; repeated events about the
sandbox image; the words of kubeadm.

## Mend
Look at the message: a tag that does not exist wants another `flannel_version`; a registry that cannot be reached
wants a mirror (`flannel_image`, `containerd_registry_mirrors`) or `crictl pull` of what was loaded into another
runtime.

## Prevent
Versions that were released together, a mirror for every registry, images pulled before they are needed.

## Sources
- flannel issues 1482, 1639, 1294, 2161, 1792
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._item import Item
from ..._evidence._kube import Pod
from ..._evidence._said import told
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="An image of the cluster's network cannot be had",
    severity="error",
    needs=("nodes.kubeadm_output",),
    remedy="Correct the tag (flannel_version, cluster_kubernetes_version) or name a registry that has it "
    "(flannel_image, containerd_registry_mirrors), then run podnet.kubeadm.site.",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing", "cni-plugin-missing"),
    rank=20,
)

PULL = ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable")
CREATE = ("CreateContainerError", "ImageInspectError")
BROKEN_STORE = re.compile(r"error unpacking image|failed to extract layer|content digest \S+ not found", re.I)
OTHER_PLATFORM = re.compile(r"no match for platform|no matching manifest|exec format error", re.I)
SANDBOX = re.compile(r'failed to (?:get|pull) sandbox image "(?P<image>[^"]+)"')
PULLED = re.compile(r'Failed to pull image "(?P<image>[^"]+)"')
NETWORKS = re.compile(r"/(?:mirrored-)?(?:flannel|flannelcni)\b|flannel-cni|/kube-proxy|/coredns|/pause")
KUBEADM = re.compile(r"\[ERROR ImagePull\]: failed to pull image \"?(?P<image>[^\s\"]+?)\"?:?(?=\s|$)")


def check_node(node: Host, view: View) -> Iterator[Found]:
    if node.has("kubeadm_output") and view.stage != "cluster":
        for match in KUBEADM.finditer(node.kubeadm_output):
            yield Found(f"kubeadm could not pull {match['image']}", {"kubeadm": match[0]})


def check_cluster(view: View) -> Iterator[Found]:
    failing: dict[tuple[str, str], dict[str, str]] = {}
    for pod in view.cluster.network_pods if view.cluster.has("pods") or not view.cluster.has("events") else []:
        for status in pod.statuses:
            reason, message = _failure(status)
            if reason and not OTHER_PLATFORM.search(message):
                image = _image(pod, status)
                failing.setdefault((image, reason), {})[view.place(pod.node_name)] = message
    named = {image for image, _reason in failing}
    for image, place, message in _said_by_events(view):
        if image not in named:
            failing.setdefault((image, ""), {})[place] = message
    for (image, _reason), messages in _last_reason(failing).items():
        yield Found(
            f"the image {image} cannot be had",
            {"messages": sorted(set(messages.values()))[:3]},
            where=tuple(messages),
        )
    yield from _sandbox_images(view)


def _said_by_events(view: View) -> Iterator[tuple[str, str, str]]:
    """Images of pods that are not ready, by the kubelet's events: a container that waits for another says nothing."""
    if not view.cluster.has("pods"):
        for place, said in told(view, PULLED).items():
            if NETWORKS.search(said["image"]) and not OTHER_PLATFORM.search(said.string):
                yield said["image"], place, said.string
        return
    waiting = {(pod.namespace, pod.name): pod.node_name for pod in view.cluster.network_pods if not pod.ready}
    for event in view.cluster.events if view.cluster.has("events") else []:
        about = event.text("involvedObject", "namespace"), event.text("involvedObject", "name")
        match, message = PULLED.search(event.text("message")), event.text("message")
        if match and about in waiting and not OTHER_PLATFORM.search(message):
            yield match["image"], view.place(waiting[about]), message


def _failure(status: Item) -> tuple[str, str]:
    """Reason and message of a container that waits for its image, or two empty texts."""
    waiting = status.item("state", "waiting")
    reason, message = waiting.text("reason"), waiting.text("message")
    if reason in PULL or (reason in CREATE and BROKEN_STORE.search(message)):
        return reason, message or reason
    return "", ""


def _image(pod: Pod, status: Item) -> str:
    named = (one.text("image") for one in pod.containers if one.text("name") == status.text("name"))
    return next(named, "") or status.text("image")


def _last_reason(failing: dict[tuple[str, str], dict[str, str]]) -> dict[tuple[str, str], dict[str, str]]:
    """One entry for each image: ErrImagePull and ImagePullBackOff take turns."""
    merged: dict[tuple[str, str], dict[str, str]] = {}
    for (image, _reason), messages in failing.items():
        merged.setdefault((image, ""), {}).update(messages)
    return merged


def _sandbox_images(view: View) -> Iterator[Found]:
    """Sandbox images that could not be had, of pods that still wait."""
    if not view.cluster.has("events"):
        return
    every = view.cluster.pods if view.cluster.has("pods") else []
    waiting = {(pod.namespace, pod.name): pod.node_name for pod in every if pod.phase == "Pending"}
    found: dict[str, dict[str, str]] = {}
    for event in view.cluster.events:
        about = (event.text("involvedObject", "namespace"), event.text("involvedObject", "name"))
        match = SANDBOX.search(event.text("message"))
        if match and about in waiting and (event.number("count") or 1) > 1:
            found.setdefault(match["image"], {})[view.place(waiting[about])] = event.text("message")
    for image, messages in found.items():
        yield Found(
            f"the sandbox image {image} cannot be had",
            {"messages": sorted(set(messages.values()))[:3]},
            tuple(messages),
        )
