# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import SIX, at, number, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _fib
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN

NODE: dict[str, Any] = {
    "ip_address": [
        {"ifname": "eth0", "addr_info": [{"local": "192.0.2.5", "broadcast": "192.0.2.255"}, {"local": "fd42::1"}]},
        {"ifname": "cni0", "addr_info": []},
    ],
    "ip_route": [{"dst": "default", "dev": "eth0"}, {"dst": "10.244.1.0/24", "dev": "cni0"},
                 {"dst": "203.0.113.0/24", "type": "blackhole"}],
    "ip6_route": [{"dst": "fd42::/64", "dev": "cni0"}],
    "ip_rule": [],
}  # fmt: skip
NO_DEFAULT = {**NODE, "ip_route": NODE["ip_route"][1:]}


@pytest.mark.parametrize(
    ("destination", "hook", "node", "answer"),
    [
        ("192.0.2.5", "forward", NODE, True),
        ("127.0.0.9", "forward", {}, True),
        ("10.244.2.7", "forward", NODE, False),
        ("10.244.2.7", "forward", {}, False),  # the kernel would have delivered what is its own
        ("10.244.2.7", "prerouting", {}, None),  # a DNAT may turn it into what is forwarded
        ("10.244.2.7", "input", {}, None),
    ],
)
def test_whether_an_address_is_the_hosts(destination: str, hook: str, node: dict[str, Any], answer: Any) -> None:
    assert _fib.local("dst", state(destination=destination), at(hook, **node)) is answer


def test_who_sends_from_the_host_itself_is_not_known_after_routing() -> None:
    assert _fib.local("src", state({"iif": ""}), at("postrouting")) is None
    assert _fib.local("src", state(), at("postrouting")) is False
    assert _fib.local("src", state({"src": UNKNOWN}), at(**NODE)) is None


@pytest.mark.parametrize(
    ("destination", "kind", "by_interface"),
    [
        ("192.0.2.5", "local", UNKNOWN),
        ("192.0.2.255", "broadcast", UNKNOWN),
        ("255.255.255.255", "broadcast", UNKNOWN),
        ("0.0.0.0", "broadcast", UNKNOWN),
        ("224.0.0.1", "multicast", "multicast"),
        ("239.255.255.255", "multicast", "multicast"),
        ("240.0.0.1", "unicast", "unicast"),
        ("10.244.2.7", "unicast", "unicast"),
    ],
)
def test_kinds_of_addresses(destination: str, kind: Any, by_interface: Any) -> None:
    packet, place = state(destination=destination), at(**NODE)
    assert (_fib.kind("dst", packet, place), _fib.kind_by_interface("dst", packet, place)) == (kind, by_interface)
    assert _fib.kind("dst", packet.copy(dst=UNKNOWN), place) is UNKNOWN


@pytest.mark.parametrize(
    ("destination", "kind"), [("ff02::1", "multicast"), ("fd42::1", "local"), ("fe80::1", "unicast")]
)
def test_kinds_of_addresses_of_ipv6(destination: str, kind: str) -> None:
    assert _fib.kind("dst", state(**{**SIX, "destination": destination}), at(**NODE)) == kind


@pytest.mark.parametrize(
    ("names", "destination", "limited", "answer"),
    [
        ({"local"}, "192.0.2.5", False, True),
        ({"local"}, "10.244.2.7", False, False),
        ({"unicast", "local"}, "10.244.2.7", False, True),
        ({"blackhole"}, "10.244.2.7", False, False),
        ({"local"}, "192.0.2.5", True, None),  # of another interface it would be unicast
        ({"unicast"}, "10.244.2.7", True, True),
        ({"broadcast"}, "192.0.2.255", False, True),
    ],
)
def test_addrtype(names: set[str], destination: str, limited: bool, answer: Any) -> None:
    assert _fib.address_type("dst", names, 4, limited)(state(destination=destination), at(**NODE)) is answer


@pytest.mark.parametrize(
    ("names", "answer"),
    [
        ({"local"}, None),
        ({"unicast"}, None),
        ({"local", "unicast"}, True),
        ({"broadcast"}, False),
        ({"multicast"}, False),
    ],
)
def test_addrtype_of_an_address_that_is_not_known(names: set[str], answer: Any) -> None:
    assert _fib.address_type("dst", names, 4, False)(state({"dst": UNKNOWN}), at(**NODE)) is answer


@pytest.mark.parametrize(
    ("names", "destination", "limited", "answer"),
    [
        ({"local"}, "fd42::1", False, True),
        ({"unicast"}, "fd42::1", False, True),  # a local address is unicast too
        ({"local", "multicast"}, "fd42::1", False, False),  # all classes at once
        ({"multicast"}, "ff02::1", False, True),
        ({"unicast"}, "ff02::1", False, False),
        ({"local"}, "fd42::1", True, None),
        ({"unreachable"}, "fd42::1", False, None),
        ({"anycast"}, "fd42::1", False, None),
    ],
)
def test_addrtype_of_ipv6(names: set[str], destination: str, limited: bool, answer: Any) -> None:
    packet = state(**{**SIX, "destination": destination})
    assert _fib.address_type("dst", names, 6, limited)(packet, at(**NODE)) is answer


@pytest.mark.parametrize(
    ("packet", "node", "loose", "answer"),
    [
        ({}, NODE, False, True),
        ({"in": "eth0"}, NODE, False, False),
        ({"in": "eth0"}, NODE, True, True),
        ({"in": "eth0", "source": "203.0.113.9"}, NODE, True, False),  # no way back at all
        ({"in": "eth0", "source": "198.51.100.1"}, NO_DEFAULT, True, False),
        ({"in": ""}, NODE, False, None),
        ({}, {}, False, None),
        ({"in": "cni9"}, NODE, False, True),  # a link that is not there yet comes with its routes
        ({**SIX, "in": "eth0"}, NODE, False, None),  # IPv6 takes a more general route by that interface, too
        ({**SIX}, NODE, False, True),
    ],
)
def test_the_way_back(packet: dict[str, Any], node: dict[str, Any], loose: bool, answer: Any) -> None:
    assert _fib.reverse_path(loose)(state(**packet), at("prerouting", **node)) is answer


@pytest.mark.parametrize(
    ("field", "with_input", "packet", "node", "name"),
    [
        ("dst", False, {"destination": "198.51.100.1"}, NODE, "eth0"),
        ("dst", False, {"destination": "203.0.113.1"}, NODE, ""),
        ("src", False, {}, NODE, "cni0"),
        ("src", True, {}, NODE, "cni0"),
        ("src", True, {"in": "eth0"}, NODE, ""),
        ("src", True, {**SIX, "in": "eth0"}, NODE, UNKNOWN),
        ("src", True, {"in": "cni9"}, NODE, "cni9"),
        ("src", True, {"in": ""}, NODE, UNKNOWN),
        ("dst", False, {}, {}, UNKNOWN),
    ],
)
def test_fib_oif(field: str, with_input: bool, packet: dict[str, Any], node: dict[str, Any], name: Any) -> None:
    assert _fib.output_interface(field, with_input, state(**packet), at("prerouting", **node)) == name


def test_the_number_of_an_address_is_of_its_own_family() -> None:
    assert _fib.local("dst", state(**{**SIX, "destination": "::1"}), at()) is True
    assert _fib.local("dst", state(destination="0.0.0.1"), at(**NODE)) is False and number("::1") == 1
