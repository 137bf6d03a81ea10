# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("dns", "count"), [("10.96.0.10", 0), ("10.244.0.10", 1), ("10.96.0.0", 1), ("10.96.0.1", 1), ("8.8.8.8", 1)]
)
def test_an_address_of_the_plan(dns, count):
    bundle = healthy("intent")
    bundle["intent"]["cluster_dns"] = dns
    assert [one.severity for one in findings("cluster-dns-outside", bundle)] == ["error"] * count


def kubelets_ask(address):
    bundle = healthy()
    bundle["cluster"]["kubelet_config"] = bundle["cluster"]["kubelet_config"].replace("10.96.0.10", address)
    return [one.severity for one in findings("cluster-dns-outside", bundle)]


def test_kubelets_that_ask_an_address_outside():
    assert kubelets_ask("10.32.0.10") == ["warning"]


def test_one_kubelet_that_asks_another_address_than_the_rest():
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    node["kubelet_config"] = node["kubelet_config"].replace("10.96.0.10", "10.32.0.10")
    assert [(one.severity, one.where) for one in findings("cluster-dns-outside", bundle)] == [("warning", ["node2"])]


def test_a_node_local_cache_is_right():
    assert kubelets_ask("169.254.20.10") == kubelets_ask("10.96.0.10") == []
