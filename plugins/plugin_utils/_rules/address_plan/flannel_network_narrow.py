# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's Network is only a part of the pod range.

## What it means
Someone put one node's range, or a smaller range, where the whole pod range belongs. Nodes whose range lies inside
get a lease, all others do not; and traffic to pods outside of Network is masqueraded, as if it left the cluster.

## How it looks
Flannel runs on one node or on some and restarts on the others: `subnet "10.244.0.0/24" specified in the flannel net
config doesn't contain "10.244.1.0/24" PodCIDR`.

## What looks like it but is not
- A node's /24 in `spec.podCIDR` is its share of the /16 and right so.
- A Network beside the pod range: see `flannel-network-mismatch`.

## Mend
Set Network to the cluster's pod range and roll the DaemonSet. Nothing has to be deleted.

## Prevent
One variable, `cluster_pod_cidr`.

## Sources
- flannel `pkg/subnet/kube/kube.go`, AcquireLease; flannel issue 1224
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._net import Network, contains
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's network is only a part of the pod range",
    severity="error",
    needs=("cluster.flannel_config", "cluster.nodes"),
    remedy="Run podnet.kubeadm.repair: it sets flannel's Network to the cluster's pod range and rolls the DaemonSet.",
    repair="flannel:rolled_out",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing"),
    rank=12,
)


def check_intent(view: View) -> Iterator[Found]:
    if view.intent.has_net_conf:
        yield from _narrow(view.intent.net_conf.networks, list(view.plan.pod))


def check_cluster(view: View) -> Iterator[Found]:
    yield from _narrow(view.cluster.net_conf.networks, view.pod_networks)


def _narrow(flannel: list[Network], pod: list[Network]) -> Iterator[Found]:
    for network in flannel:
        for one in pod:
            if one != network and contains(one, network):
                compared = {"net-conf.json": str(network), "pod range": str(one)}
                yield Found(f"{network} in flannel's net-conf.json is only a part of the pod range {one}", compared)
