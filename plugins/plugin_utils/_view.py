# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The typed view that rules read: intent, plan, cluster and hosts, each raw output parsed once."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

from ._evidence._bundle import Hosts, load
from ._evidence._cluster import Cluster
from ._evidence._endpoint import server_host
from ._evidence._flannel import NetConf
from ._evidence._host import Host
from ._evidence._intent import Intent
from ._evidence._item import Item
from ._evidence._kube import KubeNode
from ._evidence._lines import by_node
from ._evidence._net import Network
from ._evidence._overlay import Lease, Overlay, in_use, leases, overlay
from ._finding import Missing
from ._plan import AddressPlan, derive, running

STAGES = ("intent", "host", "cluster")


class View:
    """``intent``, ``cluster`` and ``nodes`` of one bundle, and the ``plan`` that follows from the intent.

    Reading what was not looked at raises `Missing`, which the judge turns into *undetermined*: a rule asks for what
    it needs and never tests whether it is there, unless it has another way to tell.
    """

    def __init__(self, source: str | dict[str, Any], intent: dict[str, Any] | None = None) -> None:
        """``source``: a bundle, or the path of a file or folder; ``intent`` replaces what the source says of it.

        Raises ValueError with a sentence where the source is no evidence, OSError where it cannot be read.
        """
        bundle, hosts = load(source)
        self.bundle = bundle
        self.nodes: Hosts = hosts
        self.intent = Intent(bundle.get("intent") if intent is None else intent)
        self.cluster = Cluster(bundle.get("cluster"))

    @property
    def has_intent(self) -> bool:
        return bool(self.intent.raw)

    @cached_property
    def stage(self) -> str:
        """What existed when the evidence was taken; where the bundle does not say, what it holds tells."""
        said = self.bundle.get("stage")
        if said in STAGES:
            return str(said)
        return "cluster" if self.cluster.raw else "host" if len(self.nodes) else "intent"

    @cached_property
    def now(self) -> datetime:
        """When the evidence was taken; raises `Missing`."""
        raw = self.bundle.get("taken_at")
        try:
            taken = datetime.fromisoformat(str(raw).replace("Z", "+00:00"))
            return taken if taken.tzinfo else taken.replace(tzinfo=timezone.utc)
        except ValueError as error:
            raise Missing("taken_at") from error

    @cached_property
    def plan(self) -> AddressPlan:
        """The address plan of the intent; raises `Missing` where the intent names no pod range that can be read."""
        return derive(self.intent)

    @cached_property
    def running_plan(self) -> AddressPlan:
        """The addresses of the running cluster in the same form; raises `Missing` where its pod range is unknown."""
        return running(self.cluster)

    @cached_property
    def pod_networks(self) -> list[Network]:
        """The pod ranges: the running cluster's where there is one, else the intent's."""
        return self._ranges("pod")

    @cached_property
    def service_networks(self) -> list[Network]:
        """The service ranges: the running cluster's where there is one, else the intent's."""
        return self._ranges("service")

    def known_pod_networks(self) -> list[Network]:
        """The same as `pod_networks`, empty where they are not known: for rules that can tell without."""
        try:
            return self.pod_networks
        except Missing:
            return []

    @cached_property
    def node_ranges(self) -> frozenset[Network]:
        """The pod ranges of all nodes; empty where nodes were not looked at."""
        nodes = self.cluster.nodes if self.cluster.has("nodes") else []
        return frozenset(one for node in nodes for one in node.pod_networks)

    def _ranges(self, kind: str) -> list[Network]:
        try:
            found: list[Network] = getattr(self.cluster, f"{kind}_networks")()
        except Missing:
            found = []
        return found or getattr(self.intent, f"{kind}_networks")()

    @cached_property
    def endpoint(self) -> str:
        """The host of the running cluster's controlPlaneEndpoint, else of the intent's; "" where there is none."""
        if self.cluster.has("kubeadm_config"):
            return server_host(self.cluster.kubeadm_config.text("controlPlaneEndpoint"))
        if self.intent.has("control_plane_endpoint"):
            return server_host(self.intent.control_plane_endpoint)
        return ""

    @cached_property
    def overlay(self) -> Overlay:
        """How flannel's backend is configured: as the running cluster has it, else as its leases show, else as the
        intent asks (vxlan where it does not say). Raises `Missing` where none of these was looked at."""
        try:
            return overlay(self.cluster.net_conf)
        except Missing as missing:
            found = self._overlay_of_leases() or self._overlay_asked()
            if found is None:
                raise missing.with_traceback(None) from None
            return found

    def _overlay_of_leases(self) -> Overlay | None:
        for node in self.cluster.nodes if self.cluster.has("nodes") else ():
            if node.flannel_lease and node.flannel("backend-type"):
                v6 = any(one.version == 6 for one in node.pod_networks)
                return in_use(overlay(NetConf({"Backend": {"Type": "vxlan"}, "EnableIPv6": v6})), node)
        return None

    def _overlay_asked(self) -> Overlay | None:
        if self.intent.has("net_conf"):
            return overlay(self.intent.net_conf)
        if not self.has_intent:
            return None
        asked = self.intent.flannel if self.intent.has("flannel") else Item({})
        port, vni = asked.number("port") or None, asked.number("vni") or None  # 0 leaves it to flannel
        kind = asked.text("backend") or "vxlan"
        backend = {
            "Type": kind,
            "Port": port,
            "ListenPort": port,
            "VNI": vni if kind == "vxlan" else None,
            "DirectRouting": asked.flag("direct_routing"),
            "Mode": asked.text("tunnel_mode"),
        }
        v6 = self.intent.has("pod_cidr") and any(one.version == 6 for one in self.intent.pod_networks())
        return overlay(NetConf({"Backend": backend, "EnableIPv6": v6}))

    def overlay_on(self, node: KubeNode) -> Overlay:
        """What flannel on that node runs with: a change of net-conf.json waits for its next restart."""
        return in_use(self.overlay, node)

    @cached_property
    def leases(self) -> list[Lease]:
        """Every lease of the cluster; raises `Missing` where nodes were not looked at."""
        return [lease for node in self.cluster.nodes for lease in leases(node)]

    @cached_property
    def lease_by_text(self) -> dict[int, dict[str, Lease]]:
        """The leases of each family by their range as text."""
        found: dict[int, dict[str, Lease]] = {4: {}, 6: {}}
        for lease in self.leases:
            found[lease.network.version][str(lease.network)] = lease
        return found

    @cached_property
    def lease_macs(self) -> dict[int, frozenset[str]]:
        """The MACs of the tunnels of each family."""
        return {version: frozenset(one.mac for one in found.values()) for version, found in self.lease_by_text.items()}

    @cached_property
    def tunnel_leases(self) -> dict[int, list[Lease]]:
        """By family the leases that have a MAC and share nothing with another: other nodes hold a forwarding entry and
        a neighbour of each for certain."""
        return {
            version: [one for one in known.values() if one.mac and self.lease_is_unique(one)]
            for version, known in self.lease_by_text.items()
        }

    @cached_property
    def node_texts(self) -> set[str]:
        """The pod ranges of all nodes as texts."""
        return {str(network) for network in self.node_networks}

    @cached_property
    def senders(self) -> list[tuple[str, str]]:
        """Name and address of every node with an IPv4 lease, sorted."""
        return sorted((lease.node, lease.public_ip) for lease in self.leases if lease.network.version == 4)

    def lease_is_unique(self, lease: Lease) -> bool:
        """Whether no other node has the lease's range or its tunnel's MAC."""
        return self._holders[lease.network] == 1 and self._holders[lease.mac] == 1

    @cached_property
    def _holders(self) -> Counter[Network | str]:
        return Counter(value for lease in self.leases for value in (lease.network, lease.mac))

    @cached_property
    def node_networks(self) -> set[Network]:
        """The pod ranges of all nodes."""
        return {network for node in self.cluster.nodes for network in node.pod_networks}

    def flannel_runs(self, host: Host) -> bool | None:
        """Whether flannel runs on a host: a ready pod of it; None where the host is no node of the cluster. Raises
        `Missing` where nodes or pods were not looked at."""
        node = self.kube_node(host)
        return None if node is None else self.cluster.flannel_runs_on(node.name)

    def kube_node(self, host: Host) -> KubeNode | None:
        """The Node object of a host: by the kubelet's name for it, the inventory's, or its address; None where the
        cluster has none. Raises `Missing` where nodes were not looked at."""
        by_name = self.cluster.node_by_name
        found = by_name.get(host.node_name) or by_name.get(host.name)
        if found is not None and _another(host, found):
            found = None
        if found is None and host.has("inventory_address"):
            found = self._node_by_address.get(host.inventory_address)
        return found

    def place(self, node_name: str) -> str:
        """The inventory's name of the host that a Node object is of, or the Node's own name: exactly, else by the
        name that the host registers as, else by the first label where only one of the two is fully qualified."""
        if node_name in self.nodes:
            return node_name
        if registered := self.nodes.registered.get(node_name):
            return registered
        short = node_name.partition(".")[0]
        names = self._names_by_label.get(short, [])
        return names[0] if len(names) == 1 and (short == node_name or names[0] == short) else node_name

    @cached_property
    def _names_by_label(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self.nodes:
            found.setdefault(name.partition(".")[0], []).append(name)
        return found

    @cached_property
    def said_by_node(self) -> dict[str, list[str]]:
        """Lines of logs and of fresh warning events by the name of the node they are about."""
        try:
            return by_node(self.cluster, self.now)
        except Missing:
            return by_node(self.cluster, None)

    @cached_property
    def _node_by_address(self) -> dict[str, KubeNode]:
        return {str(one): node for node in self.cluster.nodes for one in node.internal_addresses}


def _another(host: Host, node: KubeNode) -> bool:
    """Whether the Node of that name is another machine's: nothing that tells machines apart is the host's."""
    told = node.item("status", "nodeInfo")
    pairs = [
        (host.machine_id.strip().lower() if host.has("machine_id") else "", told.text("machineID").lower()),
        (host.product_uuid.strip().lower() if host.has("product_uuid") else "", told.text("systemUUID").lower()),
    ]
    if not all(own and its and own != its for own, its in pairs):
        return False
    return host.has("inventory_address") and host.inventory_address not in map(str, node.internal_addresses)
