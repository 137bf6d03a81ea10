# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import pathlib

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.probe import leftovers


def test_what_a_killed_probe_left_is_told_from_one_that_runs(tmp_path: pathlib.Path) -> None:
    for name in ("podnet-probe-4194999-a", f"podnet-probe-{os.getpid()}-a", "podnet-probe-x", "cni-1234"):
        (tmp_path / name).touch()
    assert leftovers(str(tmp_path)) == ["podnet-probe-4194999-a"]
    assert leftovers(str(tmp_path / "gone")) == []
