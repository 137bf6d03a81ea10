# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The runtime's sandbox image is not the one that this Kubernetes release uses.

## What it means
Every pod begins with a sandbox of the pause image that the *runtime's* configuration names. kubeadm pulls and mirrors
the version that belongs to its release. Another version is pulled from wherever it is named, which fails without
internet access or from a registry that is gone.

## How it looks
kubeadm warns: `detected that the sandbox image "registry.k8s.io/pause:3.8" of the container runtime is inconsistent
with that used by kubeadm`. Without the image: `failed to get sandbox image "k8s.gcr.io/pause:3.5": failed to pull`,
and every pod of the node stays in ContainerCreating.

## What looks like it but is not
- An empty name in kubeadm's warning: it asked a runtime that does not tell; what counts is the value in effect.
- A mirror's name before the right version, or a newer version than kubeadm's.

## Mend
`sandbox_image` (containerd 1) or `pinned_images.sandbox` (containerd 2) to registry.k8s.io/pause of the release,
restart containerd. podnet.kubeadm.site writes it (`containerd_sandbox_image`).

## Prevent
The role containerd derives the image from `cluster_kubernetes_version`.

## Sources
- kubernetes/kubeadm issue 2020; kubernetes `cmd/kubeadm/app/constants`, PauseVersion; kubernetes blog, "k8s.gcr.io
  image registry will be frozen"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import kubernetes_version
from ..._evidence._host import Host
from ..._evidence._said import said_on
from ..._evidence._versions import Version, image_name, image_tag, version
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The sandbox image is of another release",
    severity="warning",
    needs=("nodes.runtime", "nodes.kubeadm_version"),
    remedy=(
        "Run podnet.kubeadm.site, which sets containerd_sandbox_image, or set it in the runtime and restart the "
        "runtime."
    ),
    repair="containerd:main",
    explains=("image-unavailable",),
    rank=50,
)

_PAUSE = {22: "3.5", 23: "3.6", 24: "3.7", 25: "3.8", 26: "3.9", 31: "3.10", 34: "3.10.1", 36: "3.10.2"}
"""kubeadm's pause version by minor release; a minor that is not listed has that of the one before it."""
_NEWEST = 37
_FAILED = re.compile(r"failed to get sandbox image|failed to pull (and unpack )?image \"\S*/pause", re.IGNORECASE)
_GONE = ("k8s.gcr.io/", "gcr.io/google_containers/")


def check_node(node: Host, view: View) -> Iterator[Found]:
    image = node.runtime.text("sandbox_image")
    wanted = _wanted(kubernetes_version(view, node))
    said = next((line.strip() for line in said_on(view, node) if _FAILED.search(line)), "")
    if said and (not image or image.rpartition(":")[0] in said):
        yield Found("the sandbox image cannot be had", {"sandbox_image": image, "said": said[-300:]}, severity="error")
    elif image.startswith(_GONE):
        yield Found(f"the sandbox image {image} is from a registry that is no longer kept", {"sandbox_image": image})
    elif image_name(image).startswith("pause") and wanted and _older(image_tag(image), wanted):
        compared = {"sandbox_image": image, "kubeadm": f"registry.k8s.io/pause:{wanted}"}
        yield Found(f"the sandbox image is {image}, kubeadm uses pause:{wanted}", compared)


def _older(tag: str, wanted: str) -> bool:
    """A newer image than kubeadm's does as well; a tag that is no version says nothing."""
    have, want = version(tag), version(wanted)
    return have is not None and want is not None and have < want


def _wanted(release: Version | None) -> str:
    if release is None or release.major != 1 or not min(_PAUSE) <= release.minor <= _NEWEST:
        return ""
    return _PAUSE[max(minor for minor in _PAUSE if minor <= release.minor)]
