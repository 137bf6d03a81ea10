# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import judge, worst

MASQUERADE = "*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -s 10.244.0.0/16 -j MASQUERADE\nCOMMIT\n"


def node(tunnel: list[dict[str, Any]], policy: str) -> dict[str, Any]:
    """A node whose rules masquerade everything of the pod range, with these addresses on flannel.1."""
    filters = f"*filter\n:INPUT ACCEPT [0:0]\n:FORWARD {policy} [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
    return {
        "iptables": {"nft": "", "legacy": MASQUERADE + filters},
        "nft": {"nftables": []},
        "ip_address": [
            {"ifname": "eth0", "addr_info": [{"family": "inet", "local": "10.0.0.2", "prefixlen": 24}]},
            {"ifname": "cni0", "addr_info": [{"family": "inet", "local": "10.244.1.1", "prefixlen": 24}]},
            {"ifname": "flannel.1", "addr_info": tunnel},
        ],
        "ip_route": [
            {"dst": "default", "gateway": "10.0.0.1", "dev": "eth0"},
            {"dst": "10.0.0.0/24", "dev": "eth0"},
            {"dst": "10.244.0.0/24", "dev": "flannel.1"},
            {"dst": "10.244.1.0/24", "dev": "cni0"},
        ],
    }


@pytest.mark.parametrize(("policy", "verdict"), [("ACCEPT", "accept"), ("DROP", "drop")])
@pytest.mark.parametrize("tunnel", [[], [{"family": "inet", "local": "10.244.1.0", "prefixlen": 32}]])
def test_a_tunnel_without_an_address_is_none_of_the_firewalls_business(
    tunnel: list[dict[str, Any]], policy: str, verdict: str
) -> None:
    assert worst(judge(node(tunnel, policy), accepts_of(["10.244.0.0/16"], []))) == verdict
