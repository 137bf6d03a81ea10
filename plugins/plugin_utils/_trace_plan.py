# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a trace is between: a pod or a node, and a pod, a service or an address; on which hosts it has to be watched.

Pure. What people wrote that fits nothing in the cluster raises TraceError with a sentence.
"""

from __future__ import annotations

import ipaddress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ._evidence._item import Item
from ._evidence._kube import KubeNode, Object, Pod
from ._finding import Missing
from ._view import View

ENDS_WATCHED = 8
"""How many pods of a service are watched; the connection goes to one of them."""
PROTOCOLS = ("tcp", "udp")
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
    """source: where it starts; without a pod it is the node. sequence: by which its packets are known, TCP's initial
    number (32 bits), or a datagram's first two bytes. address, port, protocol (tcp, udp): what is asked. kind: pod,
    service or address. name: that of the service.

    ends: where it may arrive. watch: the pods to be watched by host. tunnel, vxlan_port: flannel's, "" and 0 without.
    direct: whether flannel goes without its tunnel to nodes of the same segment.
    """

    source: End
    sequence: int
    kind: str
    name: str
    address: str
    port: int
    protocol: str
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


@dataclass(frozen=True)
class Target:
    """What trace_to says. addresses: all that may be asked. note: what people should know of the choice."""

    kind: str
    name: str
    addresses: list[str]
    port: int
    protocol: str
    ends: list[End]
    note: str = ""


def plan(
    cluster: dict[str, Any], hosts: dict[str, str], source: str, target: str, source_port: int, number: int = 0
) -> TracePlan:
    """cluster: the evidence's C(cluster). hosts: addresses of the inventory's hosts by their names. number: 32 bits by
    which its packets are to be known."""
    return _Planner(cluster, hosts).plan(source, target, source_port, number)


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

    def plan(self, source: str, target: str, source_port: int, number: int) -> TracePlan:
        start, own, namespace = self.source(source)
        goal = self.target(target, namespace)
        versions = [ipaddress.ip_address(one).version for one in own]
        address = next((one for one in goal.addresses if ipaddress.ip_address(one).version in versions), "")
        if not address:
            raise TraceError(f"trace_from={source} and trace_to={target} have no family of addresses in common")
        version = ipaddress.ip_address(address).version
        start = replace(start, address=own[versions.index(version)], port=source_port)
        ends = [one for one in goal.ends if ipaddress.ip_address(one.address).version == version][:ENDS_WATCHED]
        if not start.pod and any(one.node == start.node and not one.pod for one in ends[:1]):
            raise TraceError(f"trace_from={source} and trace_to={target} are both node {start.node}: no way is between")
        watch: dict[str, list[str]] = {start.host: [start.pod] if start.pod else []}
        for end in ends:
            if end.host:
                watch.setdefault(end.host, [])
            if end.host and end.pod and end.pod not in watch[end.host]:
                watch[end.host].append(end.pod)
        sequence = number & 0xFFFF if goal.protocol == "udp" else number
        asked = goal.kind, goal.name, address, goal.port, goal.protocol
        return TracePlan(start, sequence, *asked, ends, watch, *self.overlay(start.node, version), goal.note)

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

    def source(self, name: str) -> tuple[End, list[str], str]:
        """Where it starts, the addresses it may have there, and the namespace in which a bare name is looked for."""
        node = self.view.cluster.node_by_name.get(name)
        if node is not None:
            return self.start(name, "", name), [str(one) for one in node.internal_addresses], "default"
        pod = self.pod_called(name)
        if pod is None:
            raise TraceError(self.no_pod(name))
        if not pod.addresses or not pod.node_name or pod.phase != "Running":
            raise TraceError(f"trace_from={name} {_not_there(pod)}")
        inside = "" if pod.host_network else name
        return self.start(name, inside, pod.node_name), [str(one) for one in pod.addresses], pod.namespace

    def start(self, name: str, pod: str, node: str) -> End:
        host = self.host(node)
        if not host:
            raise TraceError(
                f"trace_from={name} is on node {node}, and no host of the play is that node by name or address"
            )
        return End("", 0, pod, node, host)

    def no_pod(self, name: str) -> str:
        namespace, slash, short = name.partition("/")
        if not slash:
            return f"trace_from={name} is no NAMESPACE/POD, and no node is called so"
        there = sorted(one.name for one in self.pods if one.namespace == namespace)
        near = [one for one in there if one.startswith(short[:4])] or there
        has = f"it has {', '.join(near[:5])}" if near else "it has none"
        return f"trace_from={name}: namespace {namespace} has no pod {short}; {has}"

    def target(self, text: str, namespace: str) -> Target:
        name, port, protocol = _split(text)
        if _is_address(name):
            return self.to_address(str(ipaddress.ip_address(name)), port, protocol, text)
        full = name if "/" in name else f"{namespace}/{name}"
        pod = self.pod_called(full)
        service = next((one for one in self.services if f"{one.namespace}/{one.name}" == full), None)
        if pod is not None and ("/" in name or service is None):  # a bare name is a service's, where there is one
            return self.to_pod(pod, full, port, protocol)
        if service is None:
            raise TraceError(f"trace_to={text} is no address, and there is neither a pod nor a service {full}")
        return self.to_service(service, full, port, protocol)

    def to_pod(self, pod: Pod, name: str, asked: str, protocol: str) -> Target:
        addresses = [str(one) for one in pod.addresses]
        if not addresses or pod.phase != "Running":
            raise TraceError(f"trace_to={name} {_not_there(pod)}")
        named = [one for c in pod.items("spec", "containers") for one in c.items("ports")]
        port, protocol = _chosen(named, "containerPort", asked, protocol) or (_number(name, asked), protocol)
        note = "" if port else "the pod names no port, so 80 is asked; a refusal proves the way as well"
        port, protocol = port or 80, protocol or "tcp"
        return Target("pod", name, addresses, port, protocol, self.ends_of(pod, port), note)

    def ends_of(self, pod: Pod, port: int) -> list[End]:
        inside = "" if pod.host_network else f"{pod.namespace}/{pod.name}"
        host = self.host(pod.node_name)
        return [End(str(address), port, inside, pod.node_name, host) for address in pod.addresses]

    def to_address(self, address: str, asked: str, protocol: str, text: str) -> Target:
        for pod in self.pods:
            if not pod.host_network and pod.phase == "Running" and address in map(str, pod.addresses):
                return replace(self.to_pod(pod, f"{pod.namespace}/{pod.name}", asked, protocol), addresses=[address])
        for service in self.services:
            if address in service.texts("spec", "clusterIPs"):
                found = self.to_service(service, f"{service.namespace}/{service.name}", asked, protocol)
                return replace(found, addresses=[address])
        port = _number(address, asked)
        if not port:
            raise TraceError(
                f"trace_to={text} is no pod's and no service's address, so it needs a port: {address}:PORT"
            )
        node = next((one for one in self.nodes if address in map(str, one.internal_addresses)), None)
        end = End(address, port, "", node.name if node else "", self.host(node.name) if node else "")
        return Target("address", address, [address], port, protocol or "tcp", [end])

    def to_service(self, service: Object, name: str, asked: str, protocol: str) -> Target:
        addresses = [one for one in service.texts("spec", "clusterIPs") if one != "None"]
        if not addresses:
            raise TraceError(f"trace_to={name} is a service without an address of its own; name one of its pods")
        ports = service.items("spec", "ports")
        found = _chosen(ports, "port", asked, protocol)
        if found is None:
            wanted = f"{protocol.upper() or 'TCP or UDP'} port {asked or 'at all'}"
            has = ", ".join(f"{one.number('port')}/{_protocol(one)}" for one in ports) or "none"
            raise TraceError(f"trace_to={name}: the service has no {wanted}; it has {has}")
        number, protocol = found
        chosen = next(one for one in ports if (one.number("port"), _protocol(one)) == found)
        selector = service.map("spec", "selector")
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
        return Target("service", name, addresses, number, protocol, ends)


def _not_there(pod: Pod) -> str:
    """Why a pod can be no end of a connection."""
    if pod.phase in ("Succeeded", "Failed"):
        return f"has ended (phase {pod.phase}); take one that is running"
    return f"has no address yet (phase {pod.phase}); podnet.kubeadm.doctor tells why"


def _protocol(port: Item) -> str:
    return (port.text("protocol") or "TCP").lower()


def _chosen(ports: list[Item], key: str, asked: str, protocol: str) -> tuple[int, str] | None:
    """Number and protocol of the one that is asked for by number or name, of TCP where that is left open, or None."""
    fit = [
        (int(one.number(key) or 0), _protocol(one))
        for one in ports
        if asked in ("", str(one.number(key)), one.text("name"))
        and _protocol(one) in ((protocol,) if protocol else PROTOCOLS)
    ]
    return min(fit, key=lambda one: one[1] != "tcp", default=None)


def _number(name: str, asked: str) -> int:
    """A port that nothing in the cluster names, 0 for none."""
    if not asked:
        return 0
    if not asked.isdecimal() or not 0 < int(asked) < 65536:
        raise TraceError(
            f"trace_to={name}:{asked}: {asked!r} is no port; a number from 1 to 65535 is expected behind the colon, or "
            "the name of a port that the pod or the service has"
        )
    return int(asked)


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


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _split(text: str) -> tuple[str, str, str]:
    """Name, port and protocol of C(NAME), C(NAME:PORT), C(NAME:PORT/udp), C(V6) or C([V6]:PORT); "" for none."""
    name, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or (text.count(":") > 1 and not text.startswith("[")):
        return text.strip("[]"), "", ""
    port, slash, protocol = port.partition("/")
    if not port:
        raise TraceError(f"trace_to={text} has no port behind its colon")
    if slash and protocol.lower() not in PROTOCOLS:
        raise TraceError(f"trace_to={text}: {protocol!r} cannot be traced; {' or '.join(PROTOCOLS)} is expected")
    return name.strip("[]"), port, protocol.lower()
