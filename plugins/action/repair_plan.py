# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible import constants as C
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..plugin_utils._repairs import for_a_person, steps, tell_steps

display = Display()


class ActionModule(ActionBase):
    """Turns a verdict into steps, on the controller, once for all hosts of the play, and prints them."""

    BYPASS_HOST_LOOP = True
    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        _validated, options = self.validate_argument_spec(
            argument_spec={
                "findings": {"type": "list", "elements": "dict", "required": True},
                "control_planes": {"type": "list", "elements": "str", "required": True},
                "unfinished": {"type": "list", "elements": "str", "default": []},
                "approved": {"type": "bool", "default": False},
            }
        )
        hosts = [str(host) for host in variables.get("ansible_play_hosts", [])]
        found = steps(options["findings"], hosts, options["control_planes"], options["unfinished"])
        left = for_a_person(options["findings"], hosts, options["control_planes"])
        width = max(display.columns or 79, 60)
        for line, kind in tell_steps(found, left, width, options["approved"]):
            display.display(line, color={"title": C.COLOR_HIGHLIGHT, "next": C.COLOR_OK}.get(kind))
        result.update(changed=False, steps=found, left=[finding["code"] for finding in left])
        return result
