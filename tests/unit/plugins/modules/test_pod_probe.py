# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any, Callable

from ansible_collections.podnet.kubeadm.plugins.modules import pod_probe

RunModule = Callable[..., dict[str, Any]]
OPTIONS = {"node": "n1", "namespace": "podnet-verify", "word": "w"}


def test_check_mode_looks_for_no_pod(run_module: RunModule) -> None:
    assert run_module(pod_probe, {**OPTIONS, "state": "serving"}, check=True)["changed"] is False
    assert run_module(pod_probe, {**OPTIONS, "state": "probing"}, check=True)["probes"] == []


def test_a_misspelt_path_is_told(run_module: RunModule) -> None:
    result = run_module(pod_probe, {**OPTIONS, "state": "probing", "paths": ["tpc/pod"]})
    assert result["failed"] and "no path is called tpc/pod" in result["msg"]
