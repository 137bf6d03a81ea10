# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's Network does not contain the nodes' pod ranges.

## What it means
Two numbers have to agree and come from two files: the pod range that kubeadm gives to the controller manager, and
`Network` in flannel's net-conf.json (10.244.0.0/16 in upstream's manifest). flanneld takes a lease for its node's
`spec.podCIDR` only where Network contains it.

## How it looks
Flannel's pods restart with `subnet "10.244.0.0/16" specified in the flannel net config doesn't contain "10.42.0.0/24"
PodCIDR of the "n1" node`. New pods stay in ContainerCreating: `/run/flannel/subnet.env: no such file or directory`.
Where only the configuration was changed, all is well until flannel's next restart: at the next reboot.

## What looks like it but is not
- Host bits in Network (10.244.5.0/16): flanneld masks them, see `cidr-host-bits`.
- A node without any pod CIDR (`pod cidr not assigned`): see `pod-cidr-missing`.
- IPv6 ranges against IPv6Network: see `flannel-ipv6-mismatch`. A Network that is a part of the pod range:
  see `flannel-network-narrow`.

## Mend
Set flannel's Network to the cluster's pod range, roll the DaemonSet, then re-create pods that were started under the
old range. Do not delete nodes, do not write subnet.env by hand, do not patch a node's podCIDR.

## Prevent
One variable, `cluster_pod_cidr`: the collection renders both numbers from it.

## Sources
- flannel `pkg/subnet/kube/kube.go`, AcquireLease; flannel issues 1983, 1607, 1428
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._net import Network, contains, covered
from ..._evidence._said import places, told
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's network is not the cluster's pod range",
    severity="error",
    needs=("cluster.flannel_config", "cluster.nodes"),
    remedy="Run podnet.kubeadm.repair: it sets flannel's Network to the cluster's pod range and rolls the DaemonSet.",
    repair="flannel:rolled_out",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing", "flannel-restart-pending"),
    rank=10,
)

_SAID = re.compile(
    r'subnet \\*"(?P<network>[^"\\]+)\\*" specified in the flannel net config doesn\'t contain '
    r'\\*"(?P<range>[^"\\]+)\\*" PodCIDR of the'
)
"""flanneld's own words, for a cluster whose configuration or nodes were not looked at."""


def check_intent(view: View) -> Iterator[Found]:
    if not view.intent.has_net_conf:
        return
    network = _ipv4(view.intent.net_conf.networks)
    pod = _ipv4(list(view.plan.pod))
    if network and pod and not contains(network, pod) and not contains(pod, network):
        compared = {"net-conf.json Network": str(network), "pod range": str(pod)}
        yield Found(f"Network {network} in net-conf.json does not contain the pod range {pod}", compared)


def check_cluster(view: View) -> Iterator[Found]:
    try:
        yield from _compare(view)
    except Missing:
        said = told(view, _SAID)
        if not said:
            raise
        networks = sorted({one["network"] for one in said.values()})
        compared = {"Network": networks, "pod ranges of nodes": {name: one["range"] for name, one in said.items()}}
        text = f"flannel says that its Network {', '.join(networks)} does not contain the node's pod range"
        yield Found(text, compared, where=places(said))


def _compare(view: View) -> Iterator[Found]:
    network = _ipv4(view.cluster.net_conf.networks)
    if network is None:
        return
    outside = {
        node.name: str(one)
        for node in view.cluster.nodes
        for one in node.pod_networks
        if one.version == 4 and not contains(network, one)
    }
    running = _ipv4(view.cluster.allocated_networks())
    pod = _ipv4(view.pod_networks)
    if pod and running and covered(running, [network]) and not covered(pod, [network]):
        pod = running  # kubeadm-config says otherwise than what runs: see pod-cidr-lost
    if outside and not (pod and contains(pod, network)):
        compared = {"net-conf.json Network": str(network), "pod ranges of nodes": outside}
        yield Found(f"Network {network} in flannel's net-conf.json does not contain every node's pod range", compared)
    elif pod and not covered(pod, [network]) and not contains(pod, network):
        compared = {"net-conf.json Network": str(network), "pod range": str(pod)}
        yield Found(f"Network {network} in flannel's net-conf.json is not the cluster's pod range {pod}", compared)


def _ipv4(networks: list[Network]) -> Network | None:
    return next((one for one in networks if one.version == 4), None)
