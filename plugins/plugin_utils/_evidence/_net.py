# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Addresses, links, routes: what ``ip -j`` says, typed. Networks are `ipaddress` networks, host bits masked."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Union

from ._item import Item, as_list, as_number

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
Interface = Union[ipaddress.IPv4Interface, ipaddress.IPv6Interface]

_CIDR = re.compile(r"[0-9A-Fa-f:.]+/[0-9]{1,3}")


@lru_cache(maxsize=100_000)
def network(text: str) -> Network | None:
    """The network of ``address/length`` as Go's ParseCIDR reads it, host bits masked; None for anything else."""
    interface_ = interface(text)
    return interface_.network if interface_ else None


@lru_cache(maxsize=100_000)
def interface(text: str) -> Interface | None:
    """Address and network of ``address/length``; None for anything else, also for a netmask or a bare address."""
    if not isinstance(text, str) or not _CIDR.fullmatch(text):
        return None
    try:
        return ipaddress.ip_interface(text)
    except ValueError:
        return None


@lru_cache(maxsize=100_000)
def address(text: str) -> Address | None:
    """An address without a mask and zone, or None."""
    if not isinstance(text, str) or "%" in text:
        return None
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def networks(value: Any) -> list[Network]:
    """The networks of a list, or of a text "a,b"; what is no network is left out."""
    parts = value.split(",") if isinstance(value, str) else as_list(value)
    found = (network(part.strip()) for part in parts if isinstance(part, str))
    return [one for one in found if one is not None]


def cidr_texts(raw: Any) -> list[str]:
    """The ranges of a text, of "a,b" or of a list, as written; raises ValueError for anything else."""
    parts = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(parts, list):
        raise ValueError(f"a text or a list is expected, a {type(raw).__name__} stands there")
    return [str(part).strip() for part in parts if str(part).strip()]


def contains(outer: Network, inner: Network) -> bool:
    """Whether ``inner`` lies in ``outer``; networks of two families never do."""
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]


def overlaps(one: Network, other: Network) -> bool:
    """Whether the two meet (equal, or one contains the other); networks of two families never do."""
    return one.version == other.version and one.overlaps(other)


def covered(inner: Network, outers: Iterable[Network]) -> bool:
    """Whether one of ``outers`` contains ``inner``."""
    return any(contains(outer, inner) for outer in outers)


def overlapping(named: Iterable[tuple[str, Network]]) -> Iterator[tuple[tuple[str, Network], tuple[str, Network]]]:
    """Every pair of networks that meet, from one sorted walk: n log n, not n squared.

    In order of (first address, wider first) two networks meet only if one contains the other, so that what is still
    open when a network begins is exactly the chain of networks around it.
    """
    open_: list[tuple[str, Network]] = []
    for one in sorted(named, key=lambda pair: (pair[1].version, int(pair[1].network_address), pair[1].prefixlen)):
        while open_ and not overlaps(open_[-1][1], one[1]):
            open_.pop()
        for outer in open_:
            yield outer, one
        open_.append(one)


@dataclass(frozen=True)
class Link:
    """A network device. ``kind``: vxlan, bridge, veth, wireguard, bond, ... or "" for plain; ``data``: kind's own
    options (vxlan: id, port, local, link); ``master``: the bridge or bond it is part of; ``flags``: UP, LOWER_UP, ...
    """

    name: str
    index: int | None
    mtu: int | None
    mac: str
    flags: frozenset[str]
    kind: str
    master: str
    addresses: tuple[Interface, ...]
    data: Item = field(default_factory=lambda: Item({}), compare=False)
    raw: Item = field(default_factory=lambda: Item({}), compare=False)

    @property
    def up(self) -> bool:
        return "UP" in self.flags

    @property
    def loopback(self) -> bool:
        return "LOOPBACK" in self.flags


def links(raw: Any) -> list[Link]:
    """``ip -j -d address show``. Raises ValueError where an entry cannot be read: a link that is left out would read
    as a link that is not there."""
    if not isinstance(raw, list):
        raise ValueError("the list of ip -j address is expected")
    found = []
    for one in map(Item, raw):
        infos = one.raw.get("addr_info")
        if not one.text("ifname") or not isinstance(infos, list):
            raise ValueError(f"an entry of ip -j address cannot be read: {str(one.raw)[:80]}")
        addresses = []
        for info in map(Item, infos):
            parsed = interface(f"{info.text('local')}/{info.number('prefixlen')}")
            if parsed is None:
                raise ValueError(f"an address of {one.text('ifname')} cannot be read")
            addresses.append(parsed)
        found.append(
            Link(
                name=one.text("ifname"),
                index=one.number("ifindex"),
                mtu=mtu if (mtu := one.number("mtu")) and 68 <= mtu <= 1 << 20 else None,
                mac=one.text("address").lower(),
                flags=frozenset(one.texts("flags")),
                kind=one.text("linkinfo", "info_kind"),
                master=one.text("master"),
                addresses=tuple(addresses),
                data=one.item("linkinfo", "info_data"),
                raw=one,
            )
        )
    if not found:
        raise ValueError("ip -j address lists no link, not even lo")
    return found


