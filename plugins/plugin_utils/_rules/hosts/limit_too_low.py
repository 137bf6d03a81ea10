# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A limit of the host is reached, or is too low for the cluster.

## What it means
The connection table, processes, open files or neighbour entries are used up; or the host has fewer CPUs than
kubeadm asks of a control plane (two; for memory see `memory-low`).

## How it looks
Kernel: `nf_conntrack: table full, dropping packet`, `neighbour: arp_cache: neighbor table overflow!`, `cgroup: fork
rejected by pids controller`. Kubelet or runtime: `too many open files`, `resource temporarily unavailable`.
Connections fail at random, under load.

## What looks like it but is not
- `too many open files` with few inotify instances: see `inotify-low`.
- A container host that cannot set nf_conntrack_max: see `sysctl-unwritable`.
- A large number of connections below the limit.

## Mend
Raise what is named: `net.netfilter.nf_conntrack_max` (kube-proxy: `cluster_kube_proxy_config: {conntrack: {min:
...}}`), `net.ipv4.neigh.default.gc_thresh3`, `kernel.pid_max`, LimitNOFILE of the unit; in `host_sysctls`, so that it
is kept.

## Prevent
`host_sysctls` for nodes with much traffic; gc_thresh3 above the number of nodes.

## Sources
- kubernetes documentation, "Installing kubeadm"; kernel documentation, ip-sysctl and nf_conntrack-sysctl
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._item import as_number
from ..._evidence._said import said_on
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from .inotify_low import INOTIFY

RULE = Rule(
    title="A limit is too low",
    severity="error",
    needs=("nodes.journal", "nodes.sysctl"),
    remedy="Raise the limit that is named in host_sysctls and run podnet.kubeadm.site.",
    rank=45,
)

_SIGNS = {
    "the connection table is full (net.netfilter.nf_conntrack_max)": r"nf_conntrack: .*table full",
    "the neighbour table is full (neigh.default.gc_thresh3)": r"(neighbour|neighbor|arp_cache).*table overflow",
    "processes are used up (pids)": r"fork rejected by pids|pthread_create failed|fork/exec .*resource temporarily",
    "open files are used up (LimitNOFILE)": r"too many open files",
}
_INOTIFY_FEW = 1024
_CPUS = 2
"""What kubeadm's check NumCPU asks of a control plane."""


def check_node(node: Host, view: View) -> Iterator[Found]:
    yield from _small(node, view)
    yield from _neighbours(node, view)
    lines = said_on(view, node)
    for summary, pattern in _SIGNS.items():
        said = next((line.strip() for line in lines if re.search(pattern, line, re.IGNORECASE)), "")
        if said and not ("LimitNOFILE" in summary and (_inotify(node) or INOTIFY.search(said))):
            yield Found(summary, {"said": said[-300:]})
    if not lines and not node.has("journal"):
        raise Missing(f"{node.path}.journal")


def _small(node: Host, view: View) -> Iterator[Found]:
    """kubeadm's own check NumCPU, told before it runs."""
    if view.stage != "host" or not node.has("roles") or "control_plane" not in node.roles or not node.has("cpus"):
        return
    if node.cpus < _CPUS:
        summary = f"a control plane with {node.cpus} CPU, kubeadm asks for {_CPUS}"
        yield Found(summary, {"cpus": node.cpus}, severity="warning")


def _neighbours(node: Host, view: View) -> Iterator[Found]:
    """flannel keeps one permanent neighbour entry for each other node."""
    try:
        limit = as_number(node.sysctl.get("net.ipv4.neigh.default.gc_thresh3"))
        nodes = len(view.cluster.nodes)
    except Missing:
        return
    if limit is not None and nodes + 128 > limit:
        summary = f"the neighbour table holds {limit} entries, the cluster has {nodes} nodes"
        yield Found(summary, {"net.ipv4.neigh.default.gc_thresh3": limit, "nodes": nodes}, severity="warning")


def _inotify(node: Host) -> bool:
    try:
        return (node.inotify_limits.number("max_user_instances") or _INOTIFY_FEW) < _INOTIFY_FEW
    except Missing:
        return False
