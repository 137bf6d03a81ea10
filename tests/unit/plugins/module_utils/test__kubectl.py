# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubectl


def config_map(**data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "n", "resourceVersion": "5", "managedFields": [{}]},
        "data": data,
    }


def test_what_the_server_writes_is_no_change() -> None:
    before = config_map(a="1")
    after = config_map(a="1")
    after["metadata"].update(resourceVersion="6", generation=2)
    after["status"] = {"x": 1}
    assert _kubectl.changes({_kubectl.key_of(before): before}, [after]) == []


def test_a_change_shows_both_sides_and_the_title() -> None:
    before, after = config_map(a="1"), config_map(a="2")
    (diff,) = _kubectl.changes({_kubectl.key_of(before): before}, [after])
    assert diff["before_header"] == "ConfigMap n/c"
    assert '"a": "1"' in diff["before"] and '"a": "2"' in diff["after"]
    assert "resourceVersion" not in diff["after"]


def test_a_new_object_has_nothing_before() -> None:
    (diff,) = _kubectl.changes({}, [config_map(a="1")])
    assert diff["before"] == "" and diff["after"]


def test_versions_of_one_group_are_the_same_object() -> None:
    assert _kubectl.key_of({"apiVersion": "apps/v1", "kind": "D"}) == _kubectl.key_of(
        {"apiVersion": "apps/v1beta1", "kind": "D"}
    )


def test_secret_values_are_not_shown_but_their_change_is() -> None:
    def secret(value: str) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": value}}

    before = secret("hunter2")
    (diff,) = _kubectl.changes({_kubectl.key_of(before): before}, [secret("hunter3")])
    assert "hunter" not in json.dumps(diff)


def test_items_of_every_shape() -> None:
    one = config_map()
    assert _kubectl.items_of("") == []
    assert _kubectl.items_of(json.dumps(one)) == [one]
    assert _kubectl.items_of(json.dumps({"kind": "List", "items": [one, one]})) == [one, one]


def test_every_call_has_a_limit_and_the_kubeconfig() -> None:
    calls = []

    def run(args: list[str], **options: Any) -> tuple[int, str, str]:
        calls.append((args, options))
        return 0, "", ""

    kubectl = _kubectl.Kubectl(run, "/k", limit=7)
    kubectl.live([config_map()])
    kubectl.apply([config_map()], "me", force=True, dry_run=True)
    assert all(args[0] == "timeout" and "--request-timeout=7s" in args for args, _options in calls)
    assert all(options["environ_update"]["KUBECONFIG"] == "/k" for _args, options in calls)
    assert "--dry-run=server" in calls[1][0]


def test_failure_is_in_kubectls_words() -> None:
    def run(_args: list[str], **_options: Any) -> tuple[int, str, str]:
        return 1, "", "error: no matches for kind"

    with pytest.raises(_kubectl.KubectlError, match="kubectl get pods: error: no matches for kind"):
        _kubectl.Kubectl(run).run(["get", "pods"])
