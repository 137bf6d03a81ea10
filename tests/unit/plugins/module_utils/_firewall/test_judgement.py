# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import judgement
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import judge, loaded_by, worst

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


DROP: dict[str, Any] = {"drop": None}
HAND = "table inet filter {{\n chain forward {{\n  type filter hook forward priority 0; policy {}\n  {}\n }}\n}}\n"


@pytest.mark.parametrize(("text", "policy", "found"), [
    (HAND.format("drop;", ""), "drop", True),
    (HAND.format("accept;", "drop"), "drop", False),  # the policy was made by hand
    (HAND.format("accept;", "iifname { cni0, eth9 } drop"), "accept", True),
    (HAND.format("drop;", ""), "accept", False),  # and here the rule
    (HAND.format("accept; # never drop", ""), "accept", False),
    (HAND.replace("forward {{", "other {{", 1).format("drop;", "drop"), "drop", False),
    (HAND.replace("inet filter", "inet others").format("drop;", "drop"), "drop", False),
    ("table inet filter {\n}\n", "drop", False),
    ("add table inet filter\nadd chain inet filter forward { type filter hook forward priority 0; policy drop; }\n",
     "drop", True),
    ("add rule inet filter forward iifname cni0 drop\n", "accept", True),
])  # fmt: skip
def test_a_file_loads_what_is_found_in_it(
    text: str, policy: str, found: bool, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "nftables.conf"
    file.write_text(text)
    monkeypatch.setattr(judgement, "NFT_FILES", (str(file),))
    rule = [] if policy == "drop" else [{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "cni0"}}]
    place = {"family": "inet", "table": "filter"}
    chain = {**place, "name": "forward", "type": "filter", "hook": "forward", "prio": 0, "policy": policy}
    items = [{"table": {"family": "inet", "name": "filter"}}, {"chain": chain}]
    items += [{"rule": {**place, "chain": "forward", "handle": 3, "expr": [*rule, DROP]}}] if rule else []
    evidence = {"iptables": {"nft": "", "legacy": ""}, "nft": {"nftables": items}}
    verdict = judge(evidence, accepts_of(["10.244.0.0/16"], []))[0].verdict
    assert verdict.verdict == "drop"
    assert loaded_by(verdict) == (str(file) if found else None)
