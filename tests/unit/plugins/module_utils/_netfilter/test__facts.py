# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which device a packet leaves by, as far as the evidence of the host tells."""

from __future__ import annotations

import ipaddress

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._facts import Facts
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN

ROUTES = [
    {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"},
    {"dst": "10.244.0.0/16", "dev": "wide", "metric": 5},
    {"dst": "10.244.2.0/24", "gateway": "10.244.2.0", "dev": "later", "metric": 20},
    {"dst": "10.244.2.0/24", "gateway": "10.244.2.0", "dev": "flannel.1", "metric": 10},
    {"dst": "10.244.2.9", "dev": "host", "table": "main"},
    {"dst": "10.244.3.0/24", "dev": "vpn0", "table": "100"},
    {"dst": "10.244.4.0/24", "type": "blackhole"},
    {"dst": "nonsense", "dev": "eth9"},
]


def number(text: str) -> int:
    return int(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    ("address", "device"),
    [
        ("10.244.2.7", "flannel.1"),  # the narrowest, of those the one with the smallest metric
        ("10.244.2.9", "host"),
        ("10.244.3.5", "wide"),  # what stands in another table is asked for by policy routing only
        ("10.244.4.5", None),
        ("198.51.100.1", "eth0"),
    ],
)
def test_the_device_of_a_route(address, device):
    assert Facts({"ip_route": ROUTES}).device_for(number(address), 4) == device


def test_without_the_default_route_there_is_none():
    assert Facts({"ip_route": ROUTES}).device_for(number("198.51.100.1"), 4, default_counts=False) is None


def test_a_default_route_of_ipv6_beside_is_none_of_ipv4():
    """`ip -j route show table all` lists both families."""
    six = {"dst": "default", "gateway": "fe80::1", "dev": "eth9", "metric": 1, "pref": "medium"}
    four = {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0", "metric": 100}
    assert Facts({"ip_route": [six, four]}).device_for(number("198.51.100.1"), 4) == "eth0"
    assert Facts({"ip_route": [six]}).device_for(number("198.51.100.1"), 4) is None
    assert Facts({"ip6_route": [six]}).device_for(number("2001:db8::1"), 6) == "eth9"


def test_routes_that_were_not_looked_at_are_unknown():
    assert Facts({}).device_for(number("10.244.2.7"), 4) is UNKNOWN
    assert Facts({}).on_link(number("10.244.2.7"), "cni0", 4) is None


def test_on_link_is_what_has_no_gateway():
    facts = Facts({"ip_route": ROUTES})
    assert facts.on_link(number("10.244.2.7"), "wide", 4) is True
    assert facts.on_link(number("10.244.2.7"), "flannel.1", 4) is False
    assert facts.on_link(number("198.51.100.1"), "eth0", 4) is False


def test_routes_are_read_where_a_packet_first_asks():
    facts = Facts({"ip_route": [{"dst": "10.244.2.0/24", "dev": "flannel.1", "metric": "much"}]})
    with pytest.raises(ValueError, match="much"):
        facts.device_for(number("10.244.2.7"), 4)
