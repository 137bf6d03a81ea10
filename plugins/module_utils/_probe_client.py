# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The asking end of a probe. Each function asks once, judges the answer by what it says, and raises ProbeFailed.

PRIVATE to the collection. Standard library only. That a connection came about proves nothing: gateways and transparent
proxies answer for addresses that are dead. So an answer counts only when it has this run's word in it, or, from parts
of the cluster that do not know the word, what only they would say.
"""

from __future__ import annotations

import errno
import hashlib
import ipaddress
import json
import os
import secrets
import socket
import ssl
import struct
import time

from ansible_collections.podnet.kubeadm.plugins.module_utils._probe_server import GREETING

IP_MTU_DISCOVER = 10
IP_PMTUDISC_DO = 2
IPV6_MTU_DISCOVER = 23
IPV6_MTU = 24
IP_HEADER, IPV6_HEADER, ICMP_HEADER = 20, 40, 8
DNS_TYPES = {"A": 1, "AAAA": 28}
DNS_CODES = {1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}


class ProbeFailed(Exception):
    """What came instead of the right answer, in a few words."""


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _words(exc: OSError) -> str:
    if isinstance(exc, socket.timeout):
        return "no answer"
    return (exc.strerror or str(exc)).lower()


def _name_in(line: bytes, word: str) -> str:
    words = line.decode("ascii", "replace").split()
    if len(words) != 3 or words[0] != GREETING:
        raise ProbeFailed(f"a stranger answered: {line[:60]!r}" if line else "closed without an answer")
    if words[1] != word:
        raise ProbeFailed("a probe of another run answered")
    return words[2]


def tcp_who(address: str, port: int, word: str, limit: float) -> str:
    """Name of who answers on *port*."""
    try:
        with socket.create_connection((address, port), limit) as sock:
            sock.sendall(f"{GREETING} {word} who\n".encode())
            with sock.makefile("rb") as stream:
                return _name_in(stream.readline(200), word)
    except OSError as exc:
        raise ProbeFailed(_words(exc)) from exc


def udp_who(address: str, port: int, word: str, limit: float) -> str:
    try:
        with socket.socket(_family(address), socket.SOCK_DGRAM) as sock:
            sock.settimeout(limit)
            sock.connect((address, port))
            sock.send(f"{GREETING} {word} who\n".encode())
            return _name_in(sock.recv(200), word)
    except OSError as exc:
        raise ProbeFailed(_words(exc)) from exc


def bulk(address: str, port: int, word: str, size: int, limit: float) -> None:
    """*size* random bytes there and back, compared by their digest and byte by byte."""
    body = os.urandom(size)
    try:
        with socket.create_connection((address, port), limit) as sock, sock.makefile("rwb") as stream:
            stream.write(f"{GREETING} {word} bulk {size}\n".encode() + body)
            stream.flush()
            digest = stream.readline(100).strip().decode("ascii", "replace")
            back = stream.read(size)
    except OSError as exc:
        raise ProbeFailed(_words(exc)) from exc
    if digest != hashlib.sha256(body).hexdigest():
        raise ProbeFailed("the bytes did not arrive as they were sent")
    if back != body:
        raise ProbeFailed(f"{len(back or b'')} of {size} bytes came back, or other ones")


def checksum(data: bytes) -> int:
    """The internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class TooLong(ProbeFailed):
    """A packet is longer than the path allows."""


def icmp_payload(mtu: int, address: str) -> int:
    """Bytes of payload that fill a packet of *mtu* bytes to *address*."""
    return mtu - ICMP_HEADER - (IPV6_HEADER if ":" in address else IP_HEADER)


def icmp(address: str, payload: int, limit: float) -> None:
    """One echo of *payload* bytes that must not be cut into pieces."""
    six = ":" in address
    body = os.urandom(payload)
    identity, sequence = secrets.randbits(16), 1
    header = struct.pack("!BBHHH", 128 if six else 8, 0, 0, identity, sequence)
    if not six:
        header = struct.pack("!BBHHH", 8, 0, checksum(header + body), identity, sequence)
    protocol = socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP
    end = time.monotonic() + limit
    try:
        with socket.socket(_family(address), socket.SOCK_RAW, protocol) as sock:
            level, option = (socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER) if six else (socket.IPPROTO_IP, IP_MTU_DISCOVER)
            sock.setsockopt(level, option, IP_PMTUDISC_DO)
            sock.connect((address, 0))
            sock.send(header + body)
            _await_echo(sock, identity, body, end)
    except OSError as exc:
        raise (TooLong if exc.errno == errno.EMSGSIZE else ProbeFailed)(_words(exc)) from exc


def _await_echo(sock: socket.socket, identity: int, body: bytes, end: float) -> None:
    six = sock.family == socket.AF_INET6
    while time.monotonic() < end:
        sock.settimeout(max(0.01, end - time.monotonic()))
        packet = sock.recv(len(body) + 100)
        if not six:
            packet = packet[(packet[0] & 15) * 4 :]
        kind, _code, _sum, found, _sequence = struct.unpack("!BBHHH", packet[:8])
        if kind == (129 if six else 0) and found == identity:
            if packet[8:] != body:
                raise ProbeFailed("the echo has another content")
            return
    raise ProbeFailed("no answer")


