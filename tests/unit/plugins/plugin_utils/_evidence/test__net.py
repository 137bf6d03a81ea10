# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import itertools
import random

import pytest
from traces import recorded

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._net import (
    interface,
    links,
    network,
    overlapping,
    overlaps,
    own_routes4,
    routes4,
)


@pytest.mark.parametrize(
    "text",
    [
        "10.0.0.0",
        "10.0.0.0/33",
        "10.0.0/8",
        "10.0.0.0/255.0.0.0",
        "010.0.0.0/8",
        "fe80::%1/64",
        "x/8",
        "",
        "10.0.0.0/-1",
    ],
)
def test_what_go_refuses_is_no_network(text):
    assert network(text) is None


def test_host_bits_are_masked():
    assert str(network("10.244.5.7/16")) == "10.244.0.0/16"
    assert str(interface("10.244.5.7/16")) == "10.244.5.7/16"


def test_overlapping_finds_the_pairs_that_a_comparison_of_all_pairs_finds():
    random.seed(7)
    for _round in range(300):
        named = [
            (str(number), network(f"10.{random.randrange(4)}.{random.randrange(4) * 64}.0/{random.randrange(8, 20)}"))
            for number in range(12)
        ]
        slow = {frozenset((a, b)) for (a, one), (b, other) in itertools.combinations(named, 2) if overlaps(one, other)}
        fast = [frozenset((a, b)) for (a, _one), (b, _other) in overlapping(named)]
        assert set(fast) == slow and len(fast) == len(slow)


def test_families_never_overlap():
    assert list(overlapping([("a", network("0.0.0.0/0")), ("b", network("::/0"))])) == []


LO = {"ifname": "lo", "addr_info": [{"local": "127.0.0.1", "prefixlen": 8}]}


@pytest.mark.parametrize(
    "entry", [None, {}, {"ifname": 3}, {"ifname": "eth0"}, {"ifname": "eth0", "addr_info": [{"local": "x"}]}]
)
def test_a_link_that_cannot_be_read_is_not_read_as_absent(entry):
    assert str(links([LO])[0].addresses[0]) == "127.0.0.1/8"
    with pytest.raises(ValueError, match="cannot be read"):
        links([LO, entry])


@pytest.mark.parametrize("entry", [None, {}, {"dst": "garbage"}, {"dst": ""}, {"dst": "10.0.0.0/8", "dev": 3}])
def test_a_route_that_cannot_be_read_is_not_read_as_absent(entry):
    assert routes4([{"dst": "default", "dev": "eth0"}])[0].default
    with pytest.raises(ValueError, match="cannot be read"):
        routes4([{"dst": "default", "dev": "eth0"}, entry])


def test_the_hosts_own_routes_are_those_that_lead_not_to_other_nodes_by_flannel():
    own = [
        {"dst": "default", "gateway": "10.244.0.1", "dev": "flannel.1"},
        {"dst": "10.244.0.0/16", "dev": "flannel.1"},
        {"dst": "10.244.2.0/24", "gateway": "192.0.2.2", "dev": "eth0"},
        {"dst": "10.244.3.0/24", "nexthops": [{"gateway": "192.0.2.3", "dev": "eth0"}]},
    ]
    peer = {"dst": "10.244.1.0/24", "gateway": "10.244.1.0", "dev": "flannel.1", "flags": ["onlink"]}
    assert own_routes4([peer, *own, peer]) == routes4(own)
    for bad in (None, [], [peer], [*own, None], [*own, {"dst": "garbage"}]):
        with pytest.raises(ValueError):
            own_routes4(bad)


def test_of_what_all_tables_list_the_routes_of_the_other_family_are_left_out():
    raw = recorded("healthy")["nodes"]["n1"]["ip_route"]
    assert [one["gateway"] for one in raw if one["dst"] == "default"] == ["10.211.3.1", "fd00:211:3::1"]
    found = routes4(raw)
    assert {one.dst.version for one in found} == {4} and len(found) < len(raw)
    assert [one.gateway for one in found if one.default] == ["10.211.3.1"]


def test_a_host_without_any_link_or_route_was_not_looked_at():
    with pytest.raises(ValueError, match="not even lo"):
        links([])
    with pytest.raises(ValueError, match="not even of lo"):
        routes4([])
