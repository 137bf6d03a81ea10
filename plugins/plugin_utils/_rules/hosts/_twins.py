# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts that say the same of themselves though they are not the same host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..._evidence._host import Host
from ..._finding import Missing


class Identity(NamedTuple):
    """``value``: what should be a host's own; ``machine``: what tells whether two entries are one host, or None."""

    value: str
    machine: tuple[str, tuple[str, ...]] | None


def identity(node: Host, value: str) -> Identity:
    try:
        macs = tuple(sorted({link.mac for link in node.links if link.mac and not link.loopback and not link.kind}))
        return Identity(value, (node.boot_id, macs) if macs else None)
    except Missing:
        return Identity(value, None)


def twins(facts: Mapping[str, Identity | None], ignore: Iterable[str] = ()) -> Iterator[tuple[str, list[str]]]:
    """Values that more than one host has, with the hosts' names."""
    hosts: dict[str, list[str]] = {}
    for name in sorted(facts):
        one = facts[name]
        if one and one.value and one.value not in ignore:
            hosts.setdefault(one.value, []).append(name)
    for value, names in hosts.items():
        machines = [fact.machine for name in names if (fact := facts[name])]
        one_host = machines[0] is not None and all(machine == machines[0] for machine in machines)
        if len(names) > 1 and not one_host:
            yield value, names
