# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kube-proxy does not know the pod range.

## What it means
kube-proxy tells traffic of pods from other traffic by `clusterCIDR`. Empty, it masquerades nothing that comes from
outside (in ipvs mode, service addresses do not work from nodes); another range, it masquerades pods as if they were
strangers, or strangers not at all.

## How it looks
`Detect-local-mode set to ClusterCIDR, but no cluster CIDR defined` in its log; services work from pods and not from a
node's address, or applications see the node instead of the pod as their client.

## What looks like it but is not
- `detectLocalMode` NodeCIDR, BridgeInterface or InterfaceNamePrefix: clusterCIDR is not used then.
- Host bits, another order of the families, or a clusterCIDR that contains the pod range: an info.
- No pod range at all in the cluster: see `pod-cidr-missing`.

## How it is told
kube-proxy's ConfigMap against the pod ranges that nodes have.

## Mend
Set clusterCIDR in the ConfigMap kube-system/kube-proxy to the pod range, then
`kubectl -n kube-system rollout restart daemonset/kube-proxy`: podnet.kubeadm.repair does both.

## Prevent
kubeadm writes it from podSubnet; set the range before the first init.

## Sources
- kubeadm issue 102; kubernetes issue 60161; kubernetes `cmd/kube-proxy/app`
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._net import covered, networks
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="kube-proxy does not know the pod range",
    severity="warning",
    needs=("cluster.kube_proxy_config", "cluster.nodes"),
    remedy="Run podnet.kubeadm.repair: it sets clusterCIDR to the pod range and restarts kube-proxy.",
    repair="control_plane:kube_proxy",
    explains=("service-path-broken",),
    rank=35,
)


def check_cluster(view: View) -> Iterator[Found]:
    config = view.cluster.kube_proxy_config
    if not config or config.text("detectLocalMode") not in ("", "ClusterCIDR"):
        return
    text, pods = config.text("clusterCIDR"), sorted(view.node_networks, key=str)
    if not pods:
        return
    ranges = networks(text)
    compared = {"clusterCIDR": text, "mode": config.text("mode") or "iptables", "pod ranges of nodes": _few(pods)}
    if not ranges:
        ipvs = config.text("mode") == "ipvs" and config.flag("ipvs", "masqueradeAll") is not True
        severity = "error" if ipvs and config.flag("iptables", "masqueradeAll") is not True else None
        yield Found("kube-proxy's clusterCIDR is empty", compared, severity=severity)
        return
    outside = [one for one in pods if not covered(one, ranges)]
    if outside:
        summary = f"kube-proxy's clusterCIDR {text} does not contain the pod ranges of the nodes"
        yield Found(summary, {**compared, "outside": _few(outside)}, severity="error")


def _few(found: list) -> list[str]:
    return [str(one) for one in found[:10]]
