# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


@pytest.mark.parametrize(
    "role, memory, low",
    [
        ("control_plane", 1699, True),
        ("control_plane", 1700, False),
        ("worker", 699, True),
        ("worker", 700, False),
        ("worker", 1024, False),
    ],
)
def test_the_limits(role, memory, low):
    bundle = healthy("host")
    bundle["nodes"]["node2"].update(roles=[role], memory_mib=memory)
    found = findings("memory-low", bundle)
    assert [one.where for one in found] == ([["node2"]] if low else [])


def test_a_host_in_both_groups_is_a_control_plane():
    bundle = healthy("host")
    bundle["nodes"]["node2"].update(roles=["control_plane", "worker"], memory_mib=1024)
    assert "control plane node needs 1700 MiB" in findings("memory-low", bundle)[0].summary


def test_a_running_member_is_not_judged():
    bundle = healthy()
    bundle["nodes"]["node2"]["memory_mib"] = 512
    assert findings("memory-low", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    bundle["nodes"]["node2"].pop("memory_mib", None)
    assert "node2" in undetermined("memory-low", bundle)[0].where
