# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way of a packet from a pod on one node to a pod on another, and the hop at which a finding breaks it."""

from __future__ import annotations

from typing import Any

from .._finding import CLUSTER, INTENT, SEVERITIES, Finding
from ._facts import ClusterFacts, HostFacts

# Stations of one node from the pod outwards; the other node's follow in reverse.
_STATIONS = ("pod", "bridge", "forward", "route", "tunnel", "interface")

# Where a code breaks the way. What is not listed breaks no single hop.
_BREAKS = {
    "pod": (
        "cni-plugin-missing cni-dir-mismatch cni-foreign-config cni-other-installed cni-version-unsupported"
        " ipam-leak node-cidr-unassigned node-cidr-duplicate pod-cidr-missing pod-cidr-lost"
        " flannel-network-mismatch flannel-network-narrow flannel-netconf-invalid flannel-ipv6-mismatch"
        " flannel-absent flannel-rbac flannel-taint flannel-memory flannel-manifest-old image-unavailable"
        " image-wrong-arch runtime-down kubelet-down cri-disabled node-range-too-small cgroup-driver-mismatch"
        " sandbox-image-mismatch capacity-too-small selinux-denied apparmor-denied inotify-low swap-on"
        " controller-manager-down network-policy-blocks"
    ),
    "bridge": "stale-link bridge-nf-off mtu-mismatch reset-leftovers",
    "forward": (
        "forward-policy-drop forward-rule-drop forward-other-table flannel-rules-missing ip-forward-off"
        " rp-filter-strict iptables-backend-mix netfilter-incomplete sysctl-wrong"
    ),
    "route": (
        "route-missing route-stale vpn-policy-routing overlap-host-network overlap-vpn"
        " overlap-container-bridge overlap-pod-service live-cidr-change host-network-manager"
    ),
    "tunnel": (
        "flannel-link-missing fdb-stale vtep-mac-changed module-missing checksum-offload port-taken ipv6-disabled"
    ),
    "interface": "interface-wrong interface-none public-ip-wrong",
    "network": "vxlan-port-blocked underlay-antispoof l2-adjacency",
}
STATION_OF = {code: station for station, codes in _BREAKS.items() for code in codes.split()}


def path(cluster: ClusterFacts, hosts: list[HostFacts], findings: list[Finding]) -> dict[str, Any]:
    """The way between two nodes: the one that the first breaking finding names, and another.

    Answers ``from``, ``to``, ``broken`` (index of a hop, or None) and ``hops``: name, detail, node, codes of the
    findings that break there. Without two hosts there is no way, and ``hops`` is empty.
    """
    if len(hosts) < 2:
        return {"from": "", "to": "", "broken": None, "hops": []}
    every = [one for finding in findings for one in finding.walk()]
    breaking = [one for one in every if one.code in STATION_OF and one.severity != SEVERITIES[-1]]
    names = {host.name for host in hosts} | {host.node for host in hosts}
    first = next((one for one in breaking), None)
    start = next((place for place in first.where if place in names), "") if first else ""
    one = next((host for host in hosts if start and start in (host.name, host.node)), hosts[0])
    healthy = [host for host in hosts if host is not one and not _at(first, host)]
    other = (healthy or [host for host in hosts if host is not one])[0]

    hops = [_hop(station, one, cluster) for station in _STATIONS]
    hops.append({"station": "network", "name": "network", "node": "", "detail": _between(cluster), "codes": []})
    hops += [_hop(station, other, cluster) for station in reversed(_STATIONS)]
    if cluster.backend == "host-gw":
        hops = [hop for hop in hops if hop["station"] != "tunnel"]
    alias = {host.name: host.node for host in (one, other)}
    for finding in breaking:
        for hop in hops:
            # A finding at no node in particular breaks both sides; the first is where the packet stops.
            here = {hop["node"], alias.get(hop["node"])} & set(finding.where) or not hop["node"]
            here = here or not (set(finding.where) - {CLUSTER, INTENT})
            if hop["station"] == STATION_OF[finding.code] and here and finding.code not in hop["codes"]:
                hop["codes"].append(finding.code)
    errors = {finding.code for finding in breaking if finding.severity == "error"}
    broken = next((i for i, hop in enumerate(hops) if errors & set(hop["codes"])), None)
    return {"from": one.name, "to": other.name, "broken": broken, "hops": hops}


def _at(finding: Finding | None, host: HostFacts) -> bool:
    return bool(finding and (host.name in finding.where or host.node in finding.where))


def _between(cluster: ClusterFacts) -> str:
    if cluster.backend in ("vxlan", "wireguard", "udp"):
        return f"UDP port {cluster.port}"
    return {"host-gw": "plain frames with pod addresses", "ipip": "IP protocol 4"}.get(cluster.backend, "")


def _hop(station: str, host: HostFacts, cluster: ClusterFacts) -> dict[str, Any]:
    link = {one["name"]: one for one in host.links}
    tunnel = next((name for name in link if name.startswith("flannel")), "flannel.1")
    outward = next(
        (one["name"] for one in host.links if any(_is(a, host.address) for a in one["addresses"])), "interface"
    )
    name, detail = {
        "pod": ("pod", f"address in {', '.join(host.pod_ranges) or 'the range of its node'}"),
        "bridge": ("cni0", _mtu(link.get("cni0"))),
        "forward": ("forwarding", "; ".join(host.firewall[:1])),
        "route": ("route", f"to the other node's range by {tunnel if cluster.backend != 'host-gw' else outward}"),
        "tunnel": (tunnel, _mtu(link.get(tunnel))),
        "interface": (outward, ", ".join(filter(None, (host.address, _mtu(link.get(outward)))))),
    }[station]
    return {"station": station, "name": name, "node": host.name, "detail": detail, "codes": []}


def _is(interface: str, address: str) -> bool:
    return bool(address) and interface.partition("/")[0] == address


def _mtu(link: dict[str, Any] | None) -> str:
    return f"MTU {link['mtu']}" if link and link.get("mtu") else ""
