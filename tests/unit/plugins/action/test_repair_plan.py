# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible.playbook.task import Task

from ansible_collections.podnet.kubeadm.plugins.action import repair_plan

HOSTS = ["n1", "n2", "n3"]


def finding(code: str, repair: str | None, where: list[str]) -> dict[str, Any]:
    return {"code": code, "repair": repair, "where": where, "severity": "error", "remedy": "Do what is right."}


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function (findings, approved) that answers the action's result and what it printed."""

    def run(findings: list[dict[str, Any]], approved: bool = False) -> tuple[dict[str, Any], str]:
        said: list[str] = []
        monkeypatch.setattr(repair_plan.display, "display", lambda text, color=None: said.append(text))
        task = Task()
        task.args = {"findings": findings, "control_planes": ["n1"], "approved": approved}
        play_context = MagicMock(check_mode=False)
        action = repair_plan.ActionModule(task, MagicMock(), play_context, MagicMock(), MagicMock(), None)
        return action.run(task_vars={"ansible_play_hosts": HOSTS}), "\n".join(said)

    return run


def test_steps_are_answered_and_told(plan: Any) -> None:
    result, said = plan([finding("ip-forward-off", "host:main", ["n2"]), finding("clock-skew", None, ["n3"])])
    assert [(step["host"], step["repair"]) for step in result["steps"]] == [("n2", "host:main")]
    assert result["left"] == ["clock-skew"] and result["changed"] is False
    assert "ip-forward-off" in said and "Nothing was done. To carry the steps out: -e repair_approve=true" in said


def test_what_is_approved_asks_for_nothing(plan: Any) -> None:
    _result, said = plan([finding("ip-forward-off", "host:main", ["n2"])], approved=True)
    assert "repair_approve" not in said


def test_a_host_that_is_not_in_the_play_is_left_to_a_person(plan: Any) -> None:
    result, said = plan([finding("ip-forward-off", "host:main", ["n9"])])
    assert result["steps"] == [] and result["left"] == ["ip-forward-off"]
    assert "ip-forward-off at n9: Do what is right." in said
