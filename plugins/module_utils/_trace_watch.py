# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A short watch over all links of a host and of some of its pods, for the packets of one connection: headers only.

PRIVATE to the collection. Standard library only. The watch is a process of its own, so that it sees what is sent after
it was started; it answers once, to root, on a socket in the abstract namespace, and ends then, or after its life.
Nothing is written to a disk.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import socket
import struct
import time
from typing import Any, Callable

from ansible_collections.podnet.kubeadm.plugins.module_utils import _detached, _netns, _trace_filter

ETH_P_ALL = 3
SO_ATTACH_FILTER = 26
SO_TIMESTAMPNS = 35
BUFFER = 1 << 20
PACKET_OUTGOING = 4
TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ, TCP_SEND_QUEUE = 19, 20, 21, 2  # linux/tcp.h
MOST_PER_LINK, MOST = 60, 600
HOST = "host"


class WatchError(Exception):
    """A sentence about a watch that could not be made or asked."""


def listen(code: bytes) -> socket.socket:
    """A socket that gets every packet of the caller's network namespace that the program keeps, from all links."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HL", len(code) // 8, ctypes.addressof(buffer))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.setblocking(False)
    return sock


def when(ancillary: list[tuple[int, int, bytes]]) -> float:
    """When the kernel saw a packet, in seconds since the epoch: struct timespec, 64 bits each on 64-bit machines."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("ll", data[: struct.calcsize("ll")])
            return float(seconds + nanoseconds / 1e9)
    return time.time()


class Watch:
    """The sockets by where they are, C(host) or C(NAMESPACE/POD), and what came by them."""

    def __init__(self, wanted: list[Any], vxlan_port: int, pods: dict[str, str]) -> None:
        self.wanted, self.vxlan_port = wanted, vxlan_port
        self.seen: list[dict[str, Any]] = []
        self.cut = False
        self._counts: dict[tuple[str, str], int] = {}
        code = _trace_filter.program(wanted)
        self.sockets = {listen(code): HOST}
        own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            for name, netns in pods.items():
                _netns.enter(netns)
                self.sockets[listen(code)] = name
        finally:
            _netns.enter(f"/proc/self/fd/{own}")
            os.close(own)
        self.before = _netns.drops()

    def drain(self) -> None:
        """Take what has come."""
        for sock, place in self.sockets.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    data, ancillary, _flags, address = sock.recvmsg(_trace_filter.SNAP, 64)
                    self.take(place, address[0], address[2] == PACKET_OUTGOING, when(ancillary), data)

    def take(self, place: str, link: str, out: bool, time_seen: float, data: bytes) -> None:
        if not _trace_filter.fits(data, self.wanted):  # it came before the kernel had the filter
            return
        key = (place, link)
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] > MOST_PER_LINK or len(self.seen) >= MOST:
            self.cut = True
            return
        said = _trace_filter.headers(data, self.vxlan_port)
        self.seen.append({"place": place, "link": link, "out": out, "time": round(time_seen, 6), **said})

    def answer(self) -> dict[str, Any]:
        self.drain()
        now = _netns.drops()
        moved = {name: count - self.before.get(name, 0) for name, count in now.items()}
        return {"packets": self.seen, "cut": self.cut, "drops": {name: one for name, one in moved.items() if one > 0}}


def _name(word: str) -> str:
    return f"\0podnet-trace-{word}"


def _serve(watch: Watch, server: socket.socket, life: float) -> None:
    """Watch until root asks, or the life is over."""
    end = time.monotonic() + life
    while time.monotonic() < end:
        ready = select.select([*watch.sockets, server], [], [], max(0.0, end - time.monotonic()))[0]
        watch.drain()
        if server in ready:
            client, _address = server.accept()
            with client:
                _pid, user, _group = struct.unpack(
                    "3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
                )
                if user == os.geteuid():
                    client.sendall(json.dumps(watch.answer()).encode())
                    return


def start(word: str, wanted: list[Any], vxlan_port: int, pods: dict[str, str], life: float) -> None:
    """Start a watch called *word*; returns when it sees everything. pods: paths of their namespaces by name."""

    def prepare() -> Callable[[], None]:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(_name(word))
        server.listen(1)
        watch = Watch(wanted, vxlan_port, pods)
        return lambda: _serve(watch, server, life)

    said = _detached.start(prepare)
    if said:
        raise WatchError(f"packets cannot be watched on this host: {said}")


def collect(word: str, limit: float) -> dict[str, Any]:
    """End the watch called *word*: packets, whether some were left out (cut), and counters of drops that moved."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(limit)
        try:
            sock.connect(_name(word))
            parts = []
            while True:
                part = sock.recv(1 << 16)
                if not part:
                    break
                parts.append(part)
            found: dict[str, Any] = json.loads(b"".join(parts))
        except (OSError, ValueError) as exc:
            raise WatchError(
                f"the watch {word} on this host does not answer: {exc}; it may have ended already"
            ) from exc
    return found


def connect(
    netns: str, source_port: int, address: str, port: int, limit: float, sequence: int | None = None, udp: bool = False
) -> dict[str, Any]:
    """One connection from the namespace at *netns* (the caller's where it is ""): how it ended (in words) and after how
    many milliseconds.

    outcome: C(connected) (of UDP C(answered)), C(refused), C(no answer), or what the kernel says. sequence: by which
    its packets are known, 32 bits of TCP's initial number, 16 of a datagram's first two bytes.
    """
    if netns:
        _netns.enter(netns)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    begin = time.monotonic()
    with socket.socket(family, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM) as sock:
        sock.settimeout(limit)
        try:
            sock.bind(("", source_port))
            if udp:
                outcome = _ask(sock, (address, port), question(sequence or 0), limit)
            else:
                if sequence is not None:
                    _begin_with(sock, sequence)
                sock.connect((address, port))
                outcome = "connected"
        except socket.timeout:
            outcome = "no answer"
        except ConnectionRefusedError:
            outcome = "refused"
        except OSError as exc:
            outcome = (exc.strerror or str(exc)).lower()
    return {"outcome": outcome, "ms": round((time.monotonic() - begin) * 1000, 1)}


def _begin_with(sock: socket.socket, sequence: int) -> None:
    """Give a connection its initial sequence number (tcp(7) has no other way than repair mode, before it connects)."""
    for option, value in ((TCP_REPAIR, 1), (TCP_REPAIR_QUEUE, TCP_SEND_QUEUE)):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_QUEUE_SEQ, struct.pack("=I", sequence))
    sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 0)


def question(number: int) -> bytes:
    """What DNS servers of any domain answer at once: version.bind, TXT, CHAOS (RFC 4892). Others may answer or not."""
    name = b"".join(bytes([len(label)]) + label for label in (b"version", b"bind")) + b"\0"
    return struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 0) + name + struct.pack("!HH", 16, 3)


def _ask(sock: socket.socket, peer: tuple[str, int], data: bytes, limit: float) -> str:
    """Send a datagram, and again each second, as TCP does at first. Raises socket.timeout."""
    end = time.monotonic() + limit
    sock.connect(peer)
    while True:
        sock.send(data)
        left = end - time.monotonic()
        sock.settimeout(max(0.01, min(1.0, left)))
        try:
            sock.recv(4096)
            return "answered"
        except socket.timeout:
            if left <= 1.0:
                raise
