# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The container runtime does not offer the interface that the kubelet speaks.

## What it means
Docker's package of containerd ships a configuration with `disabled_plugins = ["cri"]`: Docker needs no CRI. kubeadm
and the kubelet find a socket that answers nothing they ask.

## How it looks
`kubeadm init` stops with `[ERROR CRI]: ... validate CRI v1 runtime API for endpoint
"unix:///run/containerd/containerd.sock": ... unknown service runtime.v1.RuntimeService`.

## What looks like it but is not
- containerd without CRI beside another runtime that the kubelet really uses (CRI-O, cri-dockerd).
- The socket is absent or the service is stopped: see `runtime-down`. Two sockets: see `cri-socket-ambiguous`.

## Mend
Take "cri" out of disabled_plugins in /etc/containerd/config.toml and restart containerd; podnet.kubeadm.site writes
the file as the kubelet needs it.

## Prevent
The role containerd owns /etc/containerd/config.toml.

## Sources
- kubernetes documentation, "Container runtimes"; containerd issue 8139; kubernetes/kubeadm issue 2767
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._item import Item
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import joined
from ._runtime import kubelet_socket

RULE = Rule(
    title="The runtime's CRI plugin is off",
    severity="error",
    needs=("nodes.runtime",),
    remedy=(
        "Run podnet.kubeadm.site, which writes /etc/containerd/config.toml, or take cri out of its disabled_plugins."
    ),
    repair="containerd:main",
    explains=("runtime-down", "kubelet-down"),
    rank=20,
)

_UNKNOWN = re.compile(r"unknown service runtime\.v1\w*\.RuntimeService")
_DISABLED = re.compile(r"(?m)^\s*disabled_plugins\s*=\s*\[[^\]]*[\"'](?:io\.containerd\.grpc\.v1\.)?cri[\"']")


def check_node(node: Host, view: View) -> Iterator[Found]:
    runtime = node.runtime if node.has("runtime") or not _words(node) else Item({})
    socket = kubelet_socket(node, view)
    if socket and "containerd" not in socket:
        return  # the kubelet uses another runtime
    name = runtime.text("name") or "containerd"
    said = _words(node)
    off = runtime.flag("cri_disabled")
    if off or (off is None and name == "containerd" and _DISABLED.search(runtime.text("config"))):
        soft = None if joined(node, view) or _UNKNOWN.search(said) else "warning"
        yield Found(f"{name} runs without its CRI plugin", {"disabled": True, "kubeadm": said[-300:]}, severity=soft)
    elif off is None and _UNKNOWN.search(said):
        yield Found("the runtime does not answer CRI", {"said": said[-300:]})
    elif off is None and not runtime:
        raise Missing(f"{node.path}.runtime.cri_disabled")


def _words(node: Host) -> str:
    """What kubeadm said, and a kubelet that does not get past it."""
    said = node.kubeadm_output if node.has("kubeadm_output") else ""
    if node.has("journal") and not (node.has("units") and node.unit_works("kubelet")):
        said += node.journal.get("kubelet", "")
    return said if _UNKNOWN.search(said) else ""
