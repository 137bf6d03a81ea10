# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from recorded import Recorded

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import identity
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing


def test_a_recorded_host_is_who_it_was(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    assert identity.hostname(source) == "n2"
    assert identity.machine_id(source) == "5a1d602b442e43e394dbd6370f91cf37"
    assert identity.kernel(source) == "6.18.44-fc-v669"
    assert identity.memory_mib(source) == 24684084 // 1024
    assert identity.virtualization(source) == "podman"
    assert len(identity.boot_id(source)) == 36
    assert identity.os_release(source)["PRETTY_NAME"] == "Debian GNU/Linux 13 (trixie)"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ID=debian", {"ID": "debian"}),
        ('NAME="a b"', {"NAME": "a b"}),
        ("NAME='a b'", {"NAME": "a b"}),
        (r'NAME="a \"b\""', {"NAME": 'a "b"'}),
        ('  VERSION_ID=""  ', {"VERSION_ID": ""}),
        ('NAME="no end', {"NAME": '"no end'}),
        ("# ID=other", {}),
        ("id=other", {}),
        ("", {}),
    ],
)
def test_assignments_of_os_release(tmp_path: Path, line: str, found: dict[str, str]) -> None:
    source = Recorded(tmp_path)
    source.write("/etc/os-release", line + "\n")
    assert identity.os_release(source) == found


def test_the_distributions_own_file_counts_where_etc_has_none(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.write("/usr/lib/os-release", "ID=shipped\n")
    assert identity.os_release(source)["ID"] == "debian"
    source.remove("/etc/os-release")
    assert identity.os_release(source) == {"ID": "shipped"}
    source.remove("/usr/lib/os-release")
    with pytest.raises(Missing, match="os-release"):
        identity.os_release(source)


def test_a_host_without_a_machine_id_has_an_empty_one_and_without_dmi_no_uuid(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.remove("/etc/machine-id")
    assert identity.machine_id(source) == ""
    with pytest.raises(Missing, match="product_uuid: No such file"):
        identity.product_uuid(source)
    source.write("/sys/class/dmi/id/product_uuid", "EC2A-0F\n")
    assert identity.product_uuid(source) == "ec2a-0f"


def test_memory_without_its_line_is_missing(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.write("/proc/meminfo", "MemFree: 1 kB\nXMemTotal: 2048 kB\n")
    with pytest.raises(Missing, match="no MemTotal"):
        identity.memory_mib(source)
    source.write("/proc/meminfo", "MemTotal:     2047 kB\n")
    assert identity.memory_mib(source) == 1


@pytest.mark.parametrize(("rc", "stdout", "found"), [(1, "none\n", "none"), (0, "kvm\n", "kvm")])
def test_bare_metal_is_told_although_the_command_fails(tmp_path: Path, rc: int, stdout: str, found: str) -> None:
    source = Recorded(tmp_path)
    source.say("systemd-detect-virt", stdout, rc)
    assert identity.virtualization(source) == found


def test_a_command_that_says_nothing_of_the_machine_is_missing(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    source.say("systemd-detect-virt", "\n", 1)
    with pytest.raises(Missing, match="said nothing"):
        identity.virtualization(source)


def test_what_is_asked_of_the_running_machine(tmp_path: Path) -> None:
    source = Recorded(tmp_path)
    assert identity.architecture(source) == os.uname().machine and identity.cpus(source) == os.cpu_count()
    assert abs(identity.clock(source) - time.time()) < 60
