# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host has too little memory.

## What it means
A control plane needs 1700 MiB, which kubeadm checks; with less, etcd and the API server push each other out. A worker
has room for the kubelet, the runtime and flannel, and for next to no pods, below 700 MiB.

## How it looks
`kubeadm init` stops at the check "Mem". Started nevertheless, containers of the control plane are killed and restarted.

## What looks like it but is not
- Memory is what the kernel has, which is less than what the machine was given.
- A member of a running cluster is not judged by it: there, pods that are killed tell.

## Mend
Give the host more memory. To go on nevertheless, add `memory-low` to `cluster_accept_findings`, and `Mem` to the checks
that kubeadm ignores.

## Prevent
2 GiB for a control plane node, 1 GiB for a worker, and what the pods need on top.

## Sources
- kubernetes/kubeadm, preflight check Mem: 1700 MB for a control plane
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

LEAST_MIB = {"control plane": 1700, "worker": 700}

RULE = Rule(
    title="Too little memory",
    severity="error",
    needs=("nodes.memory_mib", "nodes.roles"),
    remedy="Give the host more memory, or accept it with memory-low in cluster_accept_findings.",
    rank=40,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.stage == "cluster":
        return
    role = "control plane" if "control_plane" in node.roles else "worker"
    if node.memory_mib < LEAST_MIB[role]:
        summary = f"a {role} node needs {LEAST_MIB[role]} MiB of memory"
        yield Found(summary, {"memory_mib": node.memory_mib, "needed": LEAST_MIB[role]})
