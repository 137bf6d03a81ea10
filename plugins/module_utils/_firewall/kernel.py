# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the kernel itself for the names of nf_tables' tables, on hosts where the tool nft is not installed."""

from __future__ import annotations

import errno
import socket
import struct

_NETLINK_NETFILTER = 12
_GETTABLE = 10 << 8 | 1  # NFNL_SUBSYS_NFTABLES, NFT_MSG_GETTABLE (include/uapi/linux/netfilter)
_REQUEST_DUMP = 0x1 | 0x300
_ERROR, _DONE = 2, 3
_TABLE_NAME = 1  # NFTA_TABLE_NAME


def nft_tables() -> list[str] | None:
    """Names of the tables of all families; None where the kernel does not say. Without nf_tables there are none."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER) as asked:
            asked.settimeout(2)
            asked.bind((0, 0))
            asked.send(struct.pack("=IHHIIBBH", 20, _GETTABLE, _REQUEST_DUMP, 1, 0, 0, 0, 0))
            found: list[str] = []
            while True:
                if _read(asked.recv(1 << 20), found):
                    return found
    except OSError as error:
        return [] if error.errno in (errno.EPROTONOSUPPORT, errno.EOPNOTSUPP) else None


def _read(data: bytes, found: list[str]) -> bool:
    """Takes the names out of one answer; True at the end of the dump."""
    at = 0
    while at + 16 <= len(data):
        length, kind, _flags, _number, _port = struct.unpack_from("=IHHII", data, at)
        if kind == _DONE:
            return True
        if kind == _ERROR:
            code = -struct.unpack_from("=i", data, at + 16)[0]
            if code == errno.EINVAL:  # the kernel has nfnetlink, but no nf_tables in it
                return True
            raise OSError(code, "nfnetlink")
        found.append(_name(data[at + 20 : at + length]))
        at += (length + 3) & ~3
    return False


def _name(attributes: bytes) -> str:
    at = 0
    while at + 4 <= len(attributes):
        length, kind = struct.unpack_from("=HH", attributes, at)
        if kind & 0x7FFF == _TABLE_NAME:
            return attributes[at + 4 : at + length].rstrip(b"\0").decode()
        at += (max(length, 4) + 3) & ~3
    return ""
