# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.modules import kernel_settings
from ansible_collections.podnet.kubeadm.plugins.modules.kernel_settings import Settings, SettingsError

OURS = "etc/sysctl.d/99-zz-podnet-kubeadm.conf"
# The layout of /proc/swaps with a partition and a file.
SWAPS = """Filename				Type		Size		Used		Priority
/dev/vda5                               partition	998396		0		-2
/swapfile                               file		1048572		0		-3
"""
FSTAB = """# /etc/fstab: static file system information.
UUID=0a1b / ext4 errors=remount-ro 0 1
UUID=2c3d none swap sw 0 0
/swapfile none	swap	sw	0	0
#/dev/sdb1 none swap sw 0 0
"""
# The layout in which systemd 252 answers `systemctl list-units --type=swap --all --plain --no-legend` and
# `systemctl show`, for the two of fstab and one of zram-generator.
LISTED = """dev-vda5.swap loaded active active /dev/vda5
dev-zram0.swap loaded active active Compressed Swap on /dev/zram0
swapfile.swap loaded active active /swapfile
"""
SHOWN = """Id=dev-vda5.swap
LoadState=loaded
FragmentPath=/run/systemd/generator/dev-vda5.swap
SourcePath=/etc/fstab

Id=dev-zram0.swap
LoadState=loaded
FragmentPath=/run/systemd/generator/dev-zram0.swap
SourcePath=/etc/systemd/zram-generator.conf

Id=swapfile.swap
LoadState=loaded
FragmentPath=/run/systemd/generator/swapfile.swap
SourcePath=/etc/fstab
"""


