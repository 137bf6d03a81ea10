# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each role has one tag, its own name, on all it does: `--tags containerd` runs that role and nothing else."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).parents[3]
TASK_FILES = sorted(ROOT.glob("roles/*/tasks/*.yml"))


@pytest.mark.parametrize("path", TASK_FILES, ids=[f"{path.parts[-3]}-{path.stem}" for path in TASK_FILES])
def test_every_task_has_its_roles_tag(path: pathlib.Path) -> None:
    role = path.parts[-3]
    tags = {task.get("name"): task.get("tags") for task in yaml.safe_load(path.read_text(encoding="utf-8"))}
    assert {name: tag for name, tag in tags.items() if tag != [role]} == {}


def test_site_lists_the_tags_of_its_roles_and_always() -> None:
    command = [str(pathlib.Path(sys.executable).parent / "ansible-playbook"), "--list-tags", "playbooks/site.yml"]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".ansible" / "collections")}
    listed = subprocess.run(
        [*command, "-i", "n1,"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    tags = {tag for line in re.findall(r"TASK TAGS: \[(.*)\]", listed.stdout) for tag in line.split(", ")}
    roles = {"host", "containerd", "kubernetes_packages", "control_plane", "worker", "flannel", "firewall", "verify"}
    assert tags - {""} == roles | {"always"}
