# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.filter.foreign_members import FilterModule

foreign_members = FilterModule().filters()["foreign_members"]
KUBELET = "/etc/kubernetes/kubelet.conf"
WORKER = {"kubernetes_files": [KUBELET], "kubeconfig_servers": {KUBELET: "https://k8s.example:6443"}}


@pytest.mark.parametrize(
    ("endpoint", "foreign"), [("k8s.example:6443", False), ("other.example:6443", True), ("", False)]
)
def test_the_endpoint_of_the_inventory_is_what_a_worker_is_held_against(endpoint: str, foreign: bool) -> None:
    assert bool(foreign_members({"n2": WORKER}, ["n1"], endpoint=endpoint)) is foreign


@pytest.mark.parametrize("nodes", [{}, {"n2": {}}, {"n2": {"kubernetes_files": []}}])
def test_hosts_that_say_nothing_are_nobodys(nodes: dict[str, Any]) -> None:
    assert foreign_members(nodes, [], None, "k8s.example") == []
