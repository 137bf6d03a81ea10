# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Damaged evidence: no exception and nothing invented. `./dev fuzz evidence` does the same at length."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tests" / "fuzz"))

import evidence


def bundles(*names):
    return {name: json.loads((evidence.BASES / f"{name}.json").read_text()) for name in names}


def failures(tests):
    found = []
    for name, test in tests:
        try:
            test()
        except Exception as error:
            found.append(f"{name}: {type(error).__name__}: {error}")
    return found


def test_every_key_of_a_running_cluster_damaged_in_turn(monkeypatch):
    monkeypatch.setattr(evidence, "OTHERS", [7])
    monkeypatch.setattr(evidence, "cut", evidence.empty)
    bundle = bundles("cluster")["cluster"]
    # What holds for one worker holds for the next.
    bundle["nodes"] = {"node2": bundle["nodes"]["node2"]}
    assert failures(evidence.one_at_a_time("cluster", bundle)) == []


def test_random_damages():
    assert failures(evidence.fuzzed(bundles("cluster", "cluster-dual", "host"), 40, seed=20261130)) == []


def test_an_invented_finding_would_be_seen():
    bundle = bundles("host")["host"]
    healthy = evidence.found(evidence.run(bundle))
    with pytest.raises(AssertionError, match="invents swap-on"):
        # A rule that looks at the key may speak; here the change is said to be of another key.
        swapped = {**bundle, "nodes": {"n": {**next(iter(bundle["nodes"].values())), "swap": "Filename\n/swap file"}}}
        evidence.changed_key(swapped, healthy, ("nodes", "n", "hostname"), "n")