class Host:
    """A root folder and the commands that would run on it."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.commands: list[list[str]] = []
        self.loadable: dict[str, dict[str, str]] = {}  # module -> files that appear when it is loaded
        self.units = ""
        self.file("proc/filesystems", "nodev\tproc\n\text4\n")
        self.file("proc/sys/net/ipv4/ip_forward", "0\n")
        self.file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n")
        (root / "etc").mkdir()

    def file(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def run_command(self, command: list[str]) -> tuple[int, str, str]:
        self.commands.append(command)
        if command[:1] == ["modprobe"]:
            name = command[-1]
            if name not in self.loadable:
                return 1, "", f"modprobe: FATAL: Module {name} not found in directory /lib/modules/x"
            if "--dry-run" not in command:
                for file, text in self.loadable[name].items():
                    self.file(file, text)
            return 0, "", ""
        if command[:2] == ["systemctl", "list-units"]:
            return 0, self.units, ""
        if command[:2] == ["systemctl", "show"]:
            return 0, SHOWN, ""
        if command[:1] == ["unshare"]:
            return (0 if "vxlan" in command else 2), "", "Error: Unknown device type."
        return 0, "", ""

    def settings(self, **params: Any) -> Settings:
        wanted = {"modules": [], "sysctls": {}, "sysctl_minimums": {}, "swap": "keep", **params}
        return Settings(wanted, self.run_command, str(self.root))


@pytest.fixture
def host(tmp_path: pathlib.Path) -> Host:
    return Host(tmp_path)


def apply(host: Host, **params: Any) -> dict[str, Any]:
    """Check mode, then the run: both say the same, and afterwards nothing is left to do."""
    predicted = host.settings(**params).result()
    settings = host.settings(**params)
    settings.apply(None)
    assert settings.result() == predicted
    assert not host.settings(**params).result()["changed"]
    return predicted


def test_a_value_is_set_now_and_at_boot(host: Host) -> None:
    result = apply(host, sysctls={"net.ipv4.ip_forward": 1})
    assert result["sysctls"] == {"net.ipv4.ip_forward": {"before": "0", "after": "1"}}
    assert host.read("proc/sys/net/ipv4/ip_forward") == "1\n"
    assert host.read(OURS).splitlines()[1:] == ["net.ipv4.ip_forward = 1"]
    assert "net.ipv4.ip_forward = 0\n" in result["diff"][-1]["before"]


def test_a_value_that_is_right_now_but_not_at_boot_is_written(host: Host) -> None:
    host.file("proc/sys/net/ipv4/ip_forward", "1\n")
    result = apply(host, sysctls={"net.ipv4.ip_forward": 1})
    assert result["sysctls"] == {} and result["paths"] == [str(host.root / OURS)]


def test_check_mode_writes_nothing(host: Host) -> None:
    host.loadable["br_netfilter"] = {}
    host.settings(sysctls={"net.ipv4.ip_forward": 1}).result()
    assert host.read("proc/sys/net/ipv4/ip_forward") == "0\n" and not (host.root / OURS).exists()


def test_a_module_brings_its_value(host: Host) -> None:
    key = "net.bridge.bridge-nf-call-iptables"
    host.file("proc/modules", "")
    host.loadable["br_netfilter"] = {"proc/sys/net/bridge/bridge-nf-call-iptables": "1\n"}
    settings = host.settings(modules=["br_netfilter"], sysctls={key: 1})
    assert settings.result()["loaded"] == ["br_netfilter"]
    assert settings.result()["sysctls"] == {key: {"before": None, "after": "1"}}
    settings.apply(None)
    assert ["modprobe", "br_netfilter"] in host.commands
    assert host.read("etc/modules-load.d/podnet-kubeadm.conf").splitlines()[1:] == ["br_netfilter"]
    assert not host.settings(modules=["br_netfilter"], sysctls={key: 1}).changed()


def test_a_built_in_module_is_not_loaded_at_boot(host: Host) -> None:
    host.file("proc/modules", "")
    host.file(f"lib/modules/{os.uname().release}/modules.builtin", "kernel/net/bridge/br-netfilter.ko\n")
    host.file("proc/sys/net/bridge/bridge-nf-call-iptables", "1\n")
    assert not host.settings(modules=["br_netfilter"]).changed()


def test_a_kernel_without_module_support_is_asked_for_the_feature(host: Host) -> None:
    host.file("proc/filesystems", "nodev\toverlay\n")
    host.file("proc/sys/net/bridge/bridge-nf-call-iptables", "1\n")
    assert not host.settings(modules=["overlay", "br_netfilter", "vxlan"]).changed()
    assert not any(command[0] == "modprobe" for command in host.commands)
    with pytest.raises(SettingsError, match="wireguard.*cannot load modules"):
        host.settings(modules=["wireguard"])


def test_all_that_is_missing_is_named_at_once(host: Host) -> None:
    host.file("proc/modules", "")
    with pytest.raises(SettingsError) as error:
        host.settings(modules=["nosuch", "neither"], sysctls={"net.ipv4.misspelt": 1})
    for name in ("nosuch", "neither"):
        assert name in str(error.value)
    with pytest.raises(SettingsError, match=r"net.ipv4.misspelt: this kernel has no such value"):
        host.settings(sysctls={"net.ipv4.misspelt": 1})


def test_a_file_read_later_that_undoes_a_value_is_refused(host: Host) -> None:
    host.file("etc/sysctl.d/zzz.conf", "# ours\nnet/ipv4/ip_forward=0\n")
    with pytest.raises(SettingsError, match=r"/etc/sysctl.d/zzz.conf sets it to 0 at boot"):
        host.settings(sysctls={"net.ipv4.ip_forward": 1})
    host.file("etc/sysctl.d/zzz.conf", "net.ipv4.ip_forward=1\n")
    apply(host, sysctls={"net.ipv4.ip_forward": 1})


def test_a_file_read_earlier_does_not_matter_nor_does_a_masked_one(host: Host) -> None:
    host.file("etc/sysctl.d/99-sysctl.conf", "net.ipv4.ip_forward=0\n")
    host.file("usr/lib/sysctl.d/zzz.conf", "net.ipv4.ip_forward=0\n")
    (host.root / "etc/sysctl.d/zzz.conf").symlink_to("/dev/null")
    apply(host, sysctls={"net.ipv4.ip_forward": 1})


def test_a_minimum_raises_and_leaves_what_is_higher(host: Host) -> None:
    host.file("proc/sys/fs/inotify/max_user_instances", "128\n")
    host.file("proc/sys/fs/inotify/max_user_watches", "192536\n")
    minimums = {"fs.inotify.max_user_instances": 512, "fs.inotify.max_user_watches": 65536}
    result = apply(host, sysctl_minimums=minimums)
    assert list(result["sysctls"]) == ["fs.inotify.max_user_instances"]
    assert host.read("proc/sys/fs/inotify/max_user_watches") == "192536\n"
    assert "max_user_watches" not in host.read(OURS)
    host.file("proc/sys/fs/inotify/max_user_instances", "8192\n")
    assert not host.settings(sysctl_minimums=minimums).changed()
    with pytest.raises(SettingsError, match="whole numbers"):
        host.settings(sysctl_minimums={"fs.inotify.max_user_instances": "many"})


def test_an_unwritable_value_is_a_sentence(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(self: Any, key: str, value: str) -> None:
        raise PermissionError(13, "Permission denied")

    settings = host.settings(sysctls={"net.ipv4.ip_forward": 1})
    monkeypatch.setattr(kernel_settings._hosts_sysctl.Values, "write", denied)
    with pytest.raises(SettingsError, match="could not be set to 1: Permission denied.*container"):
        settings.apply(None)


def test_swap_is_switched_off_for_good(host: Host) -> None:
    host.file("proc/swaps", SWAPS)
    host.file("etc/fstab", FSTAB)
    host.units = LISTED
    assert not host.settings(swap="keep").changed()
    settings = host.settings(swap="off")
    result = settings.result()
    assert result["swap_off"] == ["/dev/vda5", "/swapfile"] and result["masked_units"] == ["dev-zram0.swap"]
    settings.apply(None)
    assert ["swapoff", "/dev/vda5"] in host.commands and ["swapoff", "/swapfile"] in host.commands
    assert ["systemctl", "mask", "--now", "--", "dev-zram0.swap"] in host.commands
    lines = host.read("etc/fstab").splitlines()
    assert lines[1] == FSTAB.splitlines()[1] and lines[4] == FSTAB.splitlines()[4]
    assert all(line.startswith("# swap is off") for line in lines[2:4])
    host.file("proc/swaps", SWAPS.splitlines()[0] + "\n")
    host.units = ""
    assert not host.settings(swap="off").changed()


def test_swap_off_as_yaml_reads_it(run_module: Any) -> None:
    result = run_module(kernel_settings, {"swap": False}, check=True)
    assert "failed" not in result, "off without quotes is the boolean false"
