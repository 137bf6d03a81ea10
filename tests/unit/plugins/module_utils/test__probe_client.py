# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two ends of a probe against each other, on loopback."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _probe_client, _probe_server
from ansible_collections.podnet.kubeadm.plugins.module_utils._probe_client import ProbeFailed

WORD = "w0rd"


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    _probe_server.serve(number, WORD, "n1")
    return number


@pytest.fixture
def stranger() -> Iterator[int]:
    """What a captive gateway does: answers every connection, with a page."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()

        def answer() -> None:
            while True:
                try:
                    connection, _peer = sock.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.0 426 Upgrade Required\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        yield sock.getsockname()[1]


def test_who_answers(port: int) -> None:
    assert _probe_client.tcp_who("127.0.0.1", port, WORD, 2) == "n1"
    assert _probe_client.udp_who("127.0.0.1", port, WORD, 2) == "n1"


def test_another_word_gets_no_answer(port: int) -> None:
    with pytest.raises(ProbeFailed, match="without an answer"):
        _probe_client.tcp_who("127.0.0.1", port, "other", 2)
    with pytest.raises(ProbeFailed, match="no answer"):
        _probe_client.udp_who("127.0.0.1", port, "other", 0.2)


def test_a_stranger_who_answers_is_a_failure(stranger: int) -> None:
    with pytest.raises(ProbeFailed, match="a stranger answered.*426"):
        _probe_client.tcp_who("127.0.0.1", stranger, WORD, 2)
    with pytest.raises(ProbeFailed, match="something else answers"):
        _probe_client.kubelet("127.0.0.1", stranger, 2)


def test_bulk_goes_both_ways(port: int) -> None:
    _probe_client.bulk("127.0.0.1", port, WORD, 1024 * 1024, 5)


def test_bulk_of_a_stranger_is_a_failure(stranger: int) -> None:
    with pytest.raises(ProbeFailed):
        _probe_client.bulk("127.0.0.1", stranger, WORD, 1000, 2)


def test_a_closed_port_is_refused() -> None:
    with pytest.raises(ProbeFailed, match="refused"):
        _probe_client.tcp_who("127.0.0.1", 1, WORD, 1)


def dns_answer(identity: int, code: int, *addresses: str) -> bytes:
    query = _probe_client.dns_query("a.b", "A", identity)
    head = struct.pack("!HHHHHH", identity, 0x8180 | code, 1, len(addresses), 0, 0)
    records = b"".join(
        b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 30, 4) + socket.inet_aton(address) for address in addresses
    )
    return head + query[12:] + records


def test_dns_answers_are_read() -> None:
    assert _probe_client.dns_addresses(dns_answer(7, 0, "10.96.1.1", "10.96.1.2"), 7) == ["10.96.1.1", "10.96.1.2"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (dns_answer(7, 3), "NXDOMAIN"),
        (dns_answer(7, 2), "SERVFAIL"),
        (dns_answer(8, 0, "10.96.1.1"), "no answer to the question"),
        (dns_answer(7, 0, "10.96.1.1")[:-3], "cut off"),
        (b"", "cut off"),
    ],
)
def test_dns_answers_that_do_not_count(answer: bytes, why: str) -> None:
    with pytest.raises(ProbeFailed, match=why):
        _probe_client.dns_addresses(answer, 7)


def test_dns_with_another_address_is_a_failure() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            data, peer = server.recvfrom(512)
            server.sendto(dns_answer(struct.unpack("!H", data[:2])[0], 0, "10.0.0.9"), peer)

        threading.Thread(target=serve, daemon=True).start()
        number = server.getsockname()[1]
        original = socket.socket.connect
        try:
            socket.socket.connect = lambda self, to: original(self, (to[0], number))  # type: ignore[method-assign]
            with pytest.raises(ProbeFailed, match="is 10.0.0.9, not 10.96.1.1"):
                _probe_client.dns("127.0.0.1", "a.b", "A", ["10.96.1.1"], False, 2)
        finally:
            socket.socket.connect = original  # type: ignore[method-assign]


def test_checksum() -> None:
    # The example of RFC 1071 section 3.
    assert _probe_client.checksum(bytes.fromhex("0001f203f4f5f6f7")) == ~0xDDF2 & 0xFFFF


def test_payload_fills_the_packet() -> None:
    assert _probe_client.icmp_payload(1450, "10.244.1.5") == 1422
    assert _probe_client.icmp_payload(1450, "fd42::5") == 1402


@pytest.mark.parametrize(("path", "sent"), [(1430, [1402, 1382]), (1400, [1402]), (0, [1402])])
def test_ipv6_may_carry_less_by_what_its_outer_header_is_longer(
    monkeypatch: pytest.MonkeyPatch, path: int, sent: list[int]
) -> None:
    asked: list[int] = []

    def icmp(address: str, payload: int, limit: float) -> None:
        asked.append(payload)
        if payload > path - 48:
            raise _probe_client.TooLong("message too long")

    monkeypatch.setattr(_probe_client, "path_mtu", lambda address: path)
    monkeypatch.setattr(_probe_client, "icmp", icmp)
    if len(sent) == 1:
        with pytest.raises(ProbeFailed, match="too long"):
            _probe_client.full_icmp("fd42::5", 1450, 1)
    else:
        _probe_client.full_icmp("fd42::5", 1450, 1)
    assert asked == sent
