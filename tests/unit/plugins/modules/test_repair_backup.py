# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
import json
import pathlib
import re
from typing import Any, Callable

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubectl
from ansible_collections.podnet.kubeadm.plugins.modules import repair_backup

RunModule = Callable[..., "dict[str, Any]"]
TITLE = "ConfigMap kube-flannel/kube-flannel-cfg"
# As `kubectl get configmap -o json` (1.37.2) answers.
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "kube-flannel-cfg",
        "namespace": "kube-flannel",
        "creationTimestamp": "2026-11-30T20:40:43Z",
        "resourceVersion": "281",
        "uid": "507ef01a-bce8-4d03-9fa4-0ca5334a06b6",
    },
    "data": {"net-conf.json": '{"Network": "10.99.0.0/16"}'},
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A server: its objects by title, and what it was told to do. It counts each write, as the real one does."""
    state: dict[str, Any] = {"objects": {TITLE: copy.deepcopy(CONFIG)}, "asked": []}

    def get(_self: Any, args: list[str]) -> list[Any]:
        found = state["objects"].get(f"{args[0]} {args[3]}/{args[1]}" if "-n" in args else f"{args[0]} /{args[1]}")
        return [copy.deepcopy(found)] if found else []

    def run(_self: Any, args: list[str], data: str | None = None, limit: int | None = None) -> str:
        state["asked"].append(args[0])
        for item in json.loads(data or "{}")["items"]:
            item["metadata"]["resourceVersion"] = str(1000 + len(state["asked"]))
            state["objects"][_kubectl.title_of(item)] = item
        return ""

    def delete(_self: Any, objects: list[Any], wait: bool, limit: int) -> None:
        state["asked"].append("delete")
        for item in objects:
            del state["objects"][_kubectl.title_of(item)]

    monkeypatch.setattr(_kubectl.Kubectl, "get", get)
    monkeypatch.setattr(_kubectl.Kubectl, "run", run)
    monkeypatch.setattr(_kubectl.Kubectl, "delete", delete)
    return state


@pytest.fixture
def options(tmp_path: pathlib.Path) -> dict[str, Any]:
    (tmp_path / "net.d").mkdir()
    (tmp_path / "net.d" / "00-other.conflist").write_bytes(b"{other}\r\n")
    return {
        "folder": str(tmp_path / "repair" / "2026-11-30T17-40-00Z"),
        "files": [f"{tmp_path}/net.d/*"],
        "objects": [TITLE],
    }


def mend(server: dict[str, Any], options: dict[str, Any]) -> None:
    for path in pathlib.Path(options["files"][0]).parent.iterdir():
        path.unlink()
    server["objects"][TITLE]["data"]["net-conf.json"] = '{"Network": "10.244.0.0/16"}'


def test_a_log_tells_what_was_done_and_when(
    run_module: RunModule, server: dict[str, Any], options: dict[str, Any]
) -> None:
    step = {**options, "step": "host:cni_config for cni-foreign-config"}
    run_module(repair_backup, {"state": "kept", **step})
    mend(server, options)
    run_module(repair_backup, {"state": "settled", **step})
    run_module(repair_backup, go_back(options))

    log = pathlib.Path(options["folder"]) / "repair.log"
    lines = log.read_text().splitlines()
    assert [line.split(" ", 1)[1].split(";")[0] for line in lines] == [
        "begins host:cni_config for cni-foreign-config",
        "ended host:cni_config for cni-foreign-config",
        f"put back {options['files'][0][:-1]}00-other.conflist, {TITLE}",
    ]
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", line) for line in lines)
    assert log.stat().st_mode & 0o077 == 0


def go_back(options: dict[str, Any]) -> dict[str, Any]:
    return {"state": "restored", "folder": options["folder"]}


def test_files_and_objects_go_back_as_they_were(
    run_module: RunModule, server: dict[str, Any], options: dict[str, Any]
) -> None:
    assert len(run_module(repair_backup, {"state": "kept", **options})["entries"]) == 2
    mend(server, options)
    changed = run_module(repair_backup, {"state": "settled", **options})["entries"]

    result = run_module(repair_backup, go_back(options))

    assert result["changed"] and sorted(result["entries"]) == sorted(changed) and result["left"] == []
    other = pathlib.Path(options["files"][0]).parent / "00-other.conflist"
    assert other.read_bytes() == b"{other}\r\n"
    assert server["objects"][TITLE]["data"] == CONFIG["data"] and server["asked"] == ["replace"]
    assert run_module(repair_backup, go_back(options))["changed"] is False


def test_what_somebody_changed_since_is_left(
    run_module: RunModule, server: dict[str, Any], options: dict[str, Any]
) -> None:
    run_module(repair_backup, {"state": "kept", **options})
    mend(server, options)
    run_module(repair_backup, {"state": "settled", **options})
    server["objects"][TITLE]["data"]["net-conf.json"] = "by somebody"
    result = run_module(repair_backup, go_back(options))
    assert result["left"] == [TITLE] and server["asked"] == []


def test_what_a_repair_removed_is_made_again_and_what_it_made_is_removed(
    run_module: RunModule, server: dict[str, Any], options: dict[str, Any]
) -> None:
    options["objects"] = [TITLE, "ClusterRole /flannel"]
    run_module(repair_backup, {"state": "kept", **options})
    del server["objects"][TITLE]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "flannel"}}
    server["objects"]["ClusterRole /flannel"] = role
    run_module(repair_backup, {"state": "settled", **options})
    server["objects"]["ClusterRole flannel"] = server["objects"]["ClusterRole /flannel"]  # as it is called for delete

    result = run_module(repair_backup, go_back(options))

    assert sorted(result["entries"]) == ["ClusterRole /flannel", TITLE]
    assert sorted(server["asked"]) == ["create", "delete"]
    assert server["objects"][TITLE]["data"] == CONFIG["data"]


def test_check_mode_says_what_would_go_back(
    run_module: RunModule, server: dict[str, Any], options: dict[str, Any]
) -> None:
    assert run_module(repair_backup, {"state": "kept", **options}, check=True)["entries"] == []
    assert not pathlib.Path(options["folder"]).exists()
    run_module(repair_backup, {"state": "kept", **options})
    mend(server, options)
    run_module(repair_backup, {"state": "settled", **options})
    assert len(run_module(repair_backup, go_back(options), check=True)["entries"]) == 2
    assert server["asked"] == [] and not list(pathlib.Path(options["files"][0]).parent.iterdir())


def test_a_host_that_took_no_part_says_which_dates_it_has(run_module: RunModule, options: dict[str, Any]) -> None:
    run_module(repair_backup, {"state": "kept", **options, "objects": []})
    result = run_module(repair_backup, {"state": "restored", "folder": options["folder"] + "x"})
    assert result["changed"] is False and result["dates"] == ["2026-11-30T17-40-00Z"]


def test_only_the_owner_can_read_what_is_kept(run_module: RunModule, options: dict[str, Any]) -> None:
    run_module(repair_backup, {"state": "kept", **options, "objects": []})
    folder = pathlib.Path(options["folder"])
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "index.json").stat().st_mode & 0o777 == 0o600
