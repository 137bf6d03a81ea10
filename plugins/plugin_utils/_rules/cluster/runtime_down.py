# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The container runtime does not run.

## What it means
containerd or CRI-O is stopped. Running containers and their traffic go on; no pod starts or ends, and the node becomes
NotReady within seconds.

## How it looks
`container runtime is down`; the kubelet logs `Container runtime sanity check failed` and `connect: no such file or
directory` for the socket, and stays active.

## What looks like it but is not
- The runtime runs and its CRI plugin is disabled: see `cri-disabled`.
- Docker is stopped on a node that uses containerd; another runtime's unit that is not there.
- A runtime that is not installed or not started yet on a host before the cluster is built; one that failed there is a
  warning.

## How it is told
The unit of the runtime that the kubelet uses; without evidence of the host, the Node's Ready condition.

## Mend
`journalctl -u containerd -n 50` says why; then `systemctl enable --now containerd`.

## Prevent
Units enabled, configuration checked before it is put in place: the role containerd does both.

## Sources
- tried: NotReady 10 to 41 s after the stop, Ready 9 s after the start, no pod lost
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._said import heard
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The container runtime does not run",
    severity="error",
    needs=("nodes.units",),
    remedy="Run journalctl -u containerd -n 50 on the host; systemctl enable --now containerd once it is mended.",
    repair="containerd:main",
    explains=("kubelet-down", "service-path-broken"),
    rank=40,
)

UNITS = {"containerd": "containerd", "cri-o": "crio", "crio": "crio", "docker": "docker", "cri-dockerd": "docker"}
"""Runtime as the evidence names it, and its systemd unit."""
SOCKETS = {"containerd.sock": "containerd", "crio.sock": "crio", "cri-dockerd.sock": "docker"}
DOWN = "container runtime is down"
UNANSWERED = re.compile(
    r"dial unix \S*/(containerd|crio|cri-dockerd)\.sock: connect: (no such file or directory|connection refused)"
)
STOPPED = ("inactive", "failed", "activating", "deactivating")


def check_node(node: Host, view: View) -> Iterator[Found]:
    name = _unit(node, view)
    unit = node.unit(name)
    installed = unit.text("enabled") not in ("", "not-found")
    if view.stage != "cluster":
        if installed and unit.text("active") == "failed":
            yield Found(f"{name} failed", {"unit": "failed"}, severity="warning")
        return
    if installed and unit.text("active") in STOPPED:
        yield Found(f"{name} does not run", {"unit": unit.text("active")})
        return
    if not unit and (words := heard(view, node, UNANSWERED)):
        yield Found(f"{name} does not run", {"said": words})
        return
    own = view.kube_node(node)
    said = own.condition("Ready").text("message") if own else ""
    if DOWN in said:
        yield Found("the container runtime does not answer", {"Ready": said})


def check_cluster(view: View) -> Iterator[Found]:
    """Nodes of which there is no evidence from the host."""
    said = {
        view.place(node.name): message
        for node in view.cluster.nodes
        if DOWN in (message := node.condition("Ready").text("message")) and view.place(node.name) not in view.nodes
    }
    if said:
        yield Found("the container runtime is down", {"Ready": sorted(set(said.values()))[:3]}, where=tuple(said))


def _unit(node: Host, view: View) -> str:
    """The unit of the runtime that the kubelet uses: as the runtime says, as the kubelet is told, as the Node says."""
    if node.has("runtime") and (name := node.runtime.text("name")):
        return UNITS.get(name, name)
    endpoint = node.kubelet_config.text("containerRuntimeEndpoint") if node.has("kubelet_config") else ""
    if unit := SOCKETS.get(endpoint.rpartition("/")[2]):
        return unit
    own = view.kube_node(node) if view.stage == "cluster" else None
    name = own.text("status", "nodeInfo", "containerRuntimeVersion").partition(":")[0] if own else ""
    if not name:
        raise Missing(f"{node.path}.runtime")
    return UNITS.get(name, name)
