# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A router between three endpoints, in network namespaces of its own, and real packets through it.

    a --- p1 [br0 10.1.0.1/24 fd01::1/64]            [wan0 10.2.0.1/24 fd02::1/64] --- s
    b --- p2 [   bridge, br_netfilter on ]   router

Endpoints have no addresses: they send and catch frames and never answer by themselves.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TAG = b"podnet-fuzz-"
ADDRESSES = {
    "a": {4: ["10.1.0.5", "10.1.0.9"], 6: ["fd01::5", "fd01::9"]},
    "b": {4: ["10.1.0.6"], 6: ["fd01::6"]},
    "s": {4: ["10.2.0.7", "10.2.0.8", "10.2.3.4"], 6: ["fd02::7", "fd02::8", "fd02::3:4"]},
    "router": {4: ["10.1.0.1"], 6: ["fd01::1"]},
}
OWN = {"br0": ("10.1.0.1/24", "fd01::1/64"), "wan0": ("10.2.0.1/24", "fd02::1/64")}
ROUTES = ("10.2.3.0/24", "fd02:0:0:1::/64")  # by wan0
_FLAGS = {"syn": 2, "ack": 16, "synack": 18, "data": 24, "rst": 4}


@dataclass
class Frame:
    """A packet to send: from which endpoint, to which, and what it is."""

    origin: str
    target: str
    version: int
    source: str
    destination: str
    protocol: str
    sport: int = 0
    dport: int = 0
    flags: str = "syn"
    seq: int = 1000
    ack: int = 0
    icmp_type: int = 0


def run(*command: str, text: str | None = None, check: bool = True) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout if not done.returncode else done.stderr


