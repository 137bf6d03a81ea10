# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the controller manager, flannel and host-local would say to a plan, from their sources with plain numbers.

It shares nothing with the collection's code, so that a mistake of one does not hide in the other.

Sources
- kubernetes cmd/kube-controller-manager/app/core.go (startNodeIpamController, setNodeCIDRMaskSizes),
  pkg/controller/nodeipam/node_ipam_controller.go, pkg/controller/nodeipam/ipam/cidrset/cidr_set.go and
  pkg/controller/nodeipam/ipam/range_allocator.go (filterOutServiceRange)
- flannel pkg/subnet/kube/kube.go (AcquireLease)
- containernetworking/plugins plugins/ipam/host-local/backend/allocator/range.go (Canonicalize)
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

WIDTH = {4: 32, 6: 128}
SERVICE_DEFAULT = "10.96.0.0/12"


@dataclass(frozen=True)
class Block:
    """A range as numbers: family, first address, prefix length."""

    version: int
    first: int
    prefix: int

    @property
    def size(self) -> int:
        return 1 << (WIDTH[self.version] - self.prefix)

    def holds(self, other: Block) -> bool:
        return (
            self.version == other.version
            and self.prefix <= other.prefix
            and other.first // self.size == self.first // self.size
        )


def block(text: str) -> Block | None:
    """A range as Go's net.ParseCIDR reads it, host bits cut off; None where it refuses."""
    address, slash, length = text.partition("/")
    if not slash or not length.isascii() or not length.isdigit() or "%" in address:
        return None
    version = 6 if ":" in address else 4
    if version == 4 and any(len(part) > 1 and part.startswith("0") for part in address.split(".")):
        return None
    try:
        packed = socket.inet_pton(socket.AF_INET6 if version == 6 else socket.AF_INET, address)
    except OSError:
        return None
    prefix = int(length)
    if prefix > WIDTH[version]:
        return None
    number = int.from_bytes(packed, "big")
    size = 1 << (WIDTH[version] - prefix)
    return Block(version, number // size * size, prefix)


def refusals(pod: list[str], service: list[str], masks: dict[int, int], nodes: int | None) -> list[str]:
    """Why the components would not give every node a range that pods can get addresses from; empty where they would."""
    said = []
    pods = [block(text) for text in pod]
    services = [block(text) for text in service or [SERVICE_DEFAULT]]
    if not pods or None in pods or None in services:
        return ["controller manager: a range cannot be parsed"]
    blocks = [one for one in pods if one]
    if len(blocks) > 2 or len({one.version for one in blocks}) != len(blocks):
        said.append("controller manager: one cluster CIDR, or two of different families")
    if len(services) > 2 or len({one.version for one in services if one}) != len(services):
        said.append("API server: one service range, or two of different families")
    for one in blocks:
        mask = masks[one.version]
        if one.prefix > mask:
            said.append("controller manager: mask size of cluster CIDR must be less than or equal to the node's")
            continue
        if one.version == 6 and mask - one.prefix > 16:
            said.append("controller manager: the longest difference of an IPv6 set is 16")
            continue
        if mask > WIDTH[one.version] - 2:
            said.append("host-local: network too small to allocate from")
        free = 1 << (mask - one.prefix)
        for taken in services:
            if taken and taken.holds(one):
                free = 0
            elif taken and one.holds(taken):
                node = 1 << (WIDTH[one.version] - mask)
                free -= max(taken.size // node, 1)
        if free < max(nodes or 1, 1):
            said.append(f"controller manager: {free} ranges left for {nodes or 1} nodes")
    return said
