# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a host shall accept: pod ranges on the forward hook, ports of other nodes on the input hook."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")


class AcceptError(ValueError):
    """An option cannot be read; the text says which, and why."""


@dataclass(frozen=True)
class Port:
    """A port, or a range, that other nodes reach. source: an address or a network."""

    protocol: str
    first: int
    last: int
    source: str

    @property
    def version(self) -> int:
        return ipaddress.ip_network(self.source).version

    def ports(self, dash: str) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}{dash}{self.last}"


@dataclass(frozen=True)
class Accepts:
    """cidrs: pod ranges. ports: what is let in."""

    cidrs: tuple[str, ...]
    ports: tuple[Port, ...]

    def versions(self, hook: str) -> list[int]:
        if hook == "forward":
            return sorted({ipaddress.ip_network(cidr).version for cidr in self.cidrs})
        return sorted({port.version for port in self.ports})

    def cidrs_of(self, version: int) -> list[str]:
        return [cidr for cidr in self.cidrs if ipaddress.ip_network(cidr).version == version]

    def ports_of(self, version: int) -> list[Port]:
        return [port for port in self.ports if port.version == version]

    def only(self, versions: Collection[int]) -> Accepts:
        """What of it is for these IP versions."""
        cidrs = (cidr for cidr in self.cidrs if ipaddress.ip_network(cidr).version in versions)
        return Accepts(tuple(cidrs), tuple(port for port in self.ports if port.version in versions))

    def as_dict(self) -> dict[str, Any]:
        return {"cidrs": list(self.cidrs), "ports": [dict(port.__dict__) for port in self.ports]}

    def completed(self, known: Accepts, cidrs: bool, ports: bool) -> Accepts:
        """With what an earlier run let in, of the options that this one does not give."""
        return Accepts(self.cidrs if cidrs else known.cidrs, self.ports if ports else known.ports)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Accepts:
        return Accepts(tuple(data.get("cidrs") or ()), tuple(Port(**one) for one in data.get("ports") or ()))


def accepts_of(pod_cidrs: Iterable[str], ports: Iterable[Mapping[str, Any]]) -> Accepts:
    """From the module's options; raises AcceptError."""
    found: list[Port] = []
    for one in ports:
        match = _PORTS.fullmatch(str(one["port"]))
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 0 < first <= last < 65536:
            raise AcceptError(f"ports: {one['port']!r} is neither a port nor a range such as 2379-2380")
        for source in one.get("sources") or []:
            found.append(Port(one.get("protocol") or "tcp", first, last, _network(source, "ports")))
    cidrs = tuple(_pod_range(cidr) for cidr in pod_cidrs)
    return Accepts(cidrs, tuple(sorted(set(found), key=lambda port: (port.protocol, port.first, port.source))))


def _pod_range(text: str) -> str:
    found = ipaddress.ip_network(_network(text, "pod_cidrs"))
    if "/" not in text:
        raise AcceptError(f"pod_cidrs: {text!r} has no length; give the whole range, such as 10.244.0.0/16")
    if not found.prefixlen:
        raise AcceptError(
            f"pod_cidrs: {text!r} is every address, not a range of pods. Accepting it would switch the host's firewall "
            "off for all that it forwards; give the cluster's own range, such as 10.244.0.0/16"
        )
    return str(found)


def _network(text: str, option: str) -> str:
    try:
        found = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise AcceptError(f"{option}: {text!r} is neither an address nor a network") from None
    if str(found.network_address) != str(ipaddress.ip_address(text.partition("/")[0])):
        raise AcceptError(
            f"{option}: {text!r} is an address within a network and not the network itself. Give {found} if the whole "
            "network is meant"
        )
    return str(found)
