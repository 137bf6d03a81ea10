# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""On the very host that the tests run on: nothing of it is changed."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.modules import node_evidence_info


@pytest.mark.parametrize("check", [False, True])
def test_what_is_asked_for_is_gathered_and_what_is_told_comes_back_as_it_is(run_module: Any, check: bool) -> None:
    told = {"inventory_address": "192.0.2.7", "roles": ["worker"], "controller_clock": 1.5}
    result = run_module(node_evidence_info, {"gather": ["kernel", "architecture"], **told}, check)
    here = os.uname()
    assert (result["changed"], result["missing"]) == (False, {})
    assert result["evidence"] == {"kernel": here.release, "architecture": here.machine, **told}


def test_what_was_not_told_is_absent(run_module: Any) -> None:
    result = run_module(node_evidence_info, {"gather": ["kernel"], "roles": []})
    assert set(result["evidence"]) == {"kernel", "roles"}


def test_a_name_that_is_no_key_gets_a_sentence(run_module: Any) -> None:
    result = run_module(node_evidence_info, {"gather": ["kernel", "ip_adress"]})
    assert result["failed"] and result["msg"].startswith("gather: ") and "ip_adress" in result["msg"]
    assert "evidence" not in result


@pytest.mark.parametrize(
    ("options", "said"), [({"roles": ["master"]}, "master"), ({"controller_clock": "noon"}, "controller_clock")]
)
def test_options_of_another_kind_are_refused(run_module: Any, options: dict[str, Any], said: str) -> None:
    result = run_module(node_evidence_info, {"gather": ["kernel"], **options})
    assert result["failed"] and said in result["msg"]
