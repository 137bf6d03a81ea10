# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._item import Item
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._net import routes4
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._policy_routing import Rules

MAIN = [
    {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"},
    {"dst": "10.244.1.0/24", "dev": "slow0", "metric": 500},
    {"dst": "10.244.1.0/24", "dev": "flannel.1"},
]
BASE = [{"priority": 0, "src": "all", "table": "local"}, {"priority": 32766, "src": "all", "table": "main"}]
ASK = {"priority": 9, "src": "all", "table": "7"}
FULL = {"dst": "default", "dev": "vpn", "table": "7"}


def rules(*more: dict, routes: tuple[dict, ...] = (FULL,)) -> Rules:
    """The rules of a host whose pods are in 10.244.0.0/24."""
    read = [Item(one) for one in (*BASE, *more)]
    return Rules(read, lambda: routes4([*MAIN, *routes]), ipaddress.ip_address("10.244.0.5"))


def lookup(every: Rules) -> str | None:
    found = every.lookup(ipaddress.ip_address("10.244.1.1"))
    return found.dev if found else None


@pytest.mark.parametrize(
    ("rule", "dev"),
    [
        (ASK, "vpn"),
        ({**ASK, "src": "10.244.0.0", "srclen": 24}, "vpn"),
        ({**ASK, "dst": "10.244.0.0", "dstlen": 16}, "vpn"),
        ({**ASK, "dst": "10.245.0.0/16"}, "flannel.1"),
        ({**ASK, "priority": 40000}, "flannel.1"),
        ({"priority": 9, "src": "all", "action": "unreachable"}, None),
    ],
)
def test_rules_in_order(rule, dev):
    assert lookup(rules(rule, {**ASK, "priority": 50000})) == dev


@pytest.mark.parametrize(
    ("route", "dev"),
    [
        ({"dst": "10.0.0.0/8", "type": "throw", "table": "7"}, "flannel.1"),
        ({"dst": "10.9.0.0/16", "dev": "vpn", "table": "7"}, "flannel.1"),
        ({"dst": "10.244.1.1", "dev": "vpn", "table": "7"}, "vpn"),
    ],
)
def test_routes_of_the_table_that_is_asked(route, dev):
    assert lookup(rules(ASK, routes=(route,))) == dev


def test_a_rule_that_passes_over_short_prefixes():
    first = {"priority": 8, "src": "all", "table": "main", "suppress_prefixlen": 0}
    assert lookup(rules(first, ASK)) == "flannel.1"
    assert lookup(rules({**first, "suppress_prefixlen": 24}, ASK)) == "vpn"


@pytest.mark.parametrize("narrow", [{"fwmark": "0x1"}, {"src": "10.245.0.0/16"}, {"iif": "eth1"}, {"uid_start": 0}])
def test_rules_for_other_packets_ask_no_table(narrow):
    assert rules({**ASK, **narrow}).tables == set()
