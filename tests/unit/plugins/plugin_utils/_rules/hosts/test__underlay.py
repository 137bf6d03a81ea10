# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from host_edits import add_link, link_of
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._asked import Interfaces
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._host import Host
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._net import address
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed, Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._rules.hosts._underlay import (
    choose,
    first_address,
    route_to,
)


def raw():
    """A host with a second network on eth1 (two addresses), and with eth2 that has no address."""
    node = healthy("host")["nodes"]["node2"]
    add_link(node, "eth1", "10.0.0.5/24")
    link_of(node, "eth1")["addr_info"] += [
        {"family": "inet", "local": "10.0.0.6", "prefixlen": 24, "scope": "global"},
        {"family": "inet6", "local": "fd00::5", "prefixlen": 64, "scope": "global"},
    ]
    add_link(node, "eth2")
    return node


def host(node=None):
    return Host(node or raw(), "node2")


NO_MATCH = "no interface matches "


@pytest.mark.parametrize(
    ("asked", "link", "own", "fault"),
    [
        (Interfaces(), "eth0", "192.168.10.12", ""),
        (Interfaces(public_ip=True), "eth0", "192.168.10.12", ""),
        (Interfaces(names=("eth1",)), "eth1", "10.0.0.5", ""),
        (Interfaces(names=("10.0.0.6",)), "eth1", "10.0.0.6", ""),
        (Interfaces(names=("fd00::5",)), "eth1", "10.0.0.5", ""),
        (Interfaces(names=("eth9", "eth1", "eth0")), "eth1", "10.0.0.5", ""),
        (Interfaces(names=("eth2", "eth1")), "eth1", "10.0.0.5", ""),
        (Interfaces(names=("eth2",)), "eth2", None, "eth2 has no IPv4 address"),
        (Interfaces(names=("eth9", "eth2")), "eth2", None, "eth2 has no IPv4 address"),
        (Interfaces(names=("eth9",), patterns=("ens.*",)), None, None, NO_MATCH + "eth9, ens.*"),
        (Interfaces(names=("10.0.0.7",)), None, None, NO_MATCH + "10.0.0.7"),
        (Interfaces(names=("eth9",), patterns=("eth1",)), "eth1", "10.0.0.5", ""),
        (Interfaces(names=("eth9",), reach="10.0.0.9"), "eth1", "10.0.0.5", ""),
        (Interfaces(patterns=(r"10\.0\.0\.6",)), "eth1", "10.0.0.6", ""),
        (Interfaces(patterns=("^10",)), "eth1", "10.0.0.5", ""),
        (Interfaces(patterns=("eth2", "eth1")), "eth1", "10.0.0.5", ""),
        (Interfaces(reach="10.0.0.9"), "eth1", "10.0.0.5", ""),
        (Interfaces(reach="8.8.8.8"), "eth0", "192.168.10.12", ""),
        (Interfaces(reach="2001:db8::1"), None, None, "no route to 2001:db8::1"),
        (Interfaces(reach="gateway"), None, None, "gateway is no address to reach"),
    ],
)
def test_the_interface_and_address_that_flannel_takes(asked, link, own, fault):
    choice = choose(host(), asked)
    assert (choice.link and choice.link.name, choice.address and str(choice.address.ip), choice.fault) == (
        link,
        own,
        fault,
    )


def test_the_default_route_is_the_one_of_the_smallest_metric():
    node = raw()
    node["ip_route"] += [
        {"dst": "default", "gateway": "10.0.0.1", "dev": "eth1", "metric": 100},
        {"dst": "default", "dev": "eth2", "table": "100", "metric": 0},
        {"dst": "default", "type": "blackhole"},
    ]
    assert choose(host(node), Interfaces()).link.name == "eth0"
    node["ip_route"][0]["metric"] = 200
    assert choose(host(node), Interfaces()).link.name == "eth1"


@pytest.mark.parametrize(
    ("dev", "fault"),
    [
        ("eth2", "eth2, which the default route uses, has no IPv4 address"),
        ("eth9", "the route's interface eth9 is not there"),
        (None, "no IPv4 default route"),
    ],
)
def test_a_default_route_that_leads_to_no_address(dev, fault):
    node = raw()
    node["ip_route"] = [one for one in node["ip_route"] if one["dst"] != "default"]
    node["ip_route"] += [{"dst": "default", "dev": dev}] if dev else []
    assert choose(host(node), Interfaces()).fault == fault


def test_of_ipv6_likewise():
    node = raw()
    assert choose(host(node), Interfaces(), 6).fault == "no IPv6 default route"
    node["ip6_route"].append({"dst": "default", "gateway": "fe80::1", "dev": "eth0"})
    assert choose(host(node), Interfaces(), 6).fault.endswith("has no IPv6 address")  # a link-local one alone
    assert str(choose(host(node), Interfaces(names=("eth1",)), 6).address) == "fd00::5/64"
    assert choose(host(node), Interfaces(patterns=("^fd00",)), 6).link.name == "eth1"


def test_a_pattern_that_is_none_is_malformed():
    with pytest.raises(Malformed) as found:
        choose(host(), Interfaces(patterns=("eth(",)))
    assert found.value.key == "intent.flannel.interface_regex" and "eth( is no pattern" in found.value.why


@pytest.mark.parametrize(("key", "asked"), [("ip_route", Interfaces()), ("ip_address", Interfaces(names=("eth0",)))])
def test_without_the_key_it_is_missing(key, asked):
    node = raw()
    del node[key]
    with pytest.raises(Missing) as found:
        choose(host(node), asked)
    assert found.value.key == f"nodes.node2.{key}"


def test_the_first_address_of_a_link_is_not_link_local():
    link = host().link("eth0")
    assert str(first_address(link, 4)) == "192.168.10.12/24"
    assert [one for one in link.addresses if one.version == 6] and first_address(link, 6) is None


@pytest.mark.parametrize(
    ("target", "dev"), [("10.0.0.9", "eth1"), ("10.0.1.9", "eth0"), ("10.9.0.1", "eth2"), ("2001:db8::1", None)]
)
def test_a_packet_takes_the_longest_prefix_then_the_smallest_metric(target, dev):
    node = raw()
    node["ip_route"] += [
        {"dst": "10.9.0.0/16", "dev": "eth1", "metric": 100},
        {"dst": "10.9.0.0/16", "dev": "eth2", "metric": 50},
        {"dst": "10.9.0.0/24", "type": "unreachable"},
        {"dst": "10.9.0.0/24", "dev": "eth1", "table": "100"},
    ]
    found = route_to(host(node), address(target))
    assert (found and found.dev) == dev
