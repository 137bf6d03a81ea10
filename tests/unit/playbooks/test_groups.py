# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks find their hosts by groups whose names are variables of the inventory, and say so where there are none.

Nothing listens where the hosts are said to be: a host that a play reached out for is unreachable.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PLAYBOOKS = ("site", "verify", "repair", "trace")
INVENTORY = """
masters: {hosts: {cp1: }}
workers: {hosts: {worker1: }}
all:
  vars:
    ansible_host: 127.0.0.1
    ansible_port: 1
    cluster_control_plane_group: masters
    cluster_node_group: workers
"""


def play(tmp_path: pathlib.Path, playbook: str, inventory: str, *arguments: str) -> tuple[int, str]:
    (tmp_path / "inventory.yml").write_text(inventory)
    command = [str(pathlib.Path(sys.executable).parent / "ansible-playbook"), f"playbooks/{playbook}.yml", *arguments]
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".ansible" / "collections"),
        "ANSIBLE_HOME": str(tmp_path),
        "ANSIBLE_NOCOLOR": "true",
    }
    command += ["-i", str(tmp_path / "inventory.yml")]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("playbook", "limit"), [("site", "cp1"), ("site", "worker1"), *((one, "") for one in PLAYBOOKS)]
)
def test_groups_of_other_names(tmp_path: pathlib.Path, playbook: str, limit: str) -> None:
    asked = ["-e", "trace_from=default/a", "-e", "trace_to=default/b"] if playbook == "trace" else []
    _code, output = play(tmp_path, playbook, INVENTORY, *asked, *(["--limit", limit] if limit else []))
    assert re.search(rf"^{limit or 'cp1'} +: .*unreachable=1", output, re.MULTILINE), output


OTHERS = (INVENTORY.replace("cluster_", "x_"), INVENTORY.replace("masters: {", "others: {"))


@pytest.mark.parametrize(
    ("playbook", "inventory"), [*((one, "") for one in PLAYBOOKS), *(("site", one) for one in OTHERS)]
)
def test_without_a_control_plane_it_is_no_success(tmp_path: pathlib.Path, playbook: str, inventory: str) -> None:
    code, output = play(tmp_path, playbook, inventory)
    assert code and "has no host in the group" in output and "cluster_control_plane_group" in output, output


def test_several_control_planes_are_named(tmp_path: pathlib.Path) -> None:
    code, output = play(tmp_path, "site", INVENTORY.replace("cp1: }", "cp1: , cp2: }"))
    assert code and "has 2 hosts: cp1, cp2." in output and "unreachable=1" not in output, output


@pytest.mark.parametrize("task", ["Apply flannel", "Join those that are none"])
def test_site_from_its_middle_says_what_it_lacks(tmp_path: pathlib.Path, task: str) -> None:
    code, output = play(tmp_path, "site", INVENTORY, "--start-at-task", task)
    assert code and "--start-at-task left preflight out" in output, output
