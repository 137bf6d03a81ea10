# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings


def judge(unknown):
    return findings("variable-unknown", {"stage": "intent", "intent": {"unknown_variables": unknown}})


def test_a_misspelt_name_is_an_error_and_says_what_is_meant():
    (found,) = judge({"cluster_pod_cdir": "cluster_pod_cidr"})
    assert found.severity == "error"
    assert "cluster_pod_cidr" in found.summary


def test_names_like_none_of_ours_are_one_warning():
    assert [one.severity for one in judge({"cluster_name": "", "host_rack": ""})] == ["warning"]


def test_nothing_unknown():
    assert judge({}) == []
