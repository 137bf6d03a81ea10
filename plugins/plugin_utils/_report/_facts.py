# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The few facts of hosts and cluster that reports show; what was not looked at is empty."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .._evidence._host import Host
from .._evidence._net import Network
from .._evidence._networks import HOST, HostNetwork, host_networks
from .._evidence._versions import image_name, image_tag
from .._finding import Missing
from .._view import View


def tell(ask: Callable[[], Any], default: Any) -> Any:
    """What ASK answers, or DEFAULT where its key was not looked at or cannot be read."""
    try:
        return ask()
    except (Missing, ValueError, AttributeError, TypeError):
        return default


@dataclass
class HostFacts:
    """One host as its page shows it. ``ranges``: (kind, label, network), kinds as in `_space`."""

    name: str
    roles: list[str] = field(default_factory=list)
    address: str = ""
    node: str = ""
    system: str = ""
    kernel: str = ""
    runtime: str = ""
    kubelet: str = ""
    pod_ranges: list[str] = field(default_factory=list)
    subnet_env: dict[str, str] = field(default_factory=dict)
    links: list[dict[str, Any]] = field(default_factory=list)
    ranges: list[tuple[str, str, Network]] = field(default_factory=list)
    firewall: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "roles": self.roles,
            "address": self.address,
            "node": self.node,
            "system": self.system,
            "kernel": self.kernel,
            "runtime": self.runtime,
            "kubelet": self.kubelet,
            "pod_ranges": self.pod_ranges,
            "subnet_env": self.subnet_env,
            "links": self.links,
            "firewall": self.firewall,
        }


def host_facts(host: Host, view: View) -> HostFacts:
    """The facts of one host."""
    runtime = tell(lambda: host.runtime, None)
    node = tell(lambda: view.kube_node(host), None)
    links = tell(lambda: host.links, [])
    return HostFacts(
        name=host.name,
        roles=tell(lambda: host.roles, []),
        address=tell(lambda: host.inventory_address, ""),
        node=node.name if node else "",
        system=tell(lambda: host.os_release.get("PRETTY_NAME", ""), ""),
        kernel=tell(lambda: host.kernel, ""),
        runtime=f"{runtime.text('name')} {runtime.text('version')}".strip() if runtime else "",
        kubelet=tell(lambda: host.kubelet_version, ""),
        pod_ranges=node.pod_cidr_texts if node else [],
        subnet_env=tell(lambda: host.subnet_env, {}),
        links=[
            {"name": link.name, "mtu": link.mtu, "up": link.up, "addresses": [str(one) for one in link.addresses]}
            for link in links
            if not link.loopback and not link.name.startswith("veth")
        ],
        ranges=_ranges(host, view),
        firewall=_firewall(host),
    )


def _ranges(host: Host, view: View) -> list[tuple[str, str, Network]]:
    found: list[tuple[str, str, Network]] = []
    networks: list[HostNetwork] = tell(lambda: list(host_networks(host, view.node_ranges)), [])
    for one in networks:
        kind = one.owner if one.owner != HOST else "route" if one.routed else "nodes"
        found.append((kind, f"route by {one.link}" if one.routed else one.link, one.network))
    for resolver in tell(lambda: host.resolvers, []):
        if not resolver.is_loopback:
            found.append(("resolver", "resolver", ipaddress.ip_network(resolver)))
    return list(dict.fromkeys(found))


_POLICY = re.compile(r"^:(FORWARD|INPUT) (DROP|REJECT)", re.M)
_RULE = re.compile(r"^(?:\[\d+:\d+\] )?-A (FORWARD|INPUT)( .*)?-j (DROP|REJECT)(.*)$", re.M)


