# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_sysctl
from ansible_collections.podnet.kubeadm.plugins.module_utils._hosts_sysctl import Values


def write(root: pathlib.Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("vm.overcommit_memory", "vm/overcommit_memory"),
        ("net.ipv4.conf.all.rp_filter", "net/ipv4/conf/all/rp_filter"),
        ("net/ipv4/conf/eth0.1/rp_filter", "net/ipv4/conf/eth0.1/rp_filter"),
        ("net.ipv4.conf.eth0/1.rp_filter", "net/ipv4/conf/eth0.1/rp_filter"),
        ("net/core", "net/core"),
    ],
)
def test_a_key_names_a_path_in_both_ways_of_writing(key: str, path: str) -> None:
    assert _hosts_sysctl.path_of(key) == path


@pytest.mark.parametrize(("value", "text"), [(1, "1"), ("4096\t16384  4194304\n", "4096 16384 4194304"), ("", "")])
def test_values_compare_by_their_words(value: object, text: str) -> None:
    assert _hosts_sysctl.normal(value) == text


@pytest.mark.parametrize(
    ("current", "ours", "said"),
    [
        ("128", None, "512"),
        (None, None, "512"),
        (None, "8192", "512"),
        ("511", "511", "512"),
        ("512", None, None),
        ("8192", None, None),  # the host has it by itself
        ("512", "512", "512"),
        ("8192", "600", "600"),  # once raised, stays raised
        ("8192", "100", "512"),
    ],
)
def test_what_the_file_must_say_of_a_minimum_of_512(current: str | None, ours: str | None, said: str | None) -> None:
    assert _hosts_sysctl.boot_value_of_minimum(512, current, ours) == said


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("net.ipv4.ip_forward=1\n", {"net.ipv4.ip_forward": "1"}),
        ("  a.b =  1\t2 \n", {"a.b": "1 2"}),
        ("-a.b = 1\n", {"a.b": "1"}),  # errors of it are ignored, the value is set all the same
        ("# a.b = 1\n; a.c = 1\n\n", {}),
        ("a.b\n-a.c\n", {}),
        ("a.b = x=y\n", {"a.b": "x=y"}),
        ("a.b = 1\na.b = 2\n", {"a.b": "2"}),
        ("a.b =\n", {"a.b": ""}),
    ],
)
def test_a_file_is_read(text: str, values: dict[str, str]) -> None:
    assert _hosts_sysctl.parse(text) == values


def test_what_is_written_is_sorted_and_read_back() -> None:
    values = {"vm.x": "1", "net.ipv4.y": "4096 16384"}
    assert _hosts_sysctl.render(values) == "net.ipv4.y = 4096 16384\nvm.x = 1\n"
    assert _hosts_sysctl.parse(_hosts_sysctl.render(values)) == values


def test_the_running_value(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n")
    values = Values(str(tmp_path))
    assert values.read("net.ipv4.tcp_rmem") == "4096 131072 6291456"
    assert values.read("net.ipv4.nosuch") is None
    values.write("net.ipv4.tcp_rmem", "1 2 3")
    assert (tmp_path / "proc/sys/net/ipv4/tcp_rmem").read_text() == "1 2 3\n"
    with pytest.raises(OSError, match="nosuch"):
        values.write("net.nosuch.key", "1")


def test_at_boot_files_are_read_by_name_and_the_first_folder_hides_a_name(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "usr/lib/sysctl.d/50-default.conf", "a.first = 1\na.both = usr\n")
    write(tmp_path, "etc/sysctl.d/10-early.conf", "a.both = early\na/only = 1\n")
    write(tmp_path, "etc/sysctl.d/90-hidden.conf", "a.hides = etc\n")
    write(tmp_path, "usr/lib/sysctl.d/90-hidden.conf", "a.hides = usr\na.lost = 1\n")
    write(tmp_path, "etc/sysctl.d/99.conf.bak", "a.both = bak\n")
    write(tmp_path, "usr/lib/sysctl.d/masked.conf", "a.masked = 1\n")
    os.symlink("/dev/null", tmp_path / "etc/sysctl.d/masked.conf")
    os.symlink("gone", tmp_path / "etc/sysctl.d/dangling.conf")
    assert Values(str(tmp_path)).at_boot() == {
        "a/first": ("1", "/usr/lib/sysctl.d/50-default.conf"),
        "a/both": ("usr", "/usr/lib/sysctl.d/50-default.conf"),
        "a/only": ("1", "/etc/sysctl.d/10-early.conf"),
        "a/hides": ("etc", "/etc/sysctl.d/90-hidden.conf"),
    }


def test_a_host_without_files_sets_nothing(tmp_path: pathlib.Path) -> None:
    assert Values(str(tmp_path)).at_boot() == {}
