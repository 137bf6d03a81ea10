# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The address of cluster DNS is not in the service range.

## What it means
Pods are told to ask an address that no service can have, so that no name resolves.

## How it looks
Pods run, `nslookup kubernetes.default` times out in all of them; CoreDNS is healthy.

## What looks like it but is not
- 169.254.20.10 or another link-local address is NodeLocal DNSCache: not reported.
- CoreDNS that does not run, or a path that drops UDP: see `service-path-broken`, `checksum-offload`.

## Mend
Leave `cluster_dns` empty, or take an address of the service range. On a running cluster: clusterDNS in ConfigMap
kubelet-config and in every host's /var/lib/kubelet/config.yaml, then restart the kubelets one after the other.

## Prevent
Without `cluster_dns` the tenth address of the service range is used, as kubeadm does.

## Sources
- kubernetes `cmd/kubeadm/app/constants/constants.go`, GetDNSIP
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._net import Address, Network, address
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Cluster DNS is outside of the service range",
    severity="error",
    needs=("intent.service_cidr",),
    remedy="Leave cluster_dns empty for the tenth address of the service range, or take another address of it.",
    rank=35,
)


def check_intent(view: View) -> Iterator[Found]:
    for one in view.plan.dns:
        service = [network for network in view.plan.service if one in network]
        compared = {"cluster DNS": str(one), "service range": [str(network) for network in view.plan.service]}
        if not service:
            yield Found(f"cluster DNS {one} is not in the service range", compared)
        elif reserved := _reserved(one, service[0]):
            yield Found(f"cluster DNS {one} is {reserved} of the service range", compared)


def check_cluster(view: View) -> Iterator[Found]:
    yield from _outside(view, list(view.running_plan.dns))


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.stage != "cluster" or not node.has("kubelet_config"):
        return
    told = [one for one in map(address, node.kubelet_config.texts("clusterDNS")) if one is not None]
    cluster = view.cluster.kubelet_config.texts("clusterDNS") if view.cluster.has("kubelet_config") else []
    yield from _outside(view, [one for one in told if str(one) not in cluster])


def _outside(view: View, told: list[Address]) -> Iterator[Found]:
    service = view.cluster.service_networks()
    for one in told:
        if not service or one.is_link_local or one.is_loopback or any(one in network for network in service):
            continue
        if view.cluster.has("services") and str(one) in _service_addresses(view):
            continue
        compared = {"kubelet clusterDNS": str(one), "service range": [str(network) for network in service]}
        yield Found(f"the kubelet's clusterDNS {one} is not in the service range", compared, severity="warning")


def _reserved(one: Address, network: Network) -> str:
    """The network's own address is nobody's, the next is the API server's service."""
    if one == network[0]:
        return "the first address"
    return "the API server's address" if one == network[1] else ""


def _service_addresses(view: View) -> set[str]:
    return {
        text
        for one in view.cluster.services
        for text in (*one.texts("spec", "clusterIPs"), one.text("spec", "clusterIP"))
    }
