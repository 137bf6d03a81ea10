# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which packets belong to a traced connection: the kernel's filter for them, and what their headers say.

PRIVATE to the collection. Standard library only, pure. A packet starts with its network header (AF_PACKET, SOCK_DGRAM).
The connection is told by the port from which it starts, which address translation inside a cluster keeps, and where
that changes too, by the other end. Both are looked for plainly, within VXLAN, and in what an ICMP error quotes. Packets
with IP options or extension headers are passed over: no connection that is made here has them.
"""

from __future__ import annotations

import ipaddress
import struct
from typing import Any

SNAP = 160  # the longest headers: IPv6, UDP, VXLAN, Ethernet, IPv6, TCP
TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58
FLAGS = {1: "F", 2: "S", 4: "R", 8: "P", 16: "A"}
LD, AND, JEQ, RET = {1: 0x30, 2: 0x28, 4: 0x20}, 0x54, 0x15, 0x06  # linux/bpf_common.h
VXLAN_HEADERS = 8 + 8 + 14  # UDP, VXLAN, Ethernet


def _ip(version: int, at: int, protocol: int) -> list[tuple[int, int, int, int]]:
    if version == 4:
        return [(1, at, 0xFF, 0x45), (1, at + 9, 0xFF, protocol), (2, at + 6, 0x1FFF, 0)]
    return [(1, at, 0xF0, 0x60), (1, at + 6, 0xFF, protocol)]


def _length(version: int) -> int:
    return 20 if version == 4 else 40


def _address(address: str, at: int) -> list[tuple[int, int, int, int]]:
    packed = ipaddress.ip_address(address).packed
    words = struct.unpack(f"!{len(packed) // 4}I", packed)
    return [(4, at + 4 * index, 0xFFFFFFFF, word) for index, word in enumerate(words)]


def patterns(version: int, port: int, peers: list[tuple[str, int]], vxlan_port: int, protocol: int = TCP) -> list[Any]:
    """Lists of tests; a packet that passes all tests of one list is of the connection.

    version: 4 or 6. port: where the connection starts. peers: its other ends. vxlan_port: 0 for no VXLAN. protocol: TCP
    or UDP.
    """
    found = []
    starts: list[tuple[list[tuple[int, int, int, int]], int]] = [([], 0)]
    for outer in (4, 6) if vxlan_port else ():
        head = [*_ip(outer, 0, UDP), (2, _length(outer) + 2, 0xFFFF, vxlan_port)]
        starts.append((head, _length(outer) + VXLAN_HEADERS))
    for head, at in starts:
        plain, header = _ip(version, at, protocol), at + _length(version)
        quoted = header + 8
        error = [*_ip(version, at, ICMP if version == 4 else ICMPV6), *_ip(version, quoted, protocol)]
        found += [[*head, *plain, (2, header + side, 0xFFFF, port)] for side in (0, 2)]
        found += [[*head, *error, (2, quoted + _length(version) + side, 0xFFFF, port)] for side in (0, 2)]
        for address, peer_port in peers:
            source = at + (12 if version == 4 else 8)
            destination = source + (4 if version == 4 else 16)
            found += [
                [*head, *plain, (2, header + side, 0xFFFF, peer_port), *_address(address, where)]
                for side, where in ((0, source), (2, destination))
            ]
            aimed = quoted + destination - at
            port_there = (2, quoted + _length(version) + 2, 0xFFFF, peer_port)
            found.append([*head, *error, port_there, *_address(address, aimed)])
    return found


def program(wanted: list[Any]) -> bytes:
    """The classic BPF program (struct sock_filter) that keeps what one of the patterns fits.

    A load beyond a packet's end ends the program and drops the packet (Documentation/networking/filter.rst): every
    pattern looks beyond the shortest header only after it has seen what follows there.
    """
    code = b""
    for pattern in wanted:
        sizes = [2 if mask == (1 << 8 * size) - 1 else 3 for size, _at, mask, _value in pattern]
        left = sum(sizes) + 1
        for (size, at, mask, value), length in zip(pattern, sizes):
            left -= length
            code += struct.pack("=HBBI", LD[size], 0, 0, at)
            if length == 3:
                code += struct.pack("=HBBI", AND, 0, 0, mask)
            code += struct.pack("=HBBI", JEQ, 0, left, value)
        code += struct.pack("=HBBI", RET, 0, 0, SNAP)
    return code + struct.pack("=HBBI", RET, 0, 0, 0)


def fits(data: bytes, wanted: list[Any]) -> bool:
    """What the program answers; for packets that came before the kernel knew it, and for its test."""
    return any(
        all(
            len(data) >= at + size and int.from_bytes(data[at : at + size], "big") & mask == value
            for size, at, mask, value in pattern
        )
        for pattern in wanted
    )


def headers(data: bytes, vxlan_port: int) -> dict[str, Any]:
    """What the headers of a packet that fits say.

    source, destination, source_port, destination_port, sequence; of TCP flags (letters of SAFRP) and acknowledged;
    within VXLAN also outer_source, outer_destination and vni. Of an ICMP error: error (type, code), reporter, and the
    quoted packet. A datagram's sequence is what its first two bytes say, where DNS has the number of the question.
    """
    said: dict[str, Any] = {}
    version, at = data[0] >> 4, 0
    protocol = _protocol(data, 0)
    if protocol == UDP and vxlan_port and struct.unpack_from("!H", data, _length(version) + 2)[0] == vxlan_port:
        said["outer_source"], said["outer_destination"] = _ends(data, 0)
        said["vni"] = int.from_bytes(data[_length(version) + 12 : _length(version) + 15], "big")
        at = _length(version) + VXLAN_HEADERS
        version = data[at] >> 4
        protocol = _protocol(data, at)
    if protocol in (ICMP, ICMPV6):
        header = at + _length(version)
        said["error"], said["reporter"] = [data[header], data[header + 1]], _ends(data, at)[0]
        at = header + 8
        protocol = _protocol(data, at)
    said["source"], said["destination"] = _ends(data, at)
    header = at + _length(version)
    said["source_port"], said["destination_port"] = struct.unpack_from("!HH", data, header)
    if protocol == UDP:
        if len(data) >= header + 10:
            said["sequence"] = struct.unpack_from("!H", data, header + 8)[0]
        return said
    if len(data) >= header + 8:  # an ICMP error quotes at least that
        said["sequence"] = struct.unpack_from("!I", data, header + 4)[0]
    if len(data) >= header + 14 and "error" not in said:
        said["acknowledged"] = struct.unpack_from("!I", data, header + 8)[0]
        bits = data[header + 13]
        said["flags"] = "".join(letter for bit, letter in FLAGS.items() if bits & bit)
    return said


def _protocol(data: bytes, at: int) -> int:
    """What the IP header at an offset carries."""
    return data[at + 9] if data[at] >> 4 == 4 else data[at + 6]


def _ends(data: bytes, at: int) -> tuple[str, str]:
    """Source and destination of the IP header at an offset."""
    version = data[at] >> 4
    start, length = (at + 12, 4) if version == 4 else (at + 8, 16)
    source, destination = data[start : start + length], data[start + length : start + 2 * length]
    return str(ipaddress.ip_address(source)), str(ipaddress.ip_address(destination))
