# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.modules import cluster_evidence_info

KUBECONFIG = """\
clusters: [{cluster: {server: "https://127.0.0.1:1"}, name: kubernetes}]
users: [{name: admin, user: {}}]
"""


@pytest.mark.parametrize("check", [False, True])
def test_without_a_cluster_everything_is_missing_with_its_reason(
    run_module: Any, tmp_path: pathlib.Path, check: bool
) -> None:
    options = {"name": "n1", "kubeconfig": str(tmp_path / "none.conf"), "gather": ["nodes", "pods"]}
    result = run_module(cluster_evidence_info, options, check)
    assert (result["changed"], result["evidence"]) == (False, {})
    assert set(result["missing"]) == {"nodes", "pods"}
    assert all("none.conf" in why for why in result["missing"].values())


def test_a_kubeconfig_that_cannot_be_used_is_named(run_module: Any, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "admin.conf"
    file.write_text(KUBECONFIG)
    result = run_module(cluster_evidence_info, {"name": "n1", "kubeconfig": str(file), "gather": ["nodes"]})
    assert not result.get("failed") and result["evidence"] == {}
    assert set(result["missing"]) == {"nodes"} and result["missing"]["nodes"]


def test_a_name_that_is_no_key_gets_a_sentence(run_module: Any) -> None:
    result = run_module(cluster_evidence_info, {"name": "n1", "gather": ["secrets"]})
    assert result["failed"] and result["msg"].startswith("gather: ") and "secrets" in result["msg"]


def test_a_host_has_to_be_named(run_module: Any) -> None:
    assert "name" in run_module(cluster_evidence_info, {"gather": ["nodes"]})["msg"]
