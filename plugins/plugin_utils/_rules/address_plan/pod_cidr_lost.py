# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The running cluster lost its pod range, or its parts name different ones.

## What it means
The range stands in three places: ConfigMap kubeadm-config, the controller managers' flags, kube-proxy's
configuration. They were rendered once from one number and then edited, or rewritten by an upgrade with a file that
lacks it.

## How it looks
Running nodes go on. A new node gets no range (`pod cidr not assigned`), or one from another range; the next
`kubeadm upgrade` writes what kubeadm-config says.

## What looks like it but is not
- A range that never was there: see `pod-cidr-missing`.
- Only kube-proxy differs: see `kube-proxy-cluster-cidr`. The inventory differs from the cluster, or nodes from the
  controller manager: see `live-cidr-change`.

## Mend
Write the range that the nodes have into kubeadm-config and the controller managers' static pods
(`--allocate-node-cidrs=true`, `--cluster-cidr`), one control plane after the other.

## Prevent
Upgrade from the cluster's own configuration, not from an old file.

## Sources
- kubernetes issue 50305; kubernetes/kubeadm issues on `kubeadm upgrade apply --config`
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._net import networks
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The cluster's parts disagree on the pod range",
    severity="error",
    needs=("cluster.kubeadm_config", "cluster.nodes"),
    remedy="Write the range that the nodes have into ConfigMap kube-system/kubeadm-config and the controller managers' "
    "static pods (--allocate-node-cidrs=true, --cluster-cidr), one control plane after the other.",
    repair="control_plane:node_ranges",
    explains=("node-cidr-unassigned", "kube-proxy-cluster-cidr"),
    rank=10,
)


def check_cluster(view: View) -> Iterator[Found]:
    if not any(node.pod_cidr_texts for node in view.cluster.nodes):
        return
    said: dict[str, str | None] = {
        "kubeadm-config": view.cluster.kubeadm_config.text("networking", "podSubnet") or None
    }
    try:
        for host, flags in view.cluster.component_flags("controller-manager").items():
            allocates = flags.get("allocate-node-cidrs") == "true"
            said[f"controller manager {host}"] = (flags.get("cluster-cidr") or None) if allocates else None
    except Missing:
        pass
    ranges = {frozenset(networks(text or "")) for text in said.values()}
    if len(ranges) > 1:
        missing = [name for name, text in said.items() if not text]
        what = (
            f"{' and '.join(missing)} lost the pod range"
            if missing
            else "the cluster's parts name different pod ranges"
        )
        yield Found(what, said)
    elif ranges == {frozenset()}:
        yield Found("nodes have pod ranges, and the cluster's configuration names none", said)
