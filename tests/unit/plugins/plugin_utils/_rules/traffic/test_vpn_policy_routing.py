# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import route
from rules import findings, healthy

TAILSCALE = [
    {"priority": 5210, "src": "all", "fwmark": "0x80000", "fwmask": "0xff0000", "table": "main"},
    {"priority": 5250, "src": "all", "fwmark": "0x80000", "fwmask": "0xff0000", "action": "unreachable"},
    {"priority": 5270, "src": "all", "table": "52"},
]
WG_QUICK = [
    {"priority": 32764, "src": "all", "table": "main", "suppress_prefixlen": 0},
    {"priority": 32765, "not": None, "src": "all", "fwmark": "0xca6c", "table": "51820"},
]


def with_vpn(rules: list[dict], *routes: dict) -> dict:
    bundle = healthy()
    bundle["nodes"]["node2"]["ip_rule"] += rules
    bundle["nodes"]["node2"]["ip_route"] += routes
    return bundle


@pytest.mark.parametrize("dst", ["10.244.0.0/16", "10.0.0.0/8", "default", "10.244.2.0/24"])
def test_a_table_that_takes_the_pod_range(dst):
    (found,) = findings("vpn-policy-routing", with_vpn(TAILSCALE, {"dst": dst, "dev": "tailscale0", "table": "52"}))
    assert (found.severity, found.where) == ("error", ["node2"])
    assert "tailscale0 by table 52" in found.summary


def test_a_rule_for_the_pods_own_addresses():
    rule = {"priority": 900, "src": "10.244.1.0", "srclen": 24, "table": "100"}
    (found,) = findings("vpn-policy-routing", with_vpn([rule], {"dst": "default", "dev": "wg0", "table": "100"}))
    assert found.where == ["node2"]


def test_a_route_in_the_main_table_in_place_of_flannels():
    bundle = healthy()
    route(bundle, "node2", "10.244.2.0/24").update(dev="wg0", gateway=None, flags=[])
    bundle["nodes"]["node2"]["ip_address"].append(
        {"ifname": "wg0", "flags": ["UP"], "mtu": 1420, "linkinfo": {"info_kind": "wireguard"}, "addr_info": []}
    )
    assert findings("vpn-policy-routing", bundle)[0].where == ["node2"]
    route(bundle, "node2", "10.244.2.0/24").update(gateway="192.168.10.13")
    assert findings("vpn-policy-routing", bundle) == []  # flannel's own direct route over that link


@pytest.mark.parametrize(
    ("rules", "routes"),
    [
        (TAILSCALE, [{"dst": "100.101.7.3", "dev": "tailscale0", "table": "52"}]),
        (
            TAILSCALE,
            [{"dst": "10.244.0.0/16", "type": "throw", "table": "52"}, {"dst": "default", "dev": "t0", "table": "52"}],
        ),
        (WG_QUICK, [{"dst": "default", "dev": "wg0", "table": "51820"}]),
        (
            [{"priority": 100, "src": "192.168.20.5", "table": "eth1"}],
            [{"dst": "default", "dev": "eth1", "table": "eth1"}],
        ),
        (
            [{"priority": 100, "src": "all", "iif": "eth1", "table": "9"}],
            [{"dst": "default", "dev": "eth1", "table": "9"}],
        ),
        ([{"priority": 40000, "src": "all", "table": "9"}], [{"dst": "10.0.0.0/8", "dev": "eth1", "table": "9"}]),
        (
            [{"priority": 100, "src": "all", "dst": "192.0.2.0", "dstlen": 24, "table": "9"}],
            [{"dst": "default", "dev": "x", "table": "9"}],
        ),
    ],
)
def test_tables_that_leave_pods_alone(rules, routes):
    assert findings("vpn-policy-routing", with_vpn(rules, *routes)) == []
