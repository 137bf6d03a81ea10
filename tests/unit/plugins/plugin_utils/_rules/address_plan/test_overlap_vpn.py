# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


def with_vpn(address, routes=(), pod="10.244.0.0/16", name="tailscale0", length=32):
    bundle = healthy("host")
    bundle["intent"]["pod_cidr"] = pod
    node = bundle["nodes"]["node2"]
    info = [{"family": "inet", "local": address, "prefixlen": length}]
    node["ip_address"].append({"ifname": name, "flags": ["UP"], "linkinfo": {"info_kind": "tun"}, "addr_info": info})
    node["ip_route"] += [{"dst": route, "dev": name, "table": "52"} for route in routes]
    return findings("overlap-vpn", bundle)


def test_an_address_of_shared_space_takes_all_of_it():
    (found,) = with_vpn("100.101.7.1", pod="100.96.0.0/16")
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_vpns_route_into_the_pod_range():
    assert [one.severity for one in with_vpn("10.8.0.2", ["10.244.3.0/24"], name="wg0")] == ["error"]


@pytest.mark.parametrize("routes", [[], ["0.0.0.0/1", "128.0.0.0/1"], ["default"], ["10.8.0.0/24"]])
def test_a_vpn_beside_the_cluster_is_right(routes):
    assert with_vpn("10.8.0.2", routes, name="tun0", length=24) == []


def test_flannels_own_wireguard_is_no_vpn():
    bundle = healthy()
    info = [{"family": "inet", "local": "10.244.1.0", "prefixlen": 32}]
    link = {"ifname": "flannel-wg", "flags": ["UP"], "linkinfo": {"info_kind": "wireguard"}, "addr_info": info}
    bundle["nodes"]["node2"]["ip_address"].append(link)
    assert findings("overlap-vpn", bundle) == []
