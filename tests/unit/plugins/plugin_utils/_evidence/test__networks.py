# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._host import Host
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._networks import BRIDGE, HOST, VPN, owner_of


def link(name, kind="", **more):
    return {"ifname": name, "flags": ["UP"], "addr_info": [], "linkinfo": {"info_kind": kind} if kind else {}, **more}


@pytest.mark.parametrize(
    ("name", "kind", "owner"),
    [
        ("eth0", "", HOST),
        ("bond0", "bond", HOST),
        ("eth0.12", "vlan", HOST),
        ("docker0", "bridge", BRIDGE),
        ("br-5f3a1c9e77d0", "bridge", BRIDGE),
        ("virbr0", "bridge", BRIDGE),
        ("podman1", "bridge", BRIDGE),
        ("wg0", "wireguard", VPN),
        ("tailscale0", "tun", VPN),
        ("office", "wireguard", VPN),
        ("cni0", "bridge", ""),
        ("flannel.1", "vxlan", ""),
        ("flannel.4096", "vxlan", ""),
        ("flannel-wg", "wireguard", ""),
        ("veth1a2b", "veth", ""),
        ("kube-ipvs0", "dummy", ""),
        ("tunl0", "ipip", ""),
    ],
)
def test_whose_a_link_is(name, kind, owner):
    routes = [{"dst": "default", "gateway": "192.168.1.1", "dev": "uplink"}]
    host = Host({"ip_address": [link(name, kind)], "ip_route": routes}, "n1")
    assert owner_of(host.links[0], host) == owner


def test_a_bridge_with_the_default_route_is_the_hosts():
    routes = [{"dst": "default", "gateway": "192.168.1.1", "dev": "br0"}]
    host = Host({"ip_address": [link("br0", "bridge")], "ip_route": routes}, "n1")
    assert owner_of(host.links[0], host) == HOST
