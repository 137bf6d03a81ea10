# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Damaged evidence: no exception and nothing invented. `./dev fuzz evidence` does the same at length."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tests" / "fuzz"))

import evidence


def test_every_key_of_a_running_cluster_damaged_in_turn(monkeypatch):
    monkeypatch.setattr(evidence, "OTHER_TYPES", (7, "x", [None], {"x": None}))
    assert list(evidence.one_at_a_time("cluster")) == []


def test_two_hundred_random_damages():
    assert [text for _, text in evidence.randomly(200, seed=20261130) if text] == []
