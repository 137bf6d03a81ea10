# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a trace is between: a pod, and a pod, a service or an address; on which hosts it has to be watched.

Pure. What people wrote that fits nothing in the cluster raises TraceError with a sentence.
"""

from __future__ import annotations

import ipaddress
from dataclasses import asdict, dataclass, field
from typing import Any

from ._evidence._item import Item
from ._evidence._kube import KubeNode, Object, Pod
from ._finding import Missing
from ._view import View

ENDS_WATCHED = 8
"""How many pods of a service are watched; the connection goes to one of them."""
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


class TraceError(ValueError):
    """A sentence about what cannot be traced."""


@dataclass(frozen=True)
class End:
    """Where the connection may end, after the translation of a service's address.

    pod: C(NAMESPACE/NAME), or "" for what is in no pod's network. host: its name in the inventory, or "".
    """

    address: str
    port: int
    pod: str = ""
    node: str = ""
    host: str = ""


@dataclass(frozen=True)
class TracePlan:
    """source: where it starts. address, port: what is asked. kind: pod, service or address. service: its name.

    ends: where it may arrive. watch: the pods to be watched by host. tunnel, vxlan_port: flannel's, "" and 0 without.
    direct: whether flannel goes without its tunnel to nodes of the same segment.
    """

    source: End
    kind: str
    name: str
    address: str
    port: int
    ends: list[End]
    watch: dict[str, list[str]] = field(default_factory=dict)
    backend: str = ""
    tunnel: str = ""
    vxlan_port: int = 0
    direct: bool = False
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        peers = sorted({f"{end.address} {end.port}" for end in self.ends if end.address != self.address})
        return {**asdict(self), "peers": peers}


def plan(cluster: dict[str, Any], hosts: dict[str, str], source: str, target: str, source_port: int) -> TracePlan:
    """cluster: the evidence's C(cluster). hosts: addresses of the inventory's hosts by their names."""
    return _Planner(cluster, hosts).plan(source, target, source_port)


class _Planner:
    def __init__(self, cluster: dict[str, Any], hosts: dict[str, str]) -> None:
        self.view, self.hosts = View({"cluster": cluster}), hosts
        try:
            self.pods: list[Pod] = self.view.cluster.pods
            self.nodes: list[KubeNode] = self.view.cluster.nodes
            self.services: list[Object] = self.view.cluster.services
        except Missing as missing:
            raise TraceError(
                f"the cluster did not say what it has ({missing}); is the API server up? podnet.kubeadm.doctor tells"
            ) from missing

    def plan(self, source: str, target: str, source_port: int) -> TracePlan:
        pod = self.source(source)
        kind, name, addresses, port, ends, note = self.target(target, pod.namespace)
        own = {one.version: str(one) for one in pod.addresses}
        address = next((one for one in addresses if ipaddress.ip_address(one).version in own), "")
        if not address:
            raise TraceError(f"trace_from={source} and trace_to={target} have no family of addresses in common")
        version = ipaddress.ip_address(address).version
        start = End(own[version], source_port, source, pod.node_name, self.host(pod.node_name))
        if not start.host:
            raise TraceError(
                f"pod {source} is on node {pod.node_name}, and no host of the play is that node by name or address"
            )
        ends = [one for one in ends if ipaddress.ip_address(one.address).version == version][:ENDS_WATCHED]
        watch: dict[str, list[str]] = {start.host: [source]}
        for end in ends:
            if end.host:
                watch.setdefault(end.host, [])
            if end.host and end.pod and end.pod not in watch[end.host]:
                watch[end.host].append(end.pod)
        overlay = self.overlay(pod.node_name, version)
        return TracePlan(start, kind, name, address, port, ends, watch, *overlay, note)

    def overlay(self, node_name: str, version: int) -> tuple[str, str, int, bool]:
        """Backend, its link, for vxlan its port, and DirectRouting, as flannel on a node runs with them."""
        try:
            node = self.view.cluster.node_by_name[node_name]
            overlay = self.view.overlay_on(node)
        except (Missing, KeyError):
            return "", "", 0, False
        port = overlay.port or 0
        port = port if overlay.backend == "vxlan" else 0
        return overlay.backend, overlay.tunnels.get(version, ""), port, overlay.direct

    def host(self, node_name: str) -> str:
        """The inventory's name of a node, by name or by address; "" where no host is it."""
        if node_name in self.hosts:
            return node_name
        node = self.view.cluster.node_by_name.get(node_name)
        internal = {str(one) for one in node.internal_addresses} if node else set()
        short = node_name.partition(".")[0]
        by_address = [name for name, address in self.hosts.items() if address in internal]
        by_name = [name for name in self.hosts if name.partition(".")[0] == short]
        return (by_address or by_name or [""])[0]

    def pod_called(self, name: str) -> Pod | None:
        return next((one for one in self.pods if f"{one.namespace}/{one.name}" == name), None)

    def source(self, name: str) -> Pod:
        pod = self.pod_called(name)
        if pod is None:
            namespace, slash, short = name.partition("/")
            if not slash:
                raise TraceError(f"trace_from={name} is no NAMESPACE/POD")
            there = sorted(one.name for one in self.pods if one.namespace == namespace)
            near = [one for one in there if one.startswith(short[:4])] or there
            has = f"it has {', '.join(near[:5])}" if near else "it has none"
            raise TraceError(f"trace_from={name}: namespace {namespace} has no pod {short}; {has}")
        if pod.host_network:
            raise TraceError(
                f"trace_from={name} is in its host's network, so no pod network is on its way; take another"
            )
        if not pod.addresses or not pod.node_name:
            raise TraceError(
                f"trace_from={name} has no address yet (phase {pod.phase}); podnet.kubeadm.doctor tells why"
            )
        return pod

    def target(self, text: str, namespace: str) -> tuple[str, str, list[str], int, list[End], str]:
        """kind, name, addresses, port, ends and a note of what trace_to says."""
        name, port = _split(text)
        try:
            return self.to_address(str(ipaddress.ip_address(name)), port, text)
        except TraceError:
            raise
        except ValueError:
            pass
        full = name if "/" in name else f"{namespace}/{name}"
        pod = self.pod_called(full)
        service = next((one for one in self.services if f"{one.namespace}/{one.name}" == full), None)
        if pod is not None and ("/" in name or service is None):  # a bare name is a service's, where there is one
            return self.to_pod(pod, full, port)
        if service is None:
            raise TraceError(f"trace_to={text} is no address, and there is neither a pod nor a service {full}")
        return self.to_service(service, full, port)

    def to_pod(self, pod: Pod, name: str, port: int) -> tuple[str, str, list[str], int, list[End], str]:
        addresses = [str(one) for one in pod.addresses]
        if not addresses:
            raise TraceError(f"trace_to={name} has no address yet (phase {pod.phase}); podnet.kubeadm.doctor tells why")
        known = [one.number("containerPort") for c in pod.items("spec", "containers") for one in c.items("ports")]
        note = "" if port or known else "the pod names no port, so 80 is asked; a refusal proves the way as well"
        port = port or next((one for one in known if one), 80) or 80
        return "pod", name, addresses, port, self.ends_of(pod, port), note

    def ends_of(self, pod: Pod, port: int) -> list[End]:
        inside = "" if pod.host_network else f"{pod.namespace}/{pod.name}"
        host = self.host(pod.node_name)
        return [End(str(address), port, inside, pod.node_name, host) for address in pod.addresses]

    def to_address(self, address: str, port: int, text: str) -> tuple[str, str, list[str], int, list[End], str]:
        for pod in self.pods:
            if not pod.host_network and pod.phase == "Running" and address in map(str, pod.addresses):
                return self.to_pod(pod, f"{pod.namespace}/{pod.name}", port)
        for service in self.services:
            if address in service.texts("spec", "clusterIPs"):
                kind, name, _all, port, ends, note = self.to_service(
                    service, f"{service.namespace}/{service.name}", port
                )
                return kind, name, [address], port, ends, note
        if not port:
            raise TraceError(
                f"trace_to={text} is no pod's and no service's address, so it needs a port: {address}:PORT"
            )
        node = next((one for one in self.nodes if address in map(str, one.internal_addresses)), None)
        host = self.host(node.name) if node else ""
        return "address", address, [address], port, [End(address, port, "", node.name if node else "", host)], ""

    def to_service(self, service: Object, name: str, port: int) -> tuple[str, str, list[str], int, list[End], str]:
        addresses = [one for one in service.texts("spec", "clusterIPs") if one != "None"]
        if not addresses:
            raise TraceError(f"trace_to={name} is a service without an address of its own; name one of its pods")
        ports = [one for one in service.items("spec", "ports") if (one.text("protocol") or "TCP") == "TCP"]
        chosen = next((one for one in ports if port in (0, one.number("port"))), None)
        if chosen is None:
            has = ", ".join(str(one.number("port")) for one in ports) or "none"
            raise TraceError(f"trace_to={name}: the service has no TCP port {port or 'at all'}; it has {has}")
        selector = service.map("spec", "selector")
        number = int(chosen.number("port") or 0)
        ends: list[End] = []
        if selector:
            members = [
                one
                for one in self.pods
                if one.namespace == service.namespace and selector.items() <= one.labels.items() and one.ready
            ]
            for pod in members:
                ends += self.ends_of(pod, _target_port(chosen, pod))
            if not ends:
                raise TraceError(f"trace_to={name}: no pod of the service is ready, so nothing is behind its address")
        elif name == "default/kubernetes":
            for node in self.nodes:
                if CONTROL_PLANE in node.labels:
                    ends += [
                        End(str(one), _target_port(chosen, None), "", node.name, self.host(node.name))
                        for one in node.internal_addresses
                    ]
        return "service", name, addresses, number, ends, ""


def _target_port(port: Item, pod: Pod | None) -> int:
    """The port of a service's pod: a number, the name of a container's port, or the service's own."""
    number = port.number("targetPort")
    if number:
        return number
    name = port.text("targetPort")
    for container in pod.items("spec", "containers") if pod and name else []:
        for one in container.items("ports"):
            if one.text("name") == name:
                return int(one.number("containerPort") or 0)
    return int(port.number("port") or 0)


def _split(text: str) -> tuple[str, int]:
    """Name and port of C(NAME), C(NAME:PORT), C(V6) or C([V6]:PORT); 0 for no port."""
    name, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or (text.count(":") > 1 and not text.startswith("[")):
        return text.strip("[]"), 0
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise TraceError(f"trace_to={text}: {port!r} is no port; a number from 1 to 65535 is expected behind the colon")
    return name.strip("[]"), int(port)
