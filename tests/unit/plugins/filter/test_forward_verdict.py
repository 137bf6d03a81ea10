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


@pytest.mark.parametrize(("node", "cidrs", "packet", "said"), [
    (NODE, 5, ENDS, "pod_cidrs is 5; give a list of networks"),
    (NODE, {"a": 1}, ENDS, "pod_cidrs is .*; give a list of networks"),
    (NODE, ["pods"], ENDS, "pod_cidrs has 'pods', which is no network"),
    (NODE, [None], ENDS, "pod_cidrs has 'None', which is no network"),
    ({"nodes": {"n1": NODE}}, [], ENDS, "not the evidence of one node.*give nodes.NAME"),
    ({**NODE, "iptables": SAVE}, [], ENDS, "iptables of the evidence is no mapping"),
    ({**NODE, "iptables": {"nft": "Chain FORWARD (policy DROP)\ntarget prot\n", "legacy": ""}}, [], ENDS,
     "iptables.nft is not what `iptables-nft-save -c` prints: it has no table"),
    ({**NODE, "iptables": {"nft": "", "legacy": "command not found"}}, [], ENDS, "iptables.legacy is not what"),
    ({**NODE, "nft": "no rules"}, [], ENDS, "forward_verdict: "),
    ({**NODE, "ip_address": [{"ifname": "eth0", "addr_info": 5}]}, [], ENDS, "not as node_evidence_info gathers it"),
    (NODE, [], {**ENDS, "tcp_flags": 2}, "tcp_flags is 2; give a list"),
    (NODE, [], {**ENDS, "destination_port": 70000}, "destination_port is 70000; ports are numbers"),
    (NODE, [], {**ENDS, 5: 5, "to": 1}, "unknown key 5, to"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(node: Any, cidrs: Any, packet: Any, said: str) -> None:
    with pytest.raises(AnsibleFilterError, match=said):
        forward_verdict(node, cidrs, packet)


def test_a_backend_without_tables_has_no_rules() -> None:
    told = "# Warning: iptables-legacy tables present, use iptables-legacy-save to see them\n\n"
    assert forward_verdict({**NODE, "iptables": {"nft": told, "legacy": ""}}, [], ENDS)["verdict"] == "accept"
