# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import errno
import socket
import struct
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import kernel

# What Linux 6.18 answered in a network namespace of its own, first without tables, then with `ip filter`,
# `ip6 mangle` and `bridge b` made by nft 1.0.6: the datagrams of one dump each.
NONE = ["140000000300020001000000733a000000000000"]
THREE = [
    "3c000000000a020001000000be3a0000010000040b00010066696c746572000008000300000000000c0004000000000000000001"
    "08000200000000003c000000000a020001000000be3a00000a0000040b0001006d616e676c65000008000300000000000c000400"
    "00000000000000020800020000000000"
    "38000000000a020001000000be3a000007000004060001006200000008000300000000000c0004000000000000000003"
    "0800020000000000",
    "140000000300020001000000be3a000000000000",
]


def failed(code: int) -> str:
    """NLMSG_ERROR (netlink(7)) for the request that is asked."""
    asked = struct.pack("=IHHII", 20, 0x0A01, 0x301, 1, 0)
    return (struct.pack("=IHHII", 36, 2, 0, 1, 0) + struct.pack("=i", -code) + asked).hex()


class Socket:
    """A netlink socket that answers what was recorded."""

    answers: list[str] = []
    asked = b""

    def __init__(self, family: int, kind: int, protocol: int) -> None:
        assert (family, kind, protocol) == (socket.AF_NETLINK, socket.SOCK_RAW, 12)

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0

    def bind(self, address: tuple[int, int]) -> None:
        assert address == (0, 0)

    def send(self, data: bytes) -> None:
        Socket.asked = data

    def recv(self, size: int) -> bytes:
        if not Socket.answers:
            raise socket.timeout("timed out")
        return bytes.fromhex(Socket.answers.pop(0))


@pytest.mark.parametrize(
    ("answers", "tables"),
    [
        (NONE, []),
        (THREE, ["filter", "mangle", "b"]),
        ([THREE[0] + THREE[1]], ["filter", "mangle", "b"]),  # the end in the same datagram
        (THREE[:1], None),  # and no end at all
        ([failed(errno.EINVAL)], []),  # nfnetlink without nf_tables
        ([failed(errno.EOPNOTSUPP)], []),
        ([failed(errno.EPERM)], None),
    ],
)
def test_the_names_of_all_tables(monkeypatch: pytest.MonkeyPatch, answers: list[str], tables: list[str] | None) -> None:
    monkeypatch.setattr(Socket, "answers", list(answers))
    monkeypatch.setattr(kernel.socket, "socket", Socket)
    assert kernel.nft_tables() == tables
    # A whole dump (NLM_F_REQUEST | NLM_F_DUMP) of NFT_MSG_GETTABLE, of any family.
    assert struct.unpack("=IHHIIBBH", Socket.asked) == (20, 10 << 8 | 1, 0x301, 1, 0, 0, 0, 0)


@pytest.mark.parametrize(("code", "tables"), [(errno.EPROTONOSUPPORT, []), (errno.EPERM, None)])
def test_a_kernel_without_netfilter_has_no_tables(monkeypatch: pytest.MonkeyPatch, code: int, tables: Any) -> None:
    def no_socket(*arguments: int) -> None:
        raise OSError(code, "no")

    monkeypatch.setattr(kernel.socket, "socket", no_socket)
    assert kernel.nft_tables() == tables
