# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.podnet.kubeadm.plugins.filter.forward_verdict import FilterModule

forward_verdict = FilterModule().filters()["forward_verdict"]
SAVE = "*filter\n:FORWARD DROP [0:0]\n[0:0] -A FORWARD -i cni0 -o flannel.1 -j ACCEPT\nCOMMIT\n"
NODE: dict[str, Any] = {
    "iptables": {"nft": SAVE, "legacy": "", "selected": "nft"},
    "nft": {"nftables": []},
    "subnet_env": "FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.1.1/24\n",
}
ENDS = {"source": "10.244.1.5", "destination": "10.244.2.7"}


def test_only_the_addresses_are_required() -> None:
    answer = forward_verdict(NODE, ["10.244.0.0/16"], ENDS)
    assert set(answer) == {"verdict", "lower", "upper", "by", "trail"}
    assert answer["verdict"] == answer["lower"] == answer["upper"] == "accept"
    assert {"table", "chain", "rule", "handle", "backend", "owner"} <= set(answer["by"])


def test_what_is_told_of_the_packet_wins() -> None:
    answer = forward_verdict(NODE, "10.244.0.0/16", {**ENDS, "out": "eth0"})
    assert (answer["verdict"], answer["by"]["rule"]) == ("drop", "(policy drop)")


def test_errors_are_sentences() -> None:
    with pytest.raises(AnsibleFilterError, match="source is missing"):
        forward_verdict(NODE, [], {})
    with pytest.raises(AnsibleFilterError, match="not the evidence of one node"):
        forward_verdict("node1", [], ENDS)
    with pytest.raises(AnsibleFilterError, match="nft -j list ruleset"):
        forward_verdict({**NODE, "nft": {"x": 1}}, [], ENDS)