class Net:
    """The namespaces; `with Net() as net`."""

    def __init__(
        self,
        bridge: str = "br0",
        uplink: str = "wan0",
        addresses: Mapping[str, Mapping[int, Sequence[str]]] | None = None,
        own: Mapping[str, Sequence[str]] | None = None,
        routes: Sequence[str] = ROUTES,
    ) -> None:
        """The router's interfaces, their addresses, the endpoints' addresses, and what else is routed by the uplink."""
        self.bridge, self.uplink, self.routes = bridge, uplink, routes
        self.addresses, self.own = addresses or ADDRESSES, own or OWN
        self.links = {"a": "p1", "b": "p2", "s": uplink}
        self.prefix = f"fz{os.getpid()}"
        self.sockets: dict[str, socket.socket] = {}
        self.raw: list[socket.socket] = []
        self.macs: dict[str, bytes] = {}
        self.count = 0

    def name(self, which: str) -> str:
        return f"{self.prefix}-{which}"

    def inside(self, which: str, *command: str, text: str | None = None, check: bool = True) -> str:
        # Quicker than `ip netns exec`, which mounts /sys anew each time.
        return run("nsenter", f"--net=/run/netns/{self.name(which)}", *command, text=text, check=check)

    def __enter__(self) -> Net:
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def close(self) -> None:
        for one in [*self.sockets.values(), *self.raw]:
            one.close()
        for which in ("router", "a", "b", "s"):
            run("ip", "netns", "delete", self.name(which), check=False)

    def _build(self) -> None:
        for which in ("router", "a", "b", "s"):
            run("ip", "netns", "add", self.name(which))
        router = self.name("router")
        for which, link in self.links.items():
            run("ip", "link", "add", link, "netns", router, "type", "veth", "peer", "e0", "netns", self.name(which))
            self.inside(which, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
            self.inside(which, "ip", "link", "set", "e0", "up")
        bridge, uplink = self.bridge, self.uplink
        lines = [f"link add {bridge} type bridge forward_delay 0"]
        lines += [f"link set {port} master {bridge}" for port in ("p1", "p2")]
        lines += [f"link set {link} up" for link in ("lo", bridge, "p1", "p2", uplink)]
        for link, addresses in self.own.items():
            lines += [f"address add {one} dev {link}{' nodad' if ':' in one else ''}" for one in addresses]
        lines += [f"route add {one} dev {uplink}" for one in self.routes]
        self.inside("router", "ip", "-batch", "-", text="\n".join(lines) + "\n")
        self._wait_for_ports()
        settings = [
            "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.conf.all.rp_filter=0",
            f"net/ipv4/conf/{bridge}/rp_filter=0", f"net/ipv4/conf/{uplink}/rp_filter=0",
            "net.ipv4.conf.all.send_redirects=0", f"net/ipv4/conf/{bridge}/send_redirects=0",
            "net.bridge.bridge-nf-call-iptables=1",
            "net.bridge.bridge-nf-call-ip6tables=1", "net.netfilter.nf_conntrack_tcp_be_liberal=1",
            "net.netfilter.nf_conntrack_tcp_loose=0", "net.ipv4.icmp_ratelimit=0",
        ]  # fmt: skip
        self.inside("router", "sysctl", "-qw", *settings)
        for which, link in [*self.links.items(), ("router", bridge)]:
            namespace, device = (which, "e0") if which != "router" else ("router", link)
            text = self.inside(namespace, "ip", "-br", "link", "show", device).split()[2]
            self.macs[which] = bytes.fromhex(text.strip().replace(":", ""))
        text = self.inside("router", "ip", "-br", "link", "show", uplink).split()[2]
        self.macs["wan"] = bytes.fromhex(text.replace(":", ""))
        for which, link in (("a", bridge), ("b", bridge), ("s", uplink)):
            mac = ":".join(f"{byte:02x}" for byte in self.macs[which])
            lines = [
                f"neighbor replace {address} lladdr {mac} dev {link} nud permanent"
                for version in (4, 6)
                for address in self.addresses[which].get(version, ())
            ]
            self.inside("router", "ip", "-batch", "-", text="\n".join(lines) + "\n")
        self._open()

    def _wait_for_ports(self) -> None:
        """The kernel looks at carriers once a second; a port forwards only after that."""
        limit = time.monotonic() + 10
        while True:
            state = self.inside("router", "bridge", "link")
            if state.count("state forwarding") == 2:
                return
            if time.monotonic() > limit:
                raise RuntimeError(f"the bridge ports do not forward after 10 s: {state}")
            time.sleep(0.05)

    def _open(self) -> None:
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        try:
            for which in ("a", "b", "s", "router"):
                there = os.open(f"/run/netns/{self.name(which)}", os.O_RDONLY)
                os.setns(there, os.CLONE_NEWNET)
                os.close(there)
                if which == "router":
                    for family, protocols in ((socket.AF_INET, (6, 17, 1)), (socket.AF_INET6, (6, 17, 58))):
                        self.raw += [socket.socket(family, socket.SOCK_RAW, number) for number in protocols]
                    continue
                caught = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
                caught.bind(("e0", 3))
                self.sockets[which] = caught
        finally:
            os.setns(home, os.CLONE_NEWNET)
            os.close(home)
        for one in [*self.sockets.values(), *self.raw]:
            one.setblocking(False)

    def send(self, frames: Sequence[Frame], wait: float = 0.004) -> list[bool]:
        """Sends the frames one after the other; for each, whether it came out at another end."""
        self._drain()
        tags = []
        for frame in frames:
            self.count += 1
            tag = TAG + b"%08d" % self.count
            tags.append(tag)
            self.sockets[frame.origin].send(self._ethernet(frame) + packet(frame, tag))
        time.sleep(wait)
        caught = self._drain()
        return [any(tag in data for data in caught) for tag in tags]

    def _ethernet(self, frame: Frame) -> bytes:
        if {frame.origin, frame.target} == {"a", "b"}:
            target = self.macs[frame.target]
        else:
            target = self.macs["wan"] if frame.origin == "s" else self.macs["router"]
        return target + self.macs[frame.origin] + struct.pack("!H", 0x0800 if frame.version == 4 else 0x86DD)

    def _drain(self) -> list[bytes]:
        caught = []
        for which, one in [*self.sockets.items(), *(("router", one) for one in self.raw)]:
            while True:
                try:
                    data, address = one.recvfrom(4096)
                except BlockingIOError:
                    break
                if which == "router" or (address[2] != socket.PACKET_OUTGOING and not _is_refusal(data)):
                    caught.append(data)
        return caught


def _is_refusal(data: bytes) -> bool:
    """An ICMP error or redirect quotes the packet, tag included."""
    if data[12:14] == b"\x08\x00":
        return data[23] == 1 and data[34] == 3
    return data[20] == 58 and data[54] in (1, 2, 3, 4, 137)


def packet(frame: Frame, payload: bytes) -> bytes:
    """The IP packet of a frame."""
    number = {"tcp": 6, "udp": 17, "icmp": 1 if frame.version == 4 else 58, "sctp": 132}[frame.protocol]
    family = socket.AF_INET if frame.version == 4 else socket.AF_INET6
    source, destination = (socket.inet_pton(family, one) for one in (frame.source, frame.destination))
    if frame.protocol == "tcp":
        head = struct.pack(
            "!HHIIBBHHH", frame.sport, frame.dport, frame.seq, frame.ack, 0x50, _FLAGS[frame.flags], 64240, 0, 0
        )
        at = 16
    elif frame.protocol == "udp":
        head, at = struct.pack("!HHHH", frame.sport, frame.dport, 8 + len(payload), 0), 6
    else:
        head, at = struct.pack("!BBHHH", frame.icmp_type, 0, 0, frame.sport, 1), 2
    body = head + payload
    pseudo = (
        source + destination + struct.pack("!IHBB" if frame.version == 6 else "!BBH", *_pseudo(frame, number, body))
    )
    if number == 1:
        pseudo = b""
    check = checksum(pseudo + body)
    body = body[:at] + struct.pack("!H", check) + body[at + 2 :]
    if frame.version == 6:
        return struct.pack("!IHBB", 6 << 28, len(body), number, 64) + source + destination + body
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 7, 0x4000, 64, number, 0, source, destination)
    return ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + body


def _pseudo(frame: Frame, number: int, body: bytes) -> tuple[int, ...]:
    return (len(body), 0, 0, number) if frame.version == 6 else (0, number, len(body))


def checksum(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
