# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
from typing import Any, Callable

import pytest
from ansible.module_utils import basic

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubeadm_traces
from ansible_collections.podnet.kubeadm.plugins.module_utils._kubeadm_traces import Traces
from ansible_collections.podnet.kubeadm.plugins.modules import kubeadm

RunModule = Callable[..., dict[str, Any]]
CA = (pathlib.Path(__file__).parents[1] / "module_utils" / "fixtures" / "ca.crt").read_text()
TOKEN = "abcdef.0123456789abcdef"
JOIN = {
    "state": "joined",
    "config": [{"kind": "JoinConfiguration"}],
    "api_server": "10.89.0.11:6443",
    "ca_cert_hash": "sha256:" + "0" * 64,
    "token": TOKEN,
}
INIT = {"state": "initialized", "config": [{"kind": "ClusterConfiguration", "networking": {"podSubnet": "10.0.0.0/8"}}]}
CONTROL_PLANE = Traces(ca_cert=True, ca_key=True, kubelet_conf=True, admin_conf=True, static_pods=("kube-apiserver",))


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the host hold what is given, and these texts in its files."""

    def hold(found: Traces, **files: str) -> None:
        monkeypatch.setattr(_kubeadm_traces, "look", lambda *_args, **_options: found)
        monkeypatch.setattr(_kubeadm_traces, "at_work", list)
        monkeypatch.setattr(kubeadm, "read", lambda path: files.get(pathlib.Path(path).stem, ""))

    return hold


def test_check_mode_on_a_fresh_host_shows_the_configuration(run_module: RunModule, traces: Callable[..., None]) -> None:
    traces(Traces())
    result = run_module(kubeadm, INIT, check=True)
    assert (result["changed"], result["before"]) == (True, "fresh")
    assert "10.0.0.0/8" in result["diff"]["after"]


def test_a_control_plane_is_left_alone(run_module: RunModule, traces: Callable[..., None]) -> None:
    traces(CONTROL_PLANE)
    assert run_module(kubeadm, INIT) == run_module(kubeadm, INIT, check=True)
    assert run_module(kubeadm, INIT)["changed"] is False


def test_a_setting_that_kubeadm_does_not_read_again_is_told(
    monkeypatch: pytest.MonkeyPatch, run_module: RunModule, traces: Callable[..., None]
) -> None:
    traces(CONTROL_PLANE)
    told: list[str] = []
    monkeypatch.setattr(basic.AnsibleModule, "warn", lambda _module, text: told.append(text))
    running = [{"kind": "ClusterConfiguration", "networking": {"podSubnet": "10.1.0.0/16"}}, {"kind": "Other"}]
    assert run_module(kubeadm, {**INIT, "running": running})["changed"] is False
    (sentence,) = told
    assert "other values of networking.podSubnet than" in sentence
    run_module(kubeadm, {**INIT, "running": []})
    assert told == [sentence]


def test_a_worker_of_another_cluster_does_not_become_a_control_plane(
    run_module: RunModule, traces: Callable[..., None]
) -> None:
    traces(Traces(kubelet_conf=True, ca_cert=True), kubelet="server: https://10.1.1.1:6443\n")
    result = run_module(kubeadm, INIT)
    assert result["failed"] and "worker of the cluster at 10.1.1.1:6443" in result["msg"]


def test_a_member_of_another_cluster_does_not_join(run_module: RunModule, traces: Callable[..., None]) -> None:
    traces(Traces(kubelet_conf=True, ca_cert=True), ca=CA, kubelet="server: https://10.1.1.1:6443\n")
    result = run_module(kubeadm, JOIN)
    assert result["failed"] and "member of another cluster, that of 10.1.1.1:6443" in result["msg"]


def test_a_join_that_is_needed_needs_a_token(run_module: RunModule, traces: Callable[..., None]) -> None:
    traces(Traces())
    result = run_module(kubeadm, {**JOIN, "token": ""})
    assert result["failed"] and "needs token" in result["msg"]


def test_the_token_is_in_no_output(run_module: RunModule, traces: Callable[..., None]) -> None:
    traces(Traces())
    assert TOKEN not in json.dumps(run_module(kubeadm, JOIN, check=True))


def test_no_control_plane_no_token(run_module: RunModule, traces: Callable[..., None]) -> None:
    traces(Traces())
    result = run_module(kubeadm, {"state": "token_issued"})
    assert result["failed"] and "no control plane of a kubeadm cluster" in result["msg"]


def test_check_mode_before_there_is_a_control_plane(run_module: RunModule, traces: Callable[..., None]) -> None:
    traces(Traces())
    assert not run_module(kubeadm, {"state": "token_issued"}, check=True).get("failed")


def test_a_kubeadm_at_work_is_waited_for(
    run_module: RunModule, traces: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    traces(CONTROL_PLANE)
    answers = [[(12, "init")], [(12, "init")], []]
    monkeypatch.setattr(_kubeadm_traces, "at_work", lambda: answers.pop(0))
    monkeypatch.setattr(kubeadm.time, "sleep", lambda _seconds: None)
    assert not run_module(kubeadm, INIT).get("failed")
    assert answers == []


def test_a_kubeadm_that_does_not_end_is_named(
    run_module: RunModule, traces: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    traces(CONTROL_PLANE)
    monkeypatch.setattr(_kubeadm_traces, "at_work", lambda: [(12, "init")])
    result = run_module(kubeadm, {**INIT, "timeout": 0})
    assert result["failed"] and "kubeadm init (process 12) is at work" in result["msg"]
