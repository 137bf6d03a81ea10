# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
from typing import Any, Callable

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubectl
from ansible_collections.podnet.kubeadm.plugins.modules import manifest

RunModule = Callable[..., "dict[str, Any]"]
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}, "data": {"a": "1"}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> dict[str, Any]:
    """A server that has what is in C(live), makes of an object what it was given, and remembers what it was asked."""
    state: dict[str, Any] = {"live": [], "asked": [], "kubeconfig": str(tmp_path / "admin.conf")}
    (tmp_path / "admin.conf").write_text("x")

    def live(_self: Any, _objects: list[Any]) -> dict[Any, Any]:
        return {_kubectl.key_of(item): item for item in state["live"]}

    def apply(_self: Any, objects: list[Any], _manager: str, _force: bool, dry_run: bool) -> list[Any]:
        state["asked"].append((dry_run, [_kubectl.title_of(item) for item in objects]))
        return objects

    def delete(_self: Any, objects: list[Any], wait: bool, _limit: int) -> None:
        state["asked"].append((wait, [_kubectl.title_of(item) for item in objects]))

    monkeypatch.setattr(_kubectl.Kubectl, "live", live)
    monkeypatch.setattr(_kubectl.Kubectl, "apply", apply)
    monkeypatch.setattr(_kubectl.Kubectl, "delete", delete)
    return state


def test_without_a_cluster_check_mode_predicts_everything(run_module: RunModule) -> None:
    options = {"objects": [NAMESPACE, CONFIG], "kubeconfig": "/nowhere"}
    result = run_module(manifest, options, check=True)
    assert result["changed"] and result["changed_objects"] == ["Namespace n", "ConfigMap n/c"]


def test_check_mode_asks_the_server_but_for_what_has_no_namespace_yet(
    run_module: RunModule, server: dict[str, Any]
) -> None:
    options = {"objects": [NAMESPACE, CONFIG], "kubeconfig": server["kubeconfig"]}
    result = run_module(manifest, options, check=True)
    assert server["asked"] == [(True, ["Namespace n"])]
    assert result["changed_objects"] == ["Namespace n", "ConfigMap n/c"]


def test_what_is_there_already_is_no_change(run_module: RunModule, server: dict[str, Any]) -> None:
    server["live"] = [NAMESPACE, CONFIG]
    result = run_module(manifest, {"objects": [NAMESPACE, CONFIG], "kubeconfig": server["kubeconfig"]})
    assert (result["changed"], result["diff"]) == (False, [])


def test_absent(run_module: RunModule, server: dict[str, Any]) -> None:
    options = {"objects": [NAMESPACE], "state": "absent", "kubeconfig": server["kubeconfig"]}
    assert run_module(manifest, options)["changed"] is False
    server["live"] = [NAMESPACE]
    assert run_module(manifest, options, check=True)["changed"] and server["asked"] == []
    assert run_module(manifest, options)["changed"] and server["asked"] == [(False, ["Namespace n"])]


def test_what_is_going_already_is_no_change(run_module: RunModule, server: dict[str, Any]) -> None:
    server["live"] = [{**NAMESPACE, "metadata": {"name": "n", "deletionTimestamp": "2026-11-30T12:00:00Z"}}]
    options = {"objects": [NAMESPACE], "state": "absent", "kubeconfig": server["kubeconfig"]}
    assert run_module(manifest, options)["changed"] is False
    assert server["asked"] == []


def test_an_object_without_a_name_is_told(run_module: RunModule) -> None:
    result = run_module(manifest, {"objects": [{"apiVersion": "v1", "kind": "Namespace"}]})
    assert result["failed"] and "metadata.name" in result["msg"]
