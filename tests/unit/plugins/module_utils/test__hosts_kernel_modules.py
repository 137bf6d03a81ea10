# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._hosts_kernel_modules import Modules, missing_sentence

RELEASE = os.uname().release


class Host:
    """A root folder, and commands that end with 0 where their first words are known."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.good: list[str] = []
        self.ran: list[str] = []
        self.said = (1, "", "")
        self.file("proc/filesystems", "nodev\tproc\nnodev\toverlay\n\text4\n")

    def file(self, name: str, text: str = "") -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, command: list[str]) -> tuple[int, str, str]:
        self.ran.append(" ".join(command))
        return (0, "", "") if any(self.ran[-1].startswith(one) for one in self.good) else self.said

    def modules(self) -> Modules:
        return Modules(self.run, str(self.root))


@pytest.fixture
def host(tmp_path: pathlib.Path) -> Host:
    return Host(tmp_path)


@pytest.mark.parametrize(
    ("name", "file", "there"),
    [
        ("br_netfilter", "proc/sys/net/bridge/bridge-nf-call-iptables", True),
        ("br-netfilter", "proc/sys/net/bridge/bridge-nf-call-iptables", True),
        ("br_netfilter", "sys/module/br_netfilter/x", False),  # the switches are what is needed of it
        ("nf_conntrack", "proc/sys/net/netfilter/nf_conntrack_max", True),
        ("ip_tables", "proc/net/ip_tables_names", True),
        ("ip_tables", "proc/net/ip6_tables_names", False),
        ("ip_vs", "proc/net/ip_vs", True),
        ("overlay", "x", True),
        ("fuse", "sys/module/fuse/x", False),
        ("vxlan", "sys/module/vxlan/x", True),
        ("xt_comment", "sys/module/xt_comment/x", True),
        ("xt_comment", "x", False),
    ],
)
@pytest.mark.parametrize("loadable", [True, False])
def test_a_feature_is_there_by_what_it_shows(host: Host, name: str, file: str, there: bool, loadable: bool) -> None:
    host.file(file)
    if loadable:
        host.file("proc/modules")
    assert host.modules().present(name) is there
    assert not host.ran


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("vxlan", "unshare --net ip link add podnet0 type vxlan id 1 dstport 4789"),
        ("wireguard", "unshare --net ip link add podnet0 type wireguard"),
        ("nf_tables", "nft list tables"),
    ],
)
def test_what_shows_nothing_is_tried_on_a_kernel_that_loads_nothing(host: Host, name: str, command: str) -> None:
    assert not host.modules().present(name)
    host.good = [command]
    assert host.modules().present(name) and host.modules().built_in(name)
    assert host.ran == [command] * 3
    host.file("proc/modules")
    assert not host.modules().present(name) and host.ran == [command] * 3


@pytest.mark.parametrize(
    ("line", "name", "there"),
    [
        ("kernel/net/bridge/br-netfilter.ko", "br_netfilter", True),
        ("kernel/net/bridge/br-netfilter.ko", "br-netfilter", True),
        ("kernel/drivers/net/vxlan/vxlan.ko.zst", "vxlan", True),
        ("kernel/drivers/net/vxlan/vxlan.ko", "vxla", False),
    ],
)
def test_built_in_is_what_the_index_of_the_running_kernel_names(host: Host, line: str, name: str, there: bool) -> None:
    host.file("proc/modules")
    assert not host.modules().built_in(name), "without an index nothing is known to be"
    host.file(f"lib/modules/{RELEASE}/modules.builtin", f"kernel/fs/x.ko\n{line}\n")
    assert host.modules().built_in(name) is there


def test_what_is_built_in_without_a_sign_of_its_own_is_there(host: Host) -> None:
    host.file("proc/modules")
    host.file(f"lib/modules/{RELEASE}/modules.builtin", "kernel/net/netfilter/xt_comment.ko\n")
    assert host.modules().present("xt_comment") and not host.modules().present("xt_mark")


def test_loadable_is_what_modprobe_would_find(host: Host) -> None:
    host.good = ["modprobe --dry-run --quiet vxlan"]
    assert not host.modules().loadable("vxlan") and not host.ran, "a kernel without modules loads none"
    host.file("proc/modules")
    assert host.modules().loadable("vxlan") and not host.modules().loadable("nosuch")
    assert all("--dry-run" in one for one in host.ran)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ((0, "x", "y"), ""),
        ((1, "out\n", " modprobe: FATAL: Module x not found\n"), "modprobe: FATAL: Module x not found"),
        ((1, "out\n", ""), "out"),
        ((3, "", ""), "modprobe ended with 3"),
    ],
)
def test_loading_answers_what_modprobe_said(host: Host, said: tuple[int, str, str], answer: str) -> None:
    host.said = said
    assert host.modules().load("vxlan") == answer and host.ran == ["modprobe vxlan"]


def test_the_sentence_tells_a_kernel_without_modules_from_one_that_lacks_a_file(host: Host) -> None:
    said = missing_sentence("vxlan", host.modules())
    assert "vxlan" in said and "cannot load modules" in said and RELEASE in said
    host.file("proc/modules")
    said = missing_sentence("vxlan", host.modules())
    assert "vxlan" in said and "modprobe does not find it" in said and RELEASE in said
