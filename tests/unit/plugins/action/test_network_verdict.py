# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""On the healthy cluster of the field cases, and with one thing changed in it; rules have tests of their own."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleActionFail
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.task import Task
from ansible.template import Templar

from ansible_collections.podnet.kubeadm.plugins.action import network_verdict

BASES = pathlib.Path(__file__).parents[3] / "field-cases" / "base"
HOSTS = ["node1", "node2", "node3"]
INTENT = {"pod_cidr": "10.244.0.0/16", "service_cidr": "10.96.0.0/12"}
OVERLAP = {**INTENT, "pod_cidr": "10.100.0.0/16"}
Judge = Callable[..., "tuple[dict[str, Any], str]"]


def healthy() -> dict[str, Any]:
    bundle: dict[str, Any] = json.loads((BASES / "cluster.json").read_text())
    return bundle


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Judge:
    """A function (options, variables) that answers the action's result and what it printed."""

    def run(options: dict[str, Any], **variables: Any) -> tuple[dict[str, Any], str]:
        said: list[str] = []
        monkeypatch.setattr(network_verdict.display, "display", lambda text, color=None: said.append(text))
        task = Task()
        task.args = options
        loader = DataLoader()
        loader.set_basedir(str(tmp_path))
        given = {"ansible_play_hosts_all": HOSTS, "hostvars": {host: {} for host in HOSTS}, **variables}
        templar = Templar(loader=loader, variables=given)
        action = network_verdict.ActionModule(task, MagicMock(), MagicMock(check_mode=False), loader, templar, None)
        return action.run(task_vars=given), "\n".join(said)

    return run


def test_an_intent_that_is_sound(judge: Judge) -> None:
    result, said = judge({"intent": INTENT})
    assert not result.get("failed")
    assert (result["stage"], result["changed"], result["findings"], result["unseen"]) == ("intent", False, [], [])
    assert (result["counts"], result["written"]) == ({"error": 0, "warning": 0, "info": 0}, [])
    assert said


def test_an_error_fails_the_task_with_what_to_do(judge: Judge) -> None:
    result, said = judge({"intent": OVERLAP})
    assert result["failed"] and result["counts"]["error"] == 1
    (found,) = result["findings"]
    assert set(found) == {"code", "severity", "where", "summary"}
    assert (found["code"], found["where"]) == ("overlap-pod-service", ["intent"])
    assert result["msg"].startswith("overlap-pod-service at intent: ") and "cluster_pod_cidr" in result["msg"]
    assert "overlap-pod-service" in said and "undetermined" not in result


@pytest.mark.parametrize(
    ("options", "failed"),
    [
        ({"fail_on": "never"}, False),
        ({"accept": ["overlap-pod-service"]}, False),
        ({"fail_on": "warning"}, True),
        ({"quiet": True}, True),
    ],
)
def test_what_fails_and_what_is_told_is_chosen(judge: Judge, options: dict[str, Any], failed: bool) -> None:
    result, said = judge({"intent": OVERLAP, **options})
    assert bool(result.get("failed")) is failed
    assert bool(said) is ("quiet" not in options)
    if "accept" in options:
        assert [one["code"] for one in result["accepted"]] == ["overlap-pod-service"] and result["findings"] == []


def test_a_warning_fails_where_that_is_asked_for(judge: Judge) -> None:
    bundle = healthy()
    bundle["nodes"]["node2"]["swap"] += "/dev/zram0 partition 1 0 100\n"
    severities = {one["severity"] for one in judge({"evidence": bundle, "fail_on": "never"})[0]["findings"]}
    assert severities and severities <= {"error", "warning", "info"}
    for level in ("error", "warning", "info"):
        worse = {"error": {"error"}, "warning": {"error", "warning"}, "info": {"error", "warning", "info"}}[level]
        result, _said = judge({"evidence": bundle, "fail_on": level})
        assert bool(result.get("failed")) is bool(severities & worse)