def path_mtu(address: str) -> int:
    """Bytes that a packet to an IPv6 address may have, as far as the host has learned."""
    # A new socket: one that is connected already keeps the route, and the MTU, that it has.
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.connect((address, 9))
        return sock.getsockopt(socket.IPPROTO_IPV6, IPV6_MTU)


def full_icmp(address: str, mtu: int, limit: float) -> None:
    """One echo that fills a packet of *mtu* bytes.

    flannel tells pods the MTU that VXLAN leaves over IPv4. Over IPv6 the outer header is 20 bytes longer, so its link
    flannel-v6.1 carries 20 bytes less, and senders learn it from the node: that much is no fault.
    """
    try:
        icmp(address, icmp_payload(mtu, address), limit)
    except TooLong:
        known = path_mtu(address) if ":" in address else 0
        if known < mtu - (IPV6_HEADER - IP_HEADER):
            raise
        icmp(address, icmp_payload(known, address), limit)


def dns_query(name: str, kind: str, identity: int) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split("."))
    return (
        struct.pack("!HHHHHH", identity, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", DNS_TYPES[kind], 1)
    )


def _skip_name(data: bytes, at: int) -> int:
    while data[at]:
        if data[at] & 0xC0:
            return at + 2
        at += data[at] + 1
    return at + 1


def dns_addresses(data: bytes, identity: int) -> list[str]:
    """The addresses in a DNS answer (RFC 1035 4); raises ProbeFailed for any other answer."""
    try:
        found, flags, questions, answers = struct.unpack("!HHHH", data[:8])
        if found != identity or not flags & 0x8000:
            raise ProbeFailed("what came back is no answer to the question")
        if flags & 15:
            raise ProbeFailed(f"the answer is {DNS_CODES.get(flags & 15, flags & 15)}")
        at = 12
        for _question in range(questions):
            at = _skip_name(data, at) + 4
        addresses = []
        for _answer in range(answers):
            at = _skip_name(data, at)
            kind, _class, _ttl, length = struct.unpack("!HHIH", data[at : at + 10])
            at += 10
            if kind in DNS_TYPES.values():
                addresses.append(str(ipaddress.ip_address(data[at : at + length])))
            at += length
    except (IndexError, struct.error, ValueError) as exc:
        raise ProbeFailed("the answer is cut off") from exc
    return addresses


def dns(server: str, name: str, kind: str, expected: list[str], over_tcp: bool, limit: float) -> None:
    """Ask *server* for *name*; its addresses must be *expected*."""
    identity = secrets.randbits(16)
    query = dns_query(name, kind, identity)
    try:
        if over_tcp:
            with socket.create_connection((server, 53), limit) as sock, sock.makefile("rwb") as stream:
                stream.write(struct.pack("!H", len(query)) + query)
                stream.flush()
                head = stream.read(2)
                data = stream.read(struct.unpack("!H", head)[0]) if len(head) == 2 else b""
        else:
            with socket.socket(_family(server), socket.SOCK_DGRAM) as sock:
                sock.settimeout(limit)
                sock.connect((server, 53))
                sock.send(query)
                data = sock.recv(4096)
    except OSError as exc:
        raise ProbeFailed(_words(exc)) from exc
    found = dns_addresses(data, identity)
    if sorted(found) != sorted(expected):
        raise ProbeFailed(f"{name} is {', '.join(found) or 'nothing'}, not {', '.join(expected)}")


def api_version(address: str, port: int, ca_file: str, limit: float) -> None:
    """C(/version) of the API server at *address*, whose certificate must be the cluster's and name that address."""
    context = ssl.create_default_context(cafile=ca_file)
    host = f"[{address}]" if ":" in address else address
    try:
        with socket.create_connection((address, port), limit) as plain:  # noqa: SIM117  (Python 3.9)
            with context.wrap_socket(plain, server_hostname=address) as sock, sock.makefile("rb") as stream:
                sock.sendall(f"GET /version HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
                answer = stream.read()
    except OSError as exc:
        raise ProbeFailed(_words(exc)) from exc
    try:
        json.loads(answer.partition(b"\r\n\r\n")[2])["gitVersion"]
    except (ValueError, KeyError, TypeError) as exc:
        raise ProbeFailed(f"something else answers: {answer[:60]!r}") from exc


def kubelet(address: str, port: int, limit: float) -> None:
    """A TLS server that refuses plain HTTP in the words of Go's: the kubelet, without any right to ask it more."""
    try:
        with socket.create_connection((address, port), limit) as sock:
            sock.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            with sock.makefile("rb") as stream:
                answer = stream.read(400)
    except OSError as exc:
        raise ProbeFailed(_words(exc)) from exc
    if b"HTTP request to an HTTPS server" not in answer:
        raise ProbeFailed(f"something else answers: {answer[:60]!r}")


def connects(address: str, port: int, limit: float) -> None:
    """That something answers a connection: all that can be asked of an address nothing is known of."""
    try:
        socket.create_connection((address, port), limit).close()
    except OSError as exc:
        raise ProbeFailed(_words(exc)) from exc
