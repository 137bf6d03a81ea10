# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What flannel should have set up on a host: its tunnels, and the leases of the other nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ._flannel import NetConf
from ._item import Item
from ._kube import KubeNode
from ._net import Network, address
from ._texts import json_object

TUNNELED = ("vxlan", "wireguard", "ipip", "udp")
ROUTED = ("vxlan", "wireguard", "ipip", "host-gw")
"""Backends that write one route for each other node."""
PORTS = {"vxlan": 8472, "wireguard": 51820, "udp": 8285}


@dataclass(frozen=True)
class Lease:
    """A node's lease in one family: its pod range with its first address as text, where its packets are sent to, and
    its tunnel's MAC ("" unless vxlan)."""

    node: str
    network: Network
    base: str
    public_ip: str
    mac: str


def leases(node: KubeNode) -> list[Lease]:
    """The leases that flannel on other nodes follows; empty where flannel never ran on the node, and where it has more
    ranges than flannel takes (`pkg/subnet/kube/kube.go`, nodeToLease)."""
    if not node.flannel_lease or len(node.pod_networks) > 2:
        return []
    found = []
    for network in node.pod_networks:
        v6 = network.version == 6
        public = address(node.flannel("public-ipv6" if v6 else "public-ip"))
        mac = vtep_mac(node, network.version)
        found.append(Lease(node.name, network, str(network.network_address), str(public) if public else "", mac))
    return found


def backend_data(node: KubeNode, version: int) -> Item:
    """The annotation backend-data of a family, empty where it is none."""
    try:
        return json_object(node.flannel("backend-v6-data" if version == 6 else "backend-data"))
    except ValueError:
        return Item({})


def vtep_mac(node: KubeNode, version: int) -> str:
    """The MAC of the node's tunnel as its peers were told, in lower case, or ""."""
    return backend_data(node, version).text("VtepMAC").lower()


@dataclass(frozen=True)
class Overlay:
    """How flannel's backend is configured."""

    backend: str
    vni: int
    port: int | None
    direct: bool
    versions: tuple[int, ...]
    separate: bool

    @property
    def tunnels(self) -> dict[int, str]:
        """The link that carries each family; empty for backends without one."""
        names: dict[str, tuple[str, str]] = {
            "vxlan": (f"flannel.{self.vni}", f"flannel-v6.{self.vni}"),
            "wireguard": ("flannel-wg", "flannel-wg-v6" if self.separate else "flannel-wg"),
            "ipip": ("flannel.ipip", ""),
            "udp": ("flannel0", ""),
        }
        v4, v6 = names.get(self.backend, ("", ""))
        return {version: name for version, name in ((4, v4), (6, v6)) if name and version in self.versions}


def in_use(conf: Overlay, node: KubeNode) -> Overlay:
    """The overlay with backend and VNI as the node's lease says: what flannel runs with until its next restart. No
    lease names a port: that of another backend than configured is taken for flannel's own."""
    backend = node.flannel("backend-type").lower()
    if not node.flannel_lease or not backend:
        return conf
    vni = backend_data(node, 4).number("VNI")
    if vni is None:
        vni = backend_data(node, 6).number("VNI")
    port = conf.port if backend == conf.backend else PORTS.get(backend)
    return replace(conf, backend=backend, vni=conf.vni if vni is None else vni, port=port)


def overlay(conf: NetConf) -> Overlay:
    """Reads net-conf.json with flannel's defaults (backends.md)."""
    kind, options = conf.backend_type, conf.backend
    port = options.number("ListenPort" if kind == "wireguard" else "Port") or PORTS.get(kind)
    vni = options.number("VNI")
    return Overlay(
        backend=kind,
        vni=1 if vni is None else vni,
        port=port,
        direct=options.flag("DirectRouting") is True,
        versions=(4,) * conf.enable_ipv4 + (6,) * conf.enable_ipv6,
        separate=options.text("Mode").lower() in ("", "separate"),
    )


def is_flannel_link(name: str) -> bool:
    """Whether flannel makes links of that name."""
    return name.startswith(("flannel.", "flannel-v6.", "flannel-wg")) or name == "flannel0"