def test_what_hosts_and_control_planes_registered_is_one_bundle(judge: Judge) -> None:
    bundle = healthy()
    registered: dict[str, Any] = {
        host: {"found": {"evidence": bundle["nodes"][host]}, "said": {"failed": True}} for host in HOSTS
    }
    del registered["node3"]["found"]
    registered["node1"]["cluster"] = {"evidence": {key: bundle["cluster"][key] for key in ("nodes", "manifests")}}
    registered["node2"]["cluster"] = {"evidence": {**bundle["cluster"], "nodes": None, "manifests": {"node2": {}}}}
    options = {"intent": bundle["intent"], "node_evidence": "found", "cluster_evidence": ["cluster", "said"]}
    options |= {"save": "saved.json", "fail_on": "never"}
    result, said = judge(options, hostvars=registered)
    assert (result["stage"], result["hosts"], result["unseen"]) == ("cluster", ["node1", "node2"], ["node3"])
    assert "No evidence of 1 of the hosts: node3" in said
    (path,) = result["written"]
    saved = json.loads(pathlib.Path(path).read_text())
    assert saved["cluster"]["nodes"] == bundle["cluster"]["nodes"]  # of the first that has the key
    assert sorted(saved["cluster"]["manifests"]) == ["node1", "node2"]


def test_a_report_is_written_where_it_is_asked_for(judge: Judge, tmp_path: pathlib.Path) -> None:
    result, _said = judge({"evidence": healthy(), "report": "report", "fail_on": "never"})
    assert {pathlib.Path(path).parent for path in result["written"]} == {tmp_path / "report"}
    assert {pathlib.Path(path).name for path in result["written"]} >= {"report.html", "report.json", "report.md"}


def test_a_saved_bundle_is_judged_as_it_was(judge: Judge, tmp_path: pathlib.Path) -> None:
    (tmp_path / "bundle.json").write_text(json.dumps(healthy()))
    result, _said = judge({"evidence": "bundle.json"})
    assert (result["stage"], result["hosts"]) == ("cluster", HOSTS)
    assert not result.get("failed")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"accept": ["swap-off"]}, "accept lists 'swap-off', which is no code of a finding"),
        ({"evidence": "none.json"}, "The evidence cannot be read: "),
        ({"evidence": "none.json", "stage": "host"}, "cannot be added to it"),
        ({"evidence": "none.json", "node_evidence": "x"}, "cannot be added to it"),
        ({"intent": INTENT, "save": "/proc/none/x"}, "What was judged cannot be written: "),
        ({"fail_on": "note"}, "fail_on"),
    ],
)
def test_bad_input_gets_a_sentence(judge: Judge, options: dict[str, Any], said: str) -> None:
    with pytest.raises(AnsibleActionFail, match=said):
        judge(options)


def test_misspelt_and_wrong_variables_are_found_in_those_of_the_hosts(judge: Judge) -> None:
    variables: dict[str, Any] = {
        "cluster_planned_nodes": "three",
        "hostvars": {host: {} for host in HOSTS} | {"node2": {"cluster_pod_cdir": "10.0.0.0/16"}},
        "groups": {"kube_control_plane": ["node1"], "kube_node": ["node2", "node3"]},
    }
    result, _said = judge({"intent": INTENT, "check_variables": True, "fail_on": "never"}, **variables)
    found = {one["code"]: one for one in result["findings"]}
    assert "cluster_pod_cdir" in json.dumps(found["variable-unknown"]["evidence"])
    assert "cluster_planned_nodes" in json.dumps(found["variable-invalid"]["evidence"])
    assert not judge({"intent": INTENT, "fail_on": "never"}, **variables)[0]["findings"]


def test_what_is_not_set_of_an_intent_is_not_asked_for(judge: Judge) -> None:
    result, _said = judge({"intent": {**INTENT, "service_cidr": "", "node_mask": None, "flannel": {"mtu": ""}}})
    assert not result.get("failed") and result["findings"] == []
