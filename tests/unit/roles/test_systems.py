# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What containerd and kubernetes_packages would write on each supported system.

The roles run for real, in check mode against this machine, with the facts of the system that they choose by. The facts
are what Ansible's own reader makes of the system's recorded /etc/os-release: fixtures/os-release/README.md.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest
from ansible.module_utils import distro

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.identity import os_release

ROOT = pathlib.Path(__file__).parents[3]
RECORDED = pathlib.Path(__file__).parent / "fixtures" / "os-release"
SYSTEMS = ("debian12", "debian13", "ubuntu2204", "ubuntu2404")


def facts(system: str) -> dict[str, str]:
    """`distribution` and `distribution_release`, by the library and the rules of Ansible's setup module."""
    recorded = str(RECORDED / system)
    read = distro.LinuxDistribution(include_lsb=False, os_release_file=recorded, distro_release_file=os.devnull)
    return {
        "distribution": read.id().capitalize(),
        "distribution_release": read.os_release_info()["version_codename"],
    }


PLAY = """
- hosts: localhost
  connection: local
  gather_facts: false
  vars:
    containerd_companion_files: "{{ kubernetes_packages_files }}"
    containerd_companion_packages: "{{ kubernetes_packages_list }}"
  pre_tasks:
    - ansible.builtin.set_fact:
        cacheable: true
        distribution: "{{ system.distribution }}"
        distribution_release: "{{ system.distribution_release }}"
  roles:
    - podnet.kubeadm.containerd
    - podnet.kubeadm.kubernetes_packages
  tasks:
    - ansible.builtin.copy:
        content: >-
          {{
            {'files': __containerd_written.diff, 'packages': __containerd_packages + kubernetes_packages_list} | to_json
          }}
        dest: "{{ answer }}"
        mode: "0600"
      check_mode: false
      diff: false
"""


def rendered(tmp_path: pathlib.Path, system: str, **variables: Any) -> tuple[dict[str, str], dict[str, str]]:
    """The content of each file, and the version of each package, that would come to be on ``system``."""
    play, answer = tmp_path / "play.yml", tmp_path / "answer.json"
    play.write_text(PLAY)
    given = {
        "system": facts(system),
        "answer": str(answer),
        "containerd_repository_key": "KEY OF DOCKER",
        "kubernetes_packages_repository_key": "KEY OF KUBERNETES",
        "kubernetes_packages_installed_by": "containerd",
        **variables,
    }
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".ansible" / "collections"),
        "ANSIBLE_HOME": str(tmp_path),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_NOCOLOR": "true",
    }
    command = [str(pathlib.Path(sys.executable).parent / "ansible-playbook"), "--check", "--diff", str(play)]
    run = subprocess.run(
        [*command, "-i", "localhost,", "-e", json.dumps(given), "-e", f"ansible_python_interpreter={sys.executable}"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    result = json.loads(answer.read_text())
    files = {one["after_header"]: one["after"] for one in result["files"]}
    return files, {one["name"]: one.get("version", "") for one in result["packages"]}


class Recorded:
    """Stands for a host of which only /etc/os-release is known."""

    def __init__(self, system: str) -> None:
        self.path = RECORDED / system

    def exists(self, path: str) -> bool:
        return path == "/etc/os-release"

    def read(self, path: str) -> str:
        assert self.exists(path)
        return self.path.read_text()


@pytest.mark.parametrize("system", SYSTEMS)
def test_site_chooses_by_evidence_what_a_role_alone_chooses_by_facts(system: str) -> None:
    release, seen = os_release(Recorded(system)), facts(system)  # type: ignore[arg-type]
    assert release["ID"] == seen["distribution"].lower()
    assert release["VERSION_CODENAME"] == seen["distribution_release"]
    assert release["ID"] + release["VERSION_ID"].replace(".", "") == system


@pytest.mark.parametrize("system", SYSTEMS)
def test_containerd_2_from_docker(tmp_path: pathlib.Path, system: str) -> None:
    files, packages = rendered(
        tmp_path,
        system,
        containerd_registry_mirrors=[
            {"registry": "registry.k8s.io", "fallback": False, "endpoints": [{"url": "http://192.0.2.1:5000"}]},
            {"registry": "ghcr.io", "endpoints": [{"url": "https://m.example", "authorization": "Basic c2VjcmV0Cg=="}]},
        ],
        containerd_https_proxy="http://proxy.example:3128",
    )
    seen = facts(system)
    source = files["/etc/apt/sources.list.d/docker.sources"].splitlines()
    assert f"URIs: https://download.docker.com/linux/{seen['distribution'].lower()}" in source
    assert f"Suites: {seen['distribution_release']}" in source and "Components: stable" in source
    assert "Signed-By: /etc/apt/keyrings/docker.asc" in source
    assert files["/etc/apt/keyrings/docker.asc"] == "KEY OF DOCKER\n"
    config = files["/etc/containerd/config.toml"]
    assert "version = 3\n" in config and 'sandbox = "registry.k8s.io/pause:3.10.2"' in config
    assert "SystemdCgroup = true" in config and 'bin_dirs = ["/opt/cni/bin"]' in config
    mirror = files["/etc/containerd/certs.d/registry.k8s.io/hosts.toml"]
    assert 'server = "http://192.0.2.1:5000"' in mirror and 'capabilities = ["pull", "resolve"]' in mirror
    assert "c2VjcmV0" not in str(files) and "/etc/containerd/certs.d/ghcr.io/hosts.toml" in files
    proxy = files["/etc/systemd/system/containerd.service.d/podnet-proxy.conf"]
    assert 'HTTPS_PROXY=http://proxy.example:3128"' in proxy
    assert all(one in proxy for one in ("10.244.0.0/16", "10.96.0.0/12", ".cluster.local"))
    assert packages["containerd.io"] == "2" and packages["kubelet"] == "1.37.2"
    kubernetes = files["/etc/apt/sources.list.d/kubernetes.sources"].splitlines()
    assert "URIs: https://pkgs.k8s.io/core:/stable:/v1.37/deb/" in kubernetes and "Suites: /" in kubernetes
    assert files["/etc/apt/keyrings/kubernetes.asc"] == "KEY OF KUBERNETES\n"
    assert "Pin: version 1.37.2[.-]*" in files["/etc/apt/preferences.d/podnet-kubernetes"]


@pytest.mark.parametrize("system", ["debian13", "ubuntu2204"])
def test_the_distributions_containerd(tmp_path: pathlib.Path, system: str) -> None:
    files, packages = rendered(tmp_path, system, containerd_source="distribution")
    assert not [path for path in files if "docker" in path or "podnet-containerd" in path]
    config = files["/etc/containerd/config.toml"]
    assert "version = 2\n" in config and 'sandbox_image = "registry.k8s.io/pause:3.10.2"' in config
    assert 'bin_dir = "/opt/cni/bin"' in config
    assert "containerd" in packages and "containerd.io" not in packages


def test_a_flat_mirror_has_no_components_and_1_35_another_pause_image(tmp_path: pathlib.Path) -> None:
    files, _packages = rendered(
        tmp_path,
        "debian12",
        containerd_repository_url="http://192.0.2.1/docker/",
        containerd_repository_suite="/",
        cluster_kubernetes_version="1.35.9",
    )
    source = files["/etc/apt/sources.list.d/docker.sources"]
    assert "Suites: /\nSigned-By" in source and "Components" not in source
    assert "registry.k8s.io/pause:3.10.1" in files["/etc/containerd/config.toml"]
