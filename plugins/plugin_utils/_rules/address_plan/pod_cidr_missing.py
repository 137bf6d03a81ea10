# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No pod range reaches the controller manager, so that no node gets one.

## What it means
kubeadm sets `--allocate-node-cidrs` and `--cluster-cidr` of the controller manager only where it is told a pod range.
Without, no node gets a `spec.podCIDR`, and flannel has nothing to lease.

## How it looks
Flannel's pods restart with `node "n1" pod cidr not assigned`. Nodes can be Ready all the same where an old CNI
configuration is in place; pods stay in ContainerCreating.

## What looks like it but is not
- Nodes that have ranges while the configuration names none any more: see `pod-cidr-lost`.
- Some nodes without a range: see `node-cidr-unassigned`.
- The range in a key that kubeadm ignores: see `kubeadm-config-unknown-key`.

## Mend
Before: set `cluster_pod_cidr`, or `networking.podSubnet` in your own file. On a running cluster: put the range into
kubeadm-config, both flags into the controller managers' static pods, and clusterCIDR into kube-proxy's configuration;
the controller manager then fills the empty nodes. Do not patch the range into nodes.

## Prevent
`cluster_pod_cidr` is required by construction: no template renders without it.

## Sources
- flannel issues 728, 1344, 1558; `pkg/subnet/kube/kube.go`
- kubernetes `cmd/kubeadm/app/phases/controlplane/manifests.go`
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found, Malformed, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="No pod range reaches the nodes",
    severity="error",
    needs=("cluster.nodes",),
    remedy="Set cluster_pod_cidr (kubeadm's networking.podSubnet) before kubeadm init; on a running cluster give the "
    "range to kubeadm-config, the controller managers (--allocate-node-cidrs=true, --cluster-cidr) and kube-proxy.",
    repair="control_plane:node_ranges",
    explains=(
        "node-cidr-unassigned",
        "kube-proxy-cluster-cidr",
        "flannel-link-missing",
        "flannel-rules-missing",
        "route-missing",
    ),
    rank=10,
)


def check_intent(view: View) -> Iterator[Found]:
    if view.intent.pod_texts or not view.intent.raw.keys() - {"unknown_variables", "invalid_variables"}:
        return
    if view.intent.has("kubeadm_config") and view.intent.kubeadm_file.unreadable:
        raise Malformed("intent.kubeadm_config", view.intent.kubeadm_file.unreadable)
    if view.stage == "intent":
        yield Found("the plan names no pod range", {"pod range": None})


def check_cluster(view: View) -> Iterator[Found]:
    nodes = view.cluster.nodes
    if not nodes or any(node.pod_cidr_texts for node in nodes):
        return
    compared = {"nodes without a pod range": len(nodes), **_told(view)}
    if compared.get("--allocate-node-cidrs") != "true" or not compared.get("--cluster-cidr"):
        yield Found("no node has a pod range and the controller manager is told to give none", compared)


def _told(view: View) -> dict[str, str | None]:
    try:
        flags = next(iter(view.cluster.component_flags("controller-manager").values()))
    except Missing:
        pod = view.cluster.kubeadm_config.text("networking", "podSubnet")
        return {
            "kubeadm-config podSubnet": pod or None,
            "--allocate-node-cidrs": "true" if pod else None,
            "--cluster-cidr": pod,
        }
    return {f"--{name}": flags.get(name) for name in ("allocate-node-cidrs", "cluster-cidr")}
