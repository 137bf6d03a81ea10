# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""There are several container runtimes and nobody said which one to use.

## What it means
kubeadm looks for the sockets of containerd, CRI-O and cri-dockerd. If it finds more than one and no criSocket is set,
it stops, in init and join as well as in reset and upgrade.

## How it looks
`Found multiple CRI endpoints on the host. Please define which one do you wish to use by setting the 'criSocket'
field`.

## What looks like it but is not
- Docker or Podman beside containerd: neither socket speaks CRI.
- Two sockets and a `criSocket`, or a kubelet that is already told which one.

## Mend
Name the socket: `--cri-socket unix:///run/containerd/containerd.sock` on every kubeadm command, or
`nodeRegistration.criSocket` in its configuration. Or remove the runtime that is not needed.

## Prevent
One runtime on a host.

## Sources
- kubernetes `cmd/kubeadm/app/util/runtime`, DetectCRISocket; kubernetes/kubeadm issue 1978
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View
from ._runtime import kubelet_socket

RULE = Rule(
    title="Several container runtimes, none chosen",
    severity="error",
    needs=("nodes.runtime",),
    remedy="Set nodeRegistration.criSocket to the runtime's socket, or pass --cri-socket to kubeadm.",
    rank=30,
)

_CRI = ("containerd.sock", "crio.sock", "cri-dockerd.sock", "dockershim.sock")


def check_node(node: Host, view: View) -> Iterator[Found]:
    sockets = [one for one in node.runtime.texts("sockets") if one.rpartition("/")[2] in _CRI]
    said = node.kubeadm_output if node.has("kubeadm_output") else ""
    stopped = "multiple CRI endpoints" in said
    if len(set(sockets)) < 2 and not stopped:
        return
    compared = {"sockets": sockets, "kubeadm": said[:300]}
    summary = "several CRI sockets are there, and none is chosen"
    if stopped:
        yield Found(summary, compared)
    elif view.intent.has("cri_socket") or kubelet_socket(node, view):
        return
    else:
        yield Found(summary, compared)
