# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one host says (``nodes.NAME``), each key parsed when a rule first asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from .._finding import Malformed, Missing
from ._cni import CniFile, cni_files
from ._item import Item, as_list
from ._net import Interface, Link, Route, links, own_routes4, own_routes6, routes4, routes6
from ._part import Key, Part, boolean, integer, item, items, number, text, text_map, texts
from ._saved_rules import Backends, backends
from ._texts import assignments, kubelet_flags, resolvers, swap_devices, yaml_document


def _ipam(raw: Any) -> dict[str, dict[str, str]]:
    return {name: text_map(leases) for name, leases in item(raw).raw.items() if isinstance(leases, dict)}


def _texts_by_name(raw: Any) -> dict[str, dict[str, str]]:
    return {name: text_map(value) for name, value in item(raw).raw.items() if isinstance(value, dict)}


def _offload(raw: Any) -> dict[str, dict[str, bool]]:
    return {
        link: {feature: on for feature, on in value.items() if isinstance(on, bool)}
        for link, value in item(raw).raw.items()
        if isinstance(value, dict)
    }


class Host(Part):
    """The evidence of one host. Reading an attribute whose key is absent raises `Missing`.

    Attributes are called like their keys in the evidence format; where the format holds a tool's output, the
    attribute has what the output says (``links`` of `ip_address`, ``routes`` of `ip_route`, ...). Objects that may
    carry more or less are an `Item` (``runtime``, ``units``, ``cgroup``).
    """

    def __init__(self, raw: Any, name: str) -> None:
        super().__init__(raw, f"nodes.{name}")
        self.name = name
        self._derived: dict[str, Any] = {}

    def derived(self, key: str, make: Callable[[], Any]) -> Any:
        """What several rules derive from this host, made once; a `Missing` that it raises is kept too."""
        if key not in self._derived:
            try:
                self._derived[key] = make()
            except Missing as missing:
                self._derived[key] = missing.again()
        value = self._derived[key]
        if isinstance(value, Missing):
            raise value.again()
        return value

    inventory_address = Key(text)
    roles = Key(texts)
    hostname = Key(text)
    machine_id = Key(text)
    product_uuid = Key(text)
    boot_id = Key(text)
    os_release = Key(text_map)
    kernel = Key(text)
    architecture = Key(text)
    clock = Key(number)
    controller_clock = Key(number)
    memory_mib = Key(integer)
    cpus = Key(integer)
    links: Key[list[Link]] = Key(links, "ip_address")
    routes4: Key[list[Route]] = Key(routes4, "ip_route")
    routes6: Key[list[Route]] = Key(routes6, "ip6_route")
    own_routes4: Key[list[Route]] = Key(own_routes4, "ip_route")
    own_routes6: Key[list[Route]] = Key(own_routes6, "ip6_route")
    ip_rule = Key(items)
    bridge_fdb = Key(items)
    ip_neigh = Key(items)
    link_offload = Key(_offload)
    iptables = Key(item)
    ip6tables = Key(item)
    saved4: Key[Backends] = Key(backends, "iptables")
    saved6: Key[Backends] = Key(backends, "ip6tables")
    nft = Key(item)
    firewalld = Key(item)
    ufw = Key(text)
    sysctl = Key(text_map)
    sysctl_persistent = Key(text_map)
    modules = Key(texts)
    modules_persistent = Key(texts)
    modules_available = Key(texts)
    proc_net_bridge = Key(boolean)
    swap_devices = Key(swap_devices, "swap")
    fstab_swap = Key(texts)
    selinux = Key(text)
    selinux_denials = Key(texts)
    apparmor_denials = Key(texts)
    cgroup = Key(item)
    cni_config = Key(text_map)
    cni_files: Key[list[CniFile]] = Key(cni_files, "cni_config")
    cni_bin = Key(texts)
    cni_ipam = Key(_ipam)
    sandboxes = Key(items)
    subnet_env = Key(assignments)
    runtime = Key(item)
    kubelet_config = Key(yaml_document)
    kubelet_flags = Key(kubelet_flags)
    kubelet_version = Key(text)
    kubeadm_version = Key(text)
    units = Key(item)
    journal = Key(text_map)
    network_manager_conf = Key(text_map)
    networkd_conf = Key(text_map)
    link_files = Key(text_map)
    resolvers = Key(resolvers, "resolv_conf")
    resolv_conf = Key(text)
    etc_hosts = Key(text)
    proxy_env = Key(_texts_by_name)
    inotify = Key(item)
    listening = Key(texts)
    kubeconfig_servers = Key(text_map)
    kubeadm_output = Key(text)
    virtualization = Key(text)
    kubernetes_files = Key(texts)
    certificates = Key(item)
    packages = Key(item)
    package_sources = Key(texts)
    probes = Key(items)

    @cached_property
    def link_by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    def link(self, name: str) -> Link | None:
        """The link of that name, None where the host has none; raises `Missing` where links were not looked at."""
        return self.link_by_name.get(name)

    def raw_objects(self, key: str) -> list[dict[str, Any]]:
        """The objects of a list as they are, for lists of thousands; raises `Missing` or `Malformed`."""
        if not self.has(key):
            raise Missing(f"{self.path}.{key}")
        if not isinstance(self.raw[key], list):
            raise Malformed(f"{self.path}.{key}", f"a list is expected, a {type(self.raw[key]).__name__} stands there")
        return [one for one in self.raw[key] if isinstance(one, dict)]

    def main_by_text(self, version: int = 4) -> dict[str, dict[str, Any]]:
        """Unicast routes of the main table by destination as ``ip -j`` writes it, unparsed: a large cluster has
        thousands on every host, which are compared as texts."""
        key = "ip_route" if version == 4 else "ip6_route"
        made = self.derived(f"main.{key}", lambda: _main_by_text(self.raw_objects(key), version))
        found: dict[str, dict[str, Any]] = made
        return found

    @cached_property
    def default_links(self) -> set[str]:
        """Names of the links that default routes of any table lead over, as far as routes were looked at."""
        return {route.dev for route in self.own_routes if route.default}

    @cached_property
    def own_routes(self) -> list[Route]:
        """Routes of all tables of both families, as far as looked at, without those of flannel to other nodes."""
        return (self.own_routes4 if self.has("ip_route") else []) + (self.own_routes6 if self.has("ip6_route") else [])

    def main_routes(self, version: int = 4) -> list[Route]:
        """Routes of the main table of one family."""
        return [one for one in (self.routes4 if version == 4 else self.routes6) if one.table == "main"]

    def own_main_routes(self, version: int = 4) -> list[Route]:
        """The same without those of flannel to other nodes."""
        return [one for one in (self.own_routes4 if version == 4 else self.own_routes6) if one.table == "main"]

    def addresses(self, version: int | None = None) -> list[tuple[Link, Interface]]:
        """Every address with its link, of one family or of both."""
        pairs = [(link, one) for link in self.links for one in link.addresses]
        return [pair for pair in pairs if version is None or pair[1].version == version]

    def unit(self, name: str) -> Item:
        """A systemd unit: ``active``, ``enabled``, ``since``; empty where it was not listed."""
        return self.units.item(name)

    def unit_active(self, name: str) -> bool:
        return self.unit(name).text("active") in ("active", "reloading", "activating")

    @property
    def inotify_limits(self) -> Item:
        """``max_user_instances`` and ``max_user_watches``: by themselves, else as kernel values."""
        if self.has("inotify") or not self.has("sysctl"):
            found: Item = self.inotify
            return found
        prefix = "fs.inotify."
        return Item({key.removeprefix(prefix): value for key, value in self.sysctl.items() if key.startswith(prefix)})

    def unit_works(self, name: str) -> bool:
        """Whether the unit runs and stays: one that starts again and again is "activating"."""
        return self.unit(name).text("active") in ("active", "reloading")

    def probe(self, what: str) -> list[Item]:
        """The probes from this host whose ``what`` is that, or begins with it where it ends in "/".

        Rules hold probes against each other, so these are of one family: IPv4, unless all are of IPv6.
        """
        four = [one for one in self.probes if one.number("family") != 6]
        return [
            one
            for one in four or self.probes
            if one.text("what") == what or (what.endswith("/") and one.text("what").startswith(what))
        ]

    @property
    def node_name(self) -> str:
        """What the kubelet registers as: --hostname-override, else the host's name in lower case, else the
        inventory's name."""
        if override := self.hostname_override:
            return override
        return self.hostname.strip().lower() if self.has("hostname") else self.name

    @property
    def hostname_override(self) -> str:
        """The kubelet's --hostname-override, or ""."""
        raw = self.raw.get("kubelet_flags")
        return kubelet_flags(raw).get("hostname-override", "") if isinstance(raw, str) else ""

    @property
    def sandbox_ids(self) -> set[str]:
        return {one.text("id") for one in self.sandboxes}


def host_names(raw: Any) -> list[str]:
    return [name for name in raw if isinstance(name, str)] if isinstance(raw, dict) else as_list(raw)


def _main_by_text(routes: list[dict[str, Any]], version: int) -> dict[str, dict[str, Any]]:
    return {
        one["dst"]: one
        for one in routes
        if one.get("table", "main") == "main"
        and (version == 6 or "pref" not in one)
        and one.get("type", "unicast") == "unicast"
        and isinstance(one.get("dst"), str)
    }
