# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""On the healthy cluster of the field cases; what is proven how is tested with the code behind."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.filter.lease_proof import FilterModule

lease_proof = FilterModule().filters()["lease_proof"]
BASE = pathlib.Path(__file__).parents[3] / "field-cases" / "base" / "cluster.json"
NET_CONF = {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}


@pytest.fixture
def healthy() -> dict[str, Any]:
    return json.loads(BASE.read_text())


def test_before_flannel_is_applied_its_net_conf_is_held_against_the_cluster(healthy: dict[str, Any]) -> None:
    assert lease_proof(healthy["cluster"], healthy["intent"], NET_CONF) == []
    (said, *_more) = lease_proof(healthy["cluster"], healthy["intent"], {**NET_CONF, "Network": "10.99.0.0/16"})
    assert "10.99.0.0/16" in said


def test_with_nodes_it_is_proven_on_them(healthy: dict[str, Any]) -> None:
    assert lease_proof(healthy["cluster"], healthy["intent"], nodes=healthy["nodes"]) == []
    healthy["nodes"]["node2"]["subnet_env"] = ""
    assert "node2" in " ".join(lease_proof(healthy["cluster"], healthy["intent"], nodes=healthy["nodes"]))


def test_what_the_inventory_leaves_empty_is_not_asked_for(healthy: dict[str, Any]) -> None:
    asked = {**healthy["intent"], "service_cidr": "", "node_mask": None}
    assert lease_proof(healthy["cluster"], asked, NET_CONF) == []
