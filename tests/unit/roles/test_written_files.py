# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Evidence is without what looks like a secret. Written back, it made a controller manager that did not start."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

ROLES = pathlib.Path(__file__).resolve().parents[3] / "roles"
WRITING = ("podnet.kubeadm.config_files", "podnet.kubeadm.manifest", "ansible.builtin.copy", "ansible.builtin.template")


def tasks(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        yield item
        for part in ("block", "rescue", "always"):
            yield from tasks(item.get(part, []))


FILES = sorted(ROLES.glob("*/tasks/*.yml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_no_file_and_no_object_is_written_from_evidence(path: pathlib.Path) -> None:
    for task in tasks(yaml.safe_load(path.read_text())):
        if any(module in task for module in WRITING):
            assert ".evidence." not in yaml.safe_dump(task), task["name"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_a_template_of_kubectl_is_an_argument_of_its_own(path: pathlib.Path) -> None:
    """A command given as one line is split as a shell does it: blanks part the template, and backslashes are eaten."""
    for task in tasks(yaml.safe_load(path.read_text())):
        command = task.get("ansible.builtin.command", "")
        if isinstance(command, str):
            for word in command.partition("jsonpath=")[2:]:
                assert word.count("{") <= 1 and "\\" not in word, task["name"]
