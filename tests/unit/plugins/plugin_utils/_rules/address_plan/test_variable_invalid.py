# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings


def judge(invalid):
    return findings("variable-invalid", {"stage": "intent", "intent": {"invalid_variables": invalid}})


def test_the_variable_and_what_is_wrong_are_named():
    (found,) = judge({"cluster_node_mask": "it is no int"})
    assert found.severity == "error"
    assert found.summary == "cluster_node_mask cannot be used: it is no int"


def test_all_of_them_are_told():
    assert len(judge({"cluster_node_mask": "it is no int", "host_swap": "it is none of refuse, off"})) == 2


def test_nothing_invalid():
    assert judge({}) == []