def _firewall(host: Host) -> list[str]:
    """Sentences about what drops traffic on the host."""
    found = []
    for name, rules in (
        ("iptables", tell(lambda: host.iptables, None)),
        ("ip6tables", tell(lambda: host.ip6tables, None)),
    ):
        for backend in ("nft", "legacy"):
            text = rules.text(backend) if rules else ""
            for chain, policy in _POLICY.findall(text):
                found.append(f"{name} ({backend}): policy {policy} on {chain}")
            for chain, before, target, after in _RULE.findall(text):
                if "KUBE-" not in before and "kubernetes" not in before:
                    found.append(f"{name} ({backend}): -A {chain}{before}-j {target}{after}")
    nft = tell(lambda: host.nft, None)
    for entry in nft.items("nftables") if nft else []:
        chain = entry.item("chain")
        table = f"{chain.text('family')} {chain.text('table')}"
        if chain.text("policy") == "drop" and chain.text("hook") in ("forward", "input"):
            found.append(f"nftables: table {table}: policy drop on {chain.text('hook')}, chain {chain.text('name')}")
    for name in ("firewalld", "ufw"):
        if tell(lambda name=name: host.unit_active(name), False):  # type: ignore[misc]
            found.append(f"{name} runs")
    return list(dict.fromkeys(found))[:40]


@dataclass
class ClusterFacts:
    """The cluster as the report's head and report.md show it; texts, empty where not looked at."""

    version: str = ""
    endpoint: str = ""
    pods: list[str] = field(default_factory=list)
    services: list[str] = field(default_factory=list)
    dns: list[str] = field(default_factory=list)
    backend: str = ""
    flannel_version: str = ""
    flannel_network: list[str] = field(default_factory=list)
    flannel_namespace: str = ""
    port: int | None = None
    kube_proxy_mode: str = ""
    policies: list[str] = field(default_factory=list)
    node_ranges: list[tuple[str, str]] = field(default_factory=list)
    exposed: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "node_ranges": [list(pair) for pair in self.node_ranges]}


def cluster_facts(view: View) -> ClusterFacts:
    """The facts of the cluster, else of the intent."""
    cluster, intent = view.cluster, view.intent
    net_conf = tell(lambda: cluster.net_conf, None) or tell(lambda: intent.net_conf, None)
    overlay = tell(lambda: view.overlay, None)
    images = [image for one in tell(lambda: cluster.flannel_daemonsets, []) for image in one.images]
    flannel = next((image_tag(one) for one in images if image_name(one).endswith("flannel")), "")
    kubeadm = tell(lambda: cluster.kubeadm_config, None)
    return ClusterFacts(
        version=tell(lambda: cluster.server_version, "") or tell(lambda: intent.kubernetes_version, ""),
        endpoint=(kubeadm.text("controlPlaneEndpoint") if kubeadm else "")
        or tell(lambda: intent.control_plane_endpoint, ""),
        pods=[str(one) for one in tell(lambda: view.pod_networks, [])],
        services=[str(one) for one in tell(lambda: view.service_networks, [])],
        dns=tell(lambda: cluster.kubelet_config.texts("clusterDNS"), []) or tell(lambda: intent.cluster_dns, []),
        backend=overlay.backend if overlay else "",
        flannel_version=flannel or tell(lambda: intent.flannel.text("version"), ""),
        flannel_network=[str(one) for one in net_conf.networks] if net_conf else [],
        flannel_namespace=tell(lambda: cluster.flannel_config.namespace, ""),
        port=overlay.port if overlay else None,
        kube_proxy_mode=tell(lambda: cluster.kube_proxy_config.text("mode"), "")
        or tell(lambda: intent.kube_proxy_mode, ""),
        policies=[f"{one.namespace}/{one.name}" for one in tell(lambda: cluster.network_policies, [])],
        node_ranges=[(node.name, cidr) for node in tell(lambda: cluster.nodes, []) for cidr in node.pod_cidr_texts],
        exposed=[
            f"{one.namespace}/{one.name} ({one.text('spec', 'type')})"
            for one in tell(lambda: cluster.services, [])
            if one.text("spec", "type") in ("NodePort", "LoadBalancer") or one.texts("spec", "externalIPs")
        ],
    )
