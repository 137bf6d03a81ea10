# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program for the kernel is run by an interpreter here, and held against what it should keep."""

from __future__ import annotations

import ipaddress
import struct
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _trace_filter

PORT = 23456
FLAGS = {"S": 2, "A": 16}


def run(code: bytes, data: bytes) -> int:
    """Classic BPF as the kernel runs it (linux/filter.h): what it would keep of a packet, in bytes."""
    instructions = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    register, at = 0, 0
    while True:
        operation, yes, no, value = instructions[at]
        at += 1
        if operation in (0x20, 0x28, 0x30):
            size = {0x20: 4, 0x28: 2, 0x30: 1}[operation]
            if value + size > len(data):
                return 0
            register = int.from_bytes(data[value : value + size], "big")
        elif operation == 0x54:
            register &= value
        elif operation == 0x15:
            at += yes if register == value else no
        else:
            assert operation == 0x06
            return value


def ip(source: str, destination: str, protocol: int, body: bytes) -> bytes:
    ends = ipaddress.ip_address(source).packed + ipaddress.ip_address(destination).packed
    if ":" in source:
        return struct.pack("!IHBB", 6 << 28, len(body), protocol, 64) + ends + body
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0, 64, protocol, 0) + ends + body


def tcp(source: str, destination: str, source_port: int, port: int, flags: str = "S") -> bytes:
    bits = sum(FLAGS[one] for one in flags)
    head = struct.pack("!HHIIBBHHH", source_port, port, 1000, 2000, 0x50, bits, 64000, 0, 0)
    return ip(source, destination, 6, head)


def wrapped(source: str, destination: str, inner: bytes, port: int = 8472) -> bytes:
    vxlan = struct.pack("!II", 0x08000000, 1 << 8) + bytes(12) + b"\x08\x00" + inner
    return ip(source, destination, 17, struct.pack("!HHHH", 40000, port, 8 + len(vxlan), 0) + vxlan)


A, B, N1, N2 = "10.244.0.6", "10.244.1.3", "192.0.2.11", "192.0.2.12"
SYN = tcp(A, B, PORT, 8080)
KEPT = {
    "there": SYN,
    "back": tcp(B, A, 8080, PORT, "SA"),
    "within VXLAN": wrapped(N1, N2, SYN),
    "within VXLAN over IPv6": wrapped("fd42::1", "fd42::2", SYN),
    "masqueraded": tcp(N1, B, 5555, 8080),
    "answer to what is masqueraded": tcp(B, N1, 8080, 5555, "SA"),
    "quoted by an error": ip(N1, A, 1, struct.pack("!BBHI", 3, 3, 0, 0) + SYN[:28]),
}
LEFT = {
    "another port": tcp(A, B, 1, 8081),
    "the other end's port elsewhere": tcp(A, N2, 1, 8080),
    "UDP": ip(A, B, 17, struct.pack("!HHHH", PORT, 8080, 8, 0)),
    "an echo": ip(A, B, 1, struct.pack("!BBHHH", 8, 0, 0, 1, 1) + bytes(56)),
    "a short one": SYN[:21],
    "another VXLAN port": wrapped(N1, N2, SYN, 4789),
    "another connection within VXLAN": wrapped(N1, N2, tcp(A, B, 1, 2)),
    "a later fragment": SYN[:6] + b"\x00\x10" + SYN[8:],
}


def wanted(version: int = 4) -> list[Any]:
    return _trace_filter.patterns(version, PORT, [(B, 8080)] if version == 4 else [("fd42::3", 8080)], 8472)


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    assert run(_trace_filter.program(wanted()), KEPT[name]) == _trace_filter.SNAP
    assert _trace_filter.fits(KEPT[name], wanted())


@pytest.mark.parametrize("name", LEFT)
def test_left(name: str) -> None:
    assert run(_trace_filter.program(wanted()), LEFT[name]) == 0
    assert not _trace_filter.fits(LEFT[name], wanted())


@pytest.mark.parametrize("data", [tcp("fd42::1", "fd42::3", PORT, 8080), tcp("fd42::1", "fd42::3", 9, 8080)])
def test_ipv6(data: bytes) -> None:
    assert run(_trace_filter.program(wanted(6)), data) and run(_trace_filter.program(wanted(6)), wrapped(N1, N2, data))
    assert not run(_trace_filter.program(wanted(4)), data)


def test_a_program_is_within_what_the_kernel_takes() -> None:
    many = [(f"fd42::{number:x}", 8080) for number in range(1, 10)]
    assert len(_trace_filter.program(_trace_filter.patterns(6, PORT, many, 8472))) // 8 <= 4096  # BPF_MAXINSNS


def test_headers() -> None:
    assert _trace_filter.headers(wrapped(N1, N2, SYN), 8472) == {
        "outer_source": N1, "outer_destination": N2, "vni": 1, "source": A, "destination": B, "source_port": PORT,
        "destination_port": 8080, "sequence": 1000, "acknowledged": 2000, "flags": "S",
    }  # fmt: skip
    said = _trace_filter.headers(KEPT["quoted by an error"], 8472)
    assert (said["error"], said["reporter"], said["source"], said["sequence"]) == ([3, 3], N1, A, 1000)
    assert "flags" not in said


def udp(source: str, destination: str, source_port: int, port: int, number: int = 0x1234) -> bytes:
    return ip(source, destination, 17, struct.pack("!HHHHHH", source_port, port, 12, 0, number, 0x0100))


QUESTION = udp(A, B, PORT, 53)
MASQUERADED = udp(N1, B, 5555, 53)


@pytest.mark.parametrize(
    "data, kept",
    [
        (QUESTION, True),
        (wrapped(N1, N2, QUESTION), True),
        (MASQUERADED, True),
        (ip(B, N1, 1, struct.pack("!BBHI", 3, 3, 0, 0) + MASQUERADED), True),
        (tcp(A, B, PORT, 53), False),
        (udp(A, B, 5555, 54), False),
    ],
)
def test_datagrams(data: bytes, kept: bool) -> None:
    patterns = _trace_filter.patterns(4, PORT, [(B, 53)], 8472, _trace_filter.UDP)
    assert bool(run(_trace_filter.program(patterns), data)) is _trace_filter.fits(data, patterns) is kept


def test_headers_of_datagrams() -> None:
    said = _trace_filter.headers(wrapped(N1, N2, QUESTION), 8472)
    assert (said["outer_source"], said["source_port"], said["sequence"]) == (N1, PORT, 0x1234)
    assert "flags" not in said and "acknowledged" not in said
    assert "outer_source" not in _trace_filter.headers(QUESTION, 8472)
    error = _trace_filter.headers(ip(B, N1, 1, struct.pack("!BBHI", 3, 3, 0, 0) + MASQUERADED), 8472)
    assert (error["error"], error["reporter"], error["sequence"]) == ([3, 3], B, 0x1234)
