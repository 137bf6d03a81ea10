# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel is killed for its memory.

## What it means
Manifests up to v0.13 limit flannel to 50 MiB, which a cluster of some size, or a firewall of some length, exceeds.
The kernel kills flanneld, and its node keeps the routes of that moment.

## How it looks
Restarts with `OOMKilled`, exit code 137, often just after `Running backend`; or `fork/exec /sbin/iptables: cannot
allocate memory` in flannel's log.

## What looks like it but is not
- Exit code 137 with another reason: a failed liveness probe or a deleted pod.
- One such restart long ago with flannel ready since: a warning.
- A limit that is high enough, or none (upstream sets only requests).

## How it is told
State and last state of flannel's containers, and their memory limit.

## Mend
Take the limit out, or set it to 128 MiB or more: podnet.kubeadm.site applies a manifest without one.

## Prevent
No limit on memory for the network's DaemonSet; `flannel_resources` where a policy wants one.

## Sources
- flannel issues 963, 1124, 1415
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._item import Item
from ..._evidence._kube import Pod
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel is killed for its memory",
    severity="error",
    needs=("cluster.pods",),
    remedy="Run podnet.kubeadm.site: its manifest sets no memory limit for flannel.",
    repair="flannel:rolled_out",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing"),
    rank=20,
)

REFUSED = re.compile(r"cannot allocate memory", re.IGNORECASE)
"""What flanneld says where the limit is met by one of its iptables."""


def check_cluster(view: View) -> Iterator[Found]:
    killed: dict[tuple[str, bool], list[str]] = {}
    for pod in view.cluster.flannel_pods:
        for status in pod.items("status", "containerStatuses"):
            if _killed(status):
                key = (_limit(pod, status.text("name")), pod.ready)
                killed.setdefault(key, []).append(view.place(pod.node_name))
        if not pod.ready and not any(map(_killed, pod.statuses)) and REFUSED.search(view.cluster.pod_log(pod)):
            killed.setdefault((_limit(pod, "kube-flannel"), False), []).append(view.place(pod.node_name))
    for (limit, ready), nodes in killed.items():
        yield Found(
            f"flannel was killed for its memory (OOMKilled), {'its limit is ' + limit if limit else 'it has no limit'}",
            {"reason": "OOMKilled", "memory limit": limit or None, "ready now": ready},
            where=tuple(nodes),
            severity="warning" if ready else None,
        )


def _killed(status: Item) -> bool:
    return any(status.text(state, "terminated", "reason") == "OOMKilled" for state in ("state", "lastState"))


def _limit(pod: Pod, name: str) -> str:
    for one in pod.containers:
        if one.text("name") == name:
            return one.text("resources", "limits", "memory")
    return ""
