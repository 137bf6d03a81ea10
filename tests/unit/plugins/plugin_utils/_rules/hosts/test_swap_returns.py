# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined

LINE = "/dev/vda2 none swap sw 0 0"


def kept(line, base="host"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["fstab_swap"] = [line]
    return bundle


def test_a_line_in_fstab_is_a_warning():
    (found,) = findings("swap-returns", kept(LINE))
    assert (found.severity, found.where) == ("warning", ["node2"])


def test_swap_that_is_on_now_is_told_by_its_own_code():
    bundle = kept(LINE)
    bundle["nodes"]["node2"]["swap"] = "Filename\tType\n/dev/vda2\tpartition\n"
    assert findings("swap-returns", bundle) == []


@pytest.mark.parametrize("line", ["#/dev/vda2 none swap sw 0 0", "/dev/vda2 none swap sw,noauto 0 0"])
def test_lines_that_nobody_acts_on_are_fine(line):
    assert findings("swap-returns", kept(line)) == []


def test_a_kubelet_that_may_swap_is_fine():
    bundle = kept(LINE, "cluster")
    bundle["nodes"]["node2"]["kubelet_flags"] = "KUBELET_EXTRA_ARGS=--fail-swap-on=false\n"
    assert findings("swap-returns", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["fstab_swap"]
    assert [missed.key for missed in undetermined("swap-returns", bundle)] == ["nodes.*.fstab_swap"]
