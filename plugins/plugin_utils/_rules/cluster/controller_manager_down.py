# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No controller manager works.

## What it means
The controller manager gives new nodes their pod range. While none works, everything goes on as it is, but a node that
joins gets no pod CIDR, and no Deployment or DaemonSet changes.

## How it looks
Only new nodes fail, with `pod cidr not assigned`. The controller manager's log ends with `Must specify --cluster-cidr
if --allocate-node-cidrs is set`, `Invalid --cluster-cidr`, or, after a change of the range, `failed to mark cidr ...
as occupied`.

## What looks like it but is not
- One of several that is down: another holds the lease, a warning.
- The range is used up: see `capacity-too-small`. Its flags give no range: see `pod-cidr-missing`.
- A control plane that is not in pods (k3s, a managed one): nothing is told about it.

## How it is told
The mirror pods of kube-controller-manager on the control planes, and hosts with its static pod file, or the API
server's, without one.

## Mend
Read its log (`crictl logs`), correct the flags in ClusterConfiguration and the static pod file, which
podnet.kubeadm.site renders from one variable.

## Prevent
Change ranges in one place only.

## Sources
- kubernetes issues 50305, 75461
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="No controller manager works",
    severity="error",
    needs=("cluster.pods",),
    remedy="Run crictl logs of kube-controller-manager on a control plane; correct its flags with podnet.kubeadm.site.",
    explains=("node-cidr-unassigned",),
    rank=30,
)

COMPONENT = "kube-controller-manager"


def check_cluster(view: View) -> Iterator[Found]:
    pods = [pod for pod in view.cluster.pods if pod.labels.get("component") == COMPONENT]
    by_node = {view.place(pod.node_name): pod for pod in pods}
    if view.cluster.has("manifests"):
        absent = [
            host
            for host, files in view.cluster.manifests.items()
            if files.keys() & {f"{COMPONENT}.yaml", "kube-apiserver.yaml"} and view.place(host) not in by_node
        ]
    else:
        absent = []
    broken = [name for name, pod in by_node.items() if not pod.ready]
    down = [*broken, *absent]
    if not down:
        return
    works = len(by_node) - len(broken)
    logs = {name: view.cluster.pod_log(by_node[name]).strip()[-300:] for name in broken}
    yield Found(
        "the controller manager does not work" + (", another one does" if works else ""),
        {"waiting": {name: by_node[name].waiting for name in broken}, "no pod": absent, "end of log": logs},
        where=tuple(down) if works else ("cluster", *down),
        severity="warning" if works else None,
    )
