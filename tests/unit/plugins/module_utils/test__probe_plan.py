# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.podnet.kubeadm.plugins.module_utils import _probe_plan

PEERS: list[dict[str, Any]] = [
    {"name": "n1", "addresses": ["10.244.0.5"], "host_addresses": ["10.89.0.11"]},
    {"name": "n2", "addresses": ["10.244.1.5"], "host_addresses": ["10.89.0.12"]},
    {"name": "n3", "addresses": [], "host_addresses": ["10.89.0.13"]},
]
TARGETS = {"services": ["10.96.1.1"], "name": "s", "dns": ["10.96.0.10"], "api": ["10.96.0.1"]}


def paths(node: str, patterns: list[str]) -> list[tuple[str, str]]:
    return [(one.what, one.target) for one in _probe_plan.plan(node, PEERS, TARGETS, patterns, False)]


def test_a_node_without_a_pod_is_not_asked() -> None:
    assert paths("n1", ["*/pod"]) == [(what, "n2") for what in ("tcp/pod", "udp/pod", "icmp/pod", "bulk/pod")]


def test_patterns_choose_and_exclude() -> None:
    assert paths("n1", ["tcp/*", "!tcp/name", "!tcp/vip", "!tcp/hairpin"]) == [
        ("tcp/pod", "n2"),
        ("tcp/node", "n2"),
        ("tcp/service", "n1"),
        ("tcp/kubelet", "n1"),
    ]


def test_hairpin_needs_the_service_to_be_asked() -> None:
    assert paths("n1", ["tcp/hairpin"]) == [("tcp/vip", "n1")]


def test_a_typo_is_told() -> None:
    assert _probe_plan.unknown_patterns(["tcp/*", "tpc/pod", "!udp/pods"]) == ["tpc/pod", "!udp/pods"]


def test_only_living_pods_are_expected_behind_the_service() -> None:
    (probe,) = _probe_plan.plan("n1", PEERS, TARGETS, ["tcp/vip"], False)
    assert probe.extra["expected"] == ["n1", "n2"]


def test_large_clusters_are_asked_on_a_ring() -> None:
    nodes = [f"n{number}" for number in range(200)]
    asked = {node: _probe_plan.partners(node, nodes, False) for node in nodes}
    assert all(len(set(others)) == _probe_plan.PEERS and node not in others for node, others in asked.items())
    assert {other for others in asked.values() for other in others} == set(nodes)
    assert len(_probe_plan.partners("n0", nodes, True)) == 199


def test_every_path_has_a_description() -> None:
    everything = dict(TARGETS, host_port=1, outside=["192.0.2.1:80"])
    peers = [dict(PEERS[0], local_addresses=["10.244.0.6"]), *PEERS[1:]]
    asked = {one.what for one in _probe_plan.plan("n1", peers, everything, [], False)}
    assert asked | {"tcp/hairpin"} == set(_probe_plan.PATHS)
