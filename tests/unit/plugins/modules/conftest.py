# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs a module as Ansible does: real argument handling, its answer read from what it prints."""

from __future__ import annotations

import json
from typing import Any, Callable

import pytest
from ansible.module_utils import basic


@pytest.fixture
def run_module(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """A function (module, options, check) that answers the module's result."""

    def run(module: Any, options: dict[str, Any], check: bool = False) -> dict[str, Any]:
        arguments = {"_ansible_check_mode": check, "_ansible_diff": True, **options}
        monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode())
        monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)  # not in ansible-core before 2.19
        capsys.readouterr()
        with pytest.raises(SystemExit):
            module.main()
        return json.loads(capsys.readouterr().out)

    return run
