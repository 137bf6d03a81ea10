# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends a packet through the host's forward hook, between two network namespaces made for it."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import select
import socket
from collections.abc import Mapping
from typing import Any

from .._netfilter import FORWARD, Ruleset, walk
from .._netns import enter
from .accepts import Accepts
from .change import Tools

SIDES = ("a", "b")
PORT = 28472
_SECONDS = 2.0
_GATEWAY = {4: "169.254.1.1", 6: "fe80::1"}


class ProbeError(Exception):
    """The probe could not be made; the text says why."""


def link_of(side: str) -> str:
    """The host's end. 15 characters are the most a name may have."""
    return f"podnetprobe-{side}"


def space_of(side: str) -> str:
    return f"podnet-probe-{os.getpid()}-{side}"


def leftovers(folder: str = "/run/netns") -> list[str]:
    """Namespaces of probes that were killed before they could remove them."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = []
    for name in names:
        owner = name[len("podnet-probe-") :].partition("-")[0] if name.startswith("podnet-probe-") else ""
        if owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
            found.append(name)
    return sorted(found)


def addresses(cidr: str) -> list[str]:
    """The last two addresses of a pod range: nodes are given ranges from its beginning."""
    network = ipaddress.ip_network(cidr)
    return [str(network.broadcast_address - 2), str(network.broadcast_address - 1)]


def send(accepts: Accepts, tools: Tools) -> dict[int, bool]:
    """Whether a UDP packet arrives, by IP version; everything made for it is removed whatever happens."""
    ranges = _ranges(accepts)
    for space in leftovers():
        tools.try_run("ip", "netns", "delete", space)  # its end of the link goes with it, and so the host's
    try:
        _build(ranges, tools)
        return {version: _arrives(version, addresses(cidr)) for version, cidr in sorted(ranges.items())}
    finally:
        for side in SIDES:
            tools.try_run("ip", "link", "delete", link_of(side))
            tools.try_run("ip", "netns", "delete", space_of(side))


def _ranges(accepts: Accepts) -> dict[int, str]:
    """The first pod range of each IP version that the host could forward."""
    found: dict[int, str] = {}
    for cidr in accepts.cidrs:
        found.setdefault(ipaddress.ip_network(cidr).version, cidr)
    # Unlike IPv4, IPv6 is forwarded by all interfaces or by none.
    if 6 in found and _forwards_ipv6() is False:
        del found[6]
    return found


def _forwards_ipv6() -> bool:
    try:
        with open("/proc/sys/net/ipv6/conf/all/forwarding", encoding="ascii") as file:
            return file.read().strip() == "1"
    except OSError:
        return False


def _build(ranges: Mapping[int, str], tools: Tools) -> None:
    for side in SIDES:
        tools.run("ip", "netns", "add", space_of(side))
        tools.run("ip", "link", "add", link_of(side), "type", "veth", "peer", "name", "eth0", "netns", space_of(side))
    for version, cidr in ranges.items():
        proto = f"-{version}"
        length = "32" if version == 4 else "128"
        for side, address in zip(SIDES, addresses(cidr)):
            inside, link = ("ip", "-n", space_of(side), proto), link_of(side)
            if version == 4:
                # Only these two links are told to forward, whatever the host does otherwise.
                for setting in (f"net.ipv4.conf.{link}.forwarding=1", f"net.ipv4.conf.{link}.rp_filter=0"):
                    tools.run("sysctl", "-qw", setting)
            else:
                tools.run("sysctl", "-qw", f"net.ipv6.conf.{link}.forwarding=1")
            tools.run("ip", "link", "set", link, "up")
            tools.run("ip", "-n", space_of(side), "link", "set", "eth0", "up")
            extra = () if version == 4 else ("nodad",)
            tools.run(*inside, "address", "add", f"{address}/{length}", "dev", "eth0", *extra)
            tools.run(*inside, "route", "add", _GATEWAY[version], "dev", "eth0")
            tools.run(*inside, "route", "add", "default", "via", _GATEWAY[version], "dev", "eth0", "onlink")
            outer, inner = _mac(tools, link), _mac(tools, "eth0", space_of(side))
            tools.run(*inside, "neighbor", "replace", _GATEWAY[version], "lladdr", outer, "dev", "eth0")
            tools.run("ip", proto, "route", "replace", f"{address}/{length}", "dev", link)
            tools.run("ip", proto, "neighbor", "replace", address, "lladdr", inner, "dev", link)


def _mac(tools: Tools, link: str, space: str = "") -> str:
    where = ("-n", space) if space else ()
    return tools.run("ip", *where, "-br", "link", "show", "dev", link).split()[2]


def _socket(side: str, family: int) -> socket.socket:
    """A socket in the namespace of a side, made by a process that is there for a moment."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter(f"/run/netns/{space_of(side)}")
        return socket.socket(family, socket.SOCK_DGRAM)
    finally:
        enter(f"/proc/self/fd/{home}")
        os.close(home)


def _arrives(version: int, ends: list[str]) -> bool:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    token = os.urandom(16)
    with _socket("b", family) as receiver, _socket("a", family) as sender:
        receiver.bind((ends[1], PORT))
        sender.bind((ends[0], PORT))
        for _attempt in range(3):
            # The ICMP error of a reject is told by the next send.
            with contextlib.suppress(OSError):
                sender.sendto(token, (ends[1], PORT))
            if select.select([receiver], [], [], _SECONDS / 3)[0] and receiver.recv(64) == token:
                return True
    return False


def contradictions(arrived: Mapping[int, bool], node: Mapping[str, Any], accepts: Accepts) -> list[str]:
    """Sentences about packets that the walk has judged otherwise than the kernel."""
    rules = Ruleset.from_evidence(node)
    ranges = _ranges(accepts)
    found = []
    for version, came in arrived.items():
        ends = addresses(ranges[version])
        packet = {
            "in": link_of("a"), "out": link_of("b"), "source": ends[0], "destination": ends[1], "protocol": "udp",
            "source_port": PORT, "destination_port": PORT,
        }  # fmt: skip
        verdict = walk(rules, packet, FORWARD).verdict
        if verdict != "undetermined" and (verdict == "accept") != came:
            came_text = "arrived" if came else "did not arrive"
            found.append(
                f"A packet from {ends[0]} to {ends[1]} {came_text}, but by the rules of this host its verdict is "
                f"{verdict}. If no route and no program beside netfilter explains it, it is a fault of podnet.kubeadm; "
                "please report it with the output of `nft -j list ruleset`."
            )
    return found
