# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import (
    AcceptError,
    Accepts,
    Port,
    accepts_of,
)

BOTH = accepts_of(
    ["10.42.0.0/16", "fd42::/48"],
    [
        {"port": 6443, "sources": ["192.0.2.11", "2001:db8::11"]},
        {"port": "8472", "protocol": "udp", "sources": ["192.0.2.0/24"]},
    ],
)


@pytest.mark.parametrize(
    ("given", "first", "last", "iptables", "nft"),
    [
        ("6443", 6443, 6443, "6443", "6443"),
        (6443, 6443, 6443, "6443", "6443"),
        ("2379-2380", 2379, 2380, "2379:2380", "2379-2380"),
        ("22-22", 22, 22, "22", "22"),
        ("1-65535", 1, 65535, "1:65535", "1-65535"),
    ],
)
def test_a_port_or_a_range(given: Any, first: int, last: int, iptables: str, nft: str) -> None:
    (port,) = accepts_of([], [{"port": given, "sources": ["192.0.2.11"]}]).ports
    assert port == Port("tcp", first, last, "192.0.2.11/32")
    assert (port.ports(":"), port.ports("-")) == (iptables, nft)


@pytest.mark.parametrize("port", ["70000", "65536", "\u00b2", "\u0663", "2379-", "-1", "2-1", "0", "0-2", "1-2-3", ""])
def test_what_is_no_port_is_refused_by_name(port: str) -> None:
    with pytest.raises(AcceptError, match=f"ports: '{port}' is neither"):
        accepts_of([], [{"port": port, "sources": []}])


@pytest.mark.parametrize(
    ("cidr", "said"),
    [
        ("10.42/16", "'10.42/16' is neither an address nor a network"),
        ("pods", "'pods' is neither an address nor a network"),
        ("", "'' is neither"),
        ("10.42.1.5/16", "is an address within a network and not the network itself. Give 10.42.0.0/16"),
        ("fd42::1/48", "Give fd42::/48"),
        ("0.0.0.0/0", "is every address"),
        ("::/0", "is every address"),
        ("10.42.0.0", "has no length"),
    ],
)
def test_a_range_that_is_none_gets_a_sentence(cidr: str, said: str) -> None:
    with pytest.raises(AcceptError, match=f"^pod_cidrs: .*{said}"):
        accepts_of([cidr], [])


@pytest.mark.parametrize(
    ("source", "said"), [("192.0.2.11/24", "is an address within .* Give 192.0.2.0/24"), ("n1", "is neither")]
)
def test_a_source_that_is_none_gets_a_sentence(source: str, said: str) -> None:
    with pytest.raises(AcceptError, match=f"^ports: '{source}' {said}"):
        accepts_of([], [{"port": "6443", "sources": [source]}])


def test_ports_are_sorted_and_each_is_there_once() -> None:
    one = {"port": "10250", "sources": ["192.0.2.12", "192.0.2.11"]}
    ports = accepts_of([], [{"port": "8472", "protocol": "udp", "sources": ["192.0.2.11"]}, one, one]).ports
    assert [(port.protocol, port.first, port.source) for port in ports] == [
        ("tcp", 10250, "192.0.2.11/32"),
        ("tcp", 10250, "192.0.2.12/32"),
        ("udp", 8472, "192.0.2.11/32"),
    ]
    assert accepts_of([], [{"port": "22"}, {"port": "22", "sources": None}]).ports == ()


def test_a_range_is_kept_as_the_kernel_writes_it() -> None:
    assert accepts_of(["10.42.0.0/255.255.0.0", "FD42:0::/48"], []).cidrs == ("10.42.0.0/16", "fd42::/48")


def test_what_is_of_one_ip_version() -> None:
    assert BOTH.versions("forward") == BOTH.versions("input") == [4, 6]
    assert BOTH.cidrs_of(4) == ["10.42.0.0/16"] and BOTH.cidrs_of(6) == ["fd42::/48"]
    assert [port.source for port in BOTH.ports_of(6)] == ["2001:db8::11/128"]
    six = BOTH.only({6})
    assert six == Accepts(("fd42::/48",), tuple(BOTH.ports_of(6)))
    assert six.versions("forward") == six.versions("input") == [6] and six.cidrs_of(4) == six.ports_of(4) == []
    assert BOTH.only({4, 6}) == BOTH
    assert accepts_of([], []).versions("forward") == accepts_of([], []).versions("input") == []


@pytest.mark.parametrize(
    ("cidrs", "ports", "expected"),
    [
        (True, True, Accepts(("10.1.0.0/16",), ())),
        (True, False, Accepts(("10.1.0.0/16",), BOTH.ports)),
        (False, True, Accepts(BOTH.cidrs, ())),
        (False, False, BOTH),
    ],
)
def test_an_option_that_is_not_given_keeps_what_was_let_in(cidrs: bool, ports: bool, expected: Accepts) -> None:
    assert accepts_of(["10.1.0.0/16"], []).completed(BOTH, cidrs, ports) == expected


def test_what_is_remembered_is_read_back() -> None:
    assert Accepts.from_dict(BOTH.as_dict()) == BOTH
    assert Accepts.from_dict({}) == Accepts.from_dict({"cidrs": None, "ports": None}) == Accepts((), ())