@dataclass(frozen=True)
class Route:
    """A route of any table. ``dst`` of a default route is 0.0.0.0/0 or ::/0; ``table``: main, local, or a number as
    text; ``type``: unicast, local, broadcast, blackhole, ...; ``protocol``: kernel, static, dhcp, ...
    """

    dst: Network
    dev: str
    gateway: str
    table: str
    type: str
    protocol: str
    scope: str
    source: str
    metric: int
    flags: tuple[str, ...]

    @cached_property
    def default(self) -> bool:
        return self.dst.prefixlen == 0


_NAMES = ("dst", "dev", "gateway", "table", "type", "protocol", "scope", "prefsrc", "metric")


@lru_cache(maxsize=50_000)
def _route(version: int, flags: tuple[str, ...], *values: Any) -> Route | None:
    """One route of its plain values; nodes have most routes in common, so that each is made once."""
    one = dict(zip(_NAMES, values))
    text = one["dst"]
    if not isinstance(text, str) or not isinstance(one["dev"], (str, type(None))):
        return None
    if text == "default":
        text = "0.0.0.0/0" if version == 4 else "::/0"
    dst = network(text if "/" in text else f"{text}/{32 if version == 4 else 128}")
    if dst is None:
        return None
    texts = {name: value if isinstance(value, str) else "" for name, value in one.items()}
    return Route(
        dst=dst,
        dev=texts["dev"],
        gateway=texts["gateway"],
        table=str(one["table"] or "main"),
        type=texts["type"] or "unicast",
        protocol=texts["protocol"],
        scope=texts["scope"],
        source=texts["prefsrc"],
        metric=as_number(one["metric"]) or 0,
        flags=flags,
    )


@lru_cache(maxsize=50_000)
def _plain(version: int, dst: Any, gateway: Any, dev: Any, *flags: Any) -> Route | None:
    """The usual route of flannel, of which a node of a large cluster has thousands."""
    return _route(version, flags, dst, dev, gateway, *(None,) * (len(_NAMES) - 3))


def _values(one: dict[str, Any]) -> tuple[Any, ...]:
    """The values of _NAMES; of a route with several ways the first one's."""
    get = one.get
    dev, gateway = get("dev"), get("gateway")
    if not gateway and ("nexthops" in one or "via" in one):
        hop = next(iter(Item(one).items("nexthops")), Item(one))
        dev, gateway = dev or hop.text("dev"), hop.text("gateway") or hop.text("via", "host")
    rest = get("table"), get("type"), get("protocol"), get("scope"), get("prefsrc"), get("metric")
    return (get("dst"), dev, gateway, *rest)


def _routes(raw: Any, version: int) -> list[Route]:
    if not isinstance(raw, list):
        raise ValueError("the list of ip -j route is expected")
    found = []
    for one in raw:
        try:
            if len(one) == 4 and "gateway" in one and "flags" in one and "dst" in one and "dev" in one:
                route = _plain(version, one["dst"], one["gateway"], one["dev"], *one["flags"])
            elif version == 4 and "pref" in one:  # of IPv6, which `table all` lists too; the kernel gives them all one
                continue
            else:
                route = _route(version, tuple(one.get("flags") or ()), *_values(one))
        except (AttributeError, TypeError):  # no object, or a value that is no plain one
            route = None
        if route is None:
            raise ValueError(f"an entry of ip -j route cannot be read: {str(one)[:80]}")
        found.append(route)
    return found


def routes4(raw: Any) -> list[Route]:
    """``ip -j route show table all``: never empty, for lo has routes of table local."""
    found = _routes(raw, 4)
    if not found:
        raise ValueError("ip -j route lists no route, not even of lo")
    return found


def routes6(raw: Any) -> list[Route]:
    """``ip -6 -j route show table all``."""
    return _routes(raw, 6)


def _own(raw: Any) -> Any:
    """Without the routes into flannel's tunnel, of which there is one for each other node."""
    if not isinstance(raw, list):
        return raw
    return [
        one
        for one in raw
        if not isinstance(one, dict)
        or not str(one.get("dev")).startswith("flannel")
        or "gateway" not in one
        or one.get("dst") == "default"
    ]


def own_routes4(raw: Any) -> list[Route]:
    """`routes4` without those of flannel to other nodes."""
    return routes4(_own(raw))


def own_routes6(raw: Any) -> list[Route]:
    """`routes6` without those of flannel to other nodes."""
    return routes6(_own(raw))
