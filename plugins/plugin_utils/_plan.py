# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The address plan: every address of a cluster, derived from the few that a person sets.

Derives only; whether a plan is possible is judged by the rules of the chapter "Address plan".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._evidence._cluster import Cluster
from ._evidence._intent import Intent
from ._evidence._item import Item, as_number
from ._evidence._net import Address, Network, address, networks
from ._finding import Missing

FAMILY = {4: "ipv4", 6: "ipv6"}
SERVICE_CIDR = "10.96.0.0/12"
"""kubeadm's default (cmd/kubeadm/app/apis/kubeadm/v1beta4/defaults.go, DefaultServicesSubnet)."""
NODE_MASK = {4: 24, 6: 64}
"""The controller manager's defaults (--node-cidr-mask-size-ipv4, -ipv6)."""
MAX_PODS = 110
"""The kubelet's default (maxPods)."""
API_INDEX = 1
"""The API server gives its own service the first address of the first service range (controlplane/services.go)."""
DNS_INDEX = 10
"""kubeadm gives cluster DNS the tenth address of the first service range (constants.GetDNSIP)."""


@dataclass(frozen=True)
class AddressPlan:
    """``pod`` and ``service``: the networks in the order given, host bits masked; ``node_mask``: by IP version."""

    pod: tuple[Network, ...]
    service: tuple[Network, ...]
    node_mask: dict[int, int]
    max_pods: int
    planned_nodes: int | None
    dns: tuple[Address, ...]

    @property
    def versions(self) -> tuple[int, ...]:
        return tuple(one.version for one in self.pod)

    def node_ranges(self, network: Network) -> int:
        """How many nodes the controller manager can give a range of ``network``: 2^(node mask - prefix), 0 where the
        mask does not fit."""
        mask = self.node_mask[network.version]
        return 2 ** (mask - network.prefixlen) if network.prefixlen <= mask <= network.max_prefixlen else 0

    def pods_per_node(self, version: int) -> int:
        """Addresses that host-local can give to pods of a node: without the network's own, the bridge's, and for
        IPv4 the broadcast address (plugins/ipam/host-local/backend/allocator/range.go)."""
        bits = (32 if version == 4 else 128) - self.node_mask[version]
        return max(2**bits - (3 if version == 4 else 2), 0) if bits >= 0 else 0

    def as_dict(self) -> dict[str, Any]:
        """What templates use; see the documentation of the filter ``address_plan``."""
        pod = ",".join(map(str, self.pod))
        by_version = {one.version: one for one in self.pod}
        flannel: dict[str, Any] = {"EnableIPv4": 4 in by_version}
        if 4 in by_version:
            flannel["Network"] = str(by_version[4])
        flannel["EnableIPv6"] = 6 in by_version
        if 6 in by_version:
            flannel["IPv6Network"] = str(by_version[6])
        return {
            "families": [FAMILY[version] for version in self.versions],
            "pod_cidrs": [str(one) for one in self.pod],
            "service_cidrs": [str(one) for one in self.service],
            "kubeadm": {
                "podSubnet": pod,
                "serviceSubnet": ",".join(map(str, self.service)),
                "controller_manager_args": [
                    {"name": f"node-cidr-mask-size-{FAMILY[version]}", "value": str(self.node_mask[version])}
                    for version in self.versions
                ],
            },
            "kube_proxy": {"clusterCIDR": pod},
            "flannel": flannel,
            "cluster_dns": [str(one) for one in self.dns],
            "kubernetes_service": [str(self.service[0][API_INDEX])],
            "capacity": {
                FAMILY[one.version]: {
                    "node_ranges": self.node_ranges(one),
                    "pods_per_node": self.pods_per_node(one.version),
                }
                for one in self.pod
            },
        }


def derive(intent: Intent) -> AddressPlan:
    """The plan of an intent, defaults filled in. Raises `Missing` or `Malformed` where it names no range to read."""
    pod = tuple(intent.pod_networks())
    service = tuple(intent.service_networks() if intent.service_texts else networks(SERVICE_CIDR))
    masks = effective_masks(intent.kubeadm.arguments("controllerManager"), pod)
    return AddressPlan(
        pod=pod,
        service=service,
        node_mask={4: _or(intent, "node_mask", masks[4]), 6: _or(intent, "node_mask_v6", masks[6])},
        max_pods=_or(intent, "max_pods", MAX_PODS),
        planned_nodes=_or(intent, "planned_nodes", None) or None,
        dns=_dns(intent, service),
    )


def running(cluster: Cluster) -> AddressPlan:
    """The addresses of a running cluster as a plan. Raises `Missing` where its pod range is not known."""
    pod = tuple(cluster.pod_networks())
    if not pod:
        raise Missing("cluster.kubeadm_config.networking.podSubnet")
    service = tuple(cluster.service_networks() or networks(SERVICE_CIDR))
    try:
        flags: dict[str, str] = next(iter(cluster.component_flags("controller-manager").values()), {})
    except Missing:
        flags = cluster.kubeadm_config.arguments("controllerManager") if cluster.has("kubeadm_config") else {}
    kubelet = cluster.kubelet_config if cluster.has("kubelet_config") else Item({})
    dns = [one for one in map(address, kubelet.texts("clusterDNS")) if one is not None]
    return AddressPlan(
        pod=pod,
        service=service,
        node_mask=effective_masks(flags, pod),
        max_pods=kubelet.number("maxPods") or MAX_PODS,
        planned_nodes=len(cluster.nodes) if cluster.has("nodes") else None,
        dns=tuple(dns),
    )


def effective_masks(flags: dict[str, str], pod: tuple[Network, ...]) -> dict[int, int]:
    """Node masks by IP version as the controller manager takes them from its flags (nodeipamcontroller.go,
    setNodeCIDRMaskSizes): --node-cidr-mask-size counts in single stack only."""
    masks = dict(NODE_MASK)
    single = as_number(flags.get("node-cidr-mask-size"))
    if single is not None and len(pod) == 1:
        masks[pod[0].version] = single
    for version in masks:
        masks[version] = as_number(flags.get(f"node-cidr-mask-size-{FAMILY[version]}")) or masks[version]
    return masks


def _dns(intent: Intent, service: tuple[Network, ...]) -> tuple[Address, ...]:
    if intent.has("cluster_dns") and intent.cluster_dns:
        return tuple(one for one in map(address, intent.cluster_dns) if one is not None)
    first = service[0]
    return (first[DNS_INDEX],) if first.num_addresses > DNS_INDEX else ()


def _or(intent: Intent, key: str, default: Any) -> Any:
    return getattr(intent, key) if intent.has(key) else default
