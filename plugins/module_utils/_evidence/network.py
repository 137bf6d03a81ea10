# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Links, addresses, routes, neighbours, sockets, and how the host resolves names."""

from __future__ import annotations

import re
from typing import Any

from .scrub import scrub
from .source import Missing, Source


def ip_address(source: Source) -> list[Any]:
    """`ip -j -d address show`."""
    return _listed(source, "ip", "-j", "-d", "address", "show")


def ip_route(source: Source) -> list[Any]:
    """`ip -j route show table all`."""
    return _listed(source, "ip", "-j", "route", "show", "table", "all")


def ip6_route(source: Source) -> list[Any]:
    """`ip -6 -j route show table all`; a host with IPv6 off has none."""
    if not source.exists("/proc/net/if_inet6"):
        return []
    return _listed(source, "ip", "-6", "-j", "route", "show", "table", "all")


def ip_rule(source: Source) -> list[Any]:
    """`ip -j rule show`."""
    return _listed(source, "ip", "-j", "rule", "show")


def ip_neigh(source: Source) -> list[Any]:
    """`ip -j neigh show`."""
    return _listed(source, "ip", "-j", "neigh", "show")


def bridge_fdb(source: Source) -> list[Any]:
    """`bridge -j fdb show`."""
    return _listed(source, "bridge", "-j", "fdb", "show")


def _listed(source: Source, *argv: str) -> list[Any]:
    answer = source.json(*argv)
    if not isinstance(answer, list):
        raise Missing(f"'{' '.join(argv)}' did not answer a list")
    # iproute2 prints an empty object for what it could not name
    return [item for item in answer if item]


def link_offload(source: Source) -> dict[str, dict[str, bool]]:
    """Checksum offloads, from `ethtool -k`, of flannel's links and of those that lead out of the host."""
    links = ip_address(source)
    outward = {route.get("dev") for route in ip_route(source) if route.get("dst") == "default"}
    found = {}
    for link in links:
        name = str(link.get("ifname", ""))
        if name in outward or name.startswith("flannel"):
            text = source.output("ethtool", "-k", name)
            found[name] = {
                match.group(1): match.group(2) == "on"
                for match in re.finditer(r"^\s*(tx-checksum-ip-generic|tx-udp_tnl\S*): (on|off)", text, re.M)
            }
    return found


def listening(source: Source) -> list[str]:
    """`ss -H -lntu`, one socket a line, single spaces."""
    return [" ".join(line.split()) for line in source.output("ss", "-H", "-lntu").splitlines() if line.strip()]


def resolv_conf(source: Source) -> str:
    """The text of the file that kubelet's `resolvConf` names, or of /etc/resolv.conf."""
    path = "/etc/resolv.conf"
    match = re.search(r"^resolvConf:\s*[\"']?(/[^\s\"']+)", source.read_or("/var/lib/kubelet/config.yaml", ""), re.M)
    if match:
        path = match.group(1)
    return source.read_or(path, "")


def etc_hosts(source: Source) -> str:
    """The text of /etc/hosts."""
    return source.read_or("/etc/hosts", "")


def network_manager_conf(source: Source) -> dict[str, str]:
    """NetworkManager's own settings by file name; never its connections, which hold passwords."""
    base = "/etc/NetworkManager"
    found = source.texts([base], ("NetworkManager.conf",))
    found.update(
        source.texts([f"{base}/conf.d", "/run/NetworkManager/conf.d", "/usr/lib/NetworkManager/conf.d"], (".conf",))
    )
    return {name: scrub(text) for name, text in found.items()}


_NETWORKD = (
    "/etc/systemd/network",
    "/run/systemd/network",
    "/usr/local/lib/systemd/network",
    "/usr/lib/systemd/network",
)


def networkd_conf(source: Source) -> dict[str, str]:
    """systemd-networkd's networks, devices and settings by file name, without keys.

    What a distribution ships below /usr is an example unless the host uses networkd, and is left out.
    """
    found = source.texts(_NETWORKD[:2], (".network", ".netdev"))
    found.update(source.texts(["/etc/systemd"], ("networkd.conf",)))
    found.update(source.texts(["/etc/systemd/networkd.conf.d", "/run/systemd/networkd.conf.d"], (".conf",)))
    return {name: scrub(text) for name, text in found.items()}


def link_files(source: Source) -> dict[str, str]:
    """The .link files that udev uses, by file name; systemd's tools name them in byte order."""
    return {name: scrub(text) for name, text in sorted(source.texts(_NETWORKD, (".link",)).items())}


KEYS: dict[str, Any] = {
    "ip_address": ip_address,
    "ip_route": ip_route,
    "ip6_route": ip6_route,
    "ip_rule": ip_rule,
    "ip_neigh": ip_neigh,
    "bridge_fdb": bridge_fdb,
    "link_offload": link_offload,
    "listening": listening,
    "resolv_conf": resolv_conf,
    "etc_hosts": etc_hosts,
    "network_manager_conf": network_manager_conf,
    "networkd_conf": networkd_conf,
    "link_files": link_files,
}
