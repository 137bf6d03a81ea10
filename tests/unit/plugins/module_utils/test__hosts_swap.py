# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_swap

HEADER = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("", []),
        ("/dev/vda5                               partition\t998396\t\t0\t\t-2\n", ["/dev/vda5"]),
        ("/dev/zram0 partition 1 0 100\n\n/swapfile file 1 0 -3\n", ["/dev/zram0", "/swapfile"]),
        # The kernel writes blanks and backslashes of a name as octal numbers (seq_file_path).
        ("/srv/swap\\040file\\134x file 1 0 -3\n", ["/srv/swap file\\x"]),
    ],
)
def test_what_is_swap_now(lines: str, found: list[str]) -> None:
    assert _hosts_swap.active(HEADER + lines) == found


def test_a_kernel_without_swap_has_an_empty_file() -> None:
    assert _hosts_swap.active("") == []


@pytest.mark.parametrize(
    ("line", "is_swap"),
    [
        ("UUID=2c3d none swap sw 0 0", True),
        ("/swapfile\tnone\tswap\tsw", True),
        ("/dev/vda5 swap swap", True),
        ("  /dev/vda5 none swap noauto 0 0", True),
        ("#/dev/sdb1 none swap sw 0 0", False),
        ("# /dev/sdb1 none swap sw 0 0", False),
        ("/dev/swap /mnt ext4 defaults 0 0", False),
        ("swap swap", False),
        ("", False),
    ],
)
def test_lines_of_fstab_that_are_swap_become_comments(line: str, is_swap: bool) -> None:
    around = "UUID=0a1b / ext4 defaults 0 1\n"
    expected = (_hosts_swap.MARK if is_swap else "") + line
    assert _hosts_swap.without_swap(f"{around}{line}\n{around}") == f"{around}{expected}\n{around}"
    assert _hosts_swap.without_swap(line) == expected, "a last line without its end stays so"
    assert _hosts_swap.without_swap(expected) == expected, "a second time changes nothing"


def unit(name: str, **values: str) -> str:
    """A block of `systemctl show`, in the layout of systemd 252."""
    said = {"Id": name, "LoadState": "loaded", "FragmentPath": f"/run/systemd/generator/{name}", **values}
    return "".join(f"{key}={value}\n" for key, value in said.items())


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        ([unit("a.swap", SourcePath="/etc/fstab")], []),
        ([unit("a.swap", SourcePath="")], ["a.swap"]),
        (
            [unit("b.swap", SourcePath="/etc/systemd/zram-generator.conf"), unit("a.swap", SourcePath="")],
            ["a.swap", "b.swap"],
        ),
        ([unit("a.swap", SourcePath="", LoadState="masked")], []),
        ([unit("a.swap", SourcePath="", LoadState="not-found")], []),
        ([unit("a.swap", SourcePath="", FragmentPath="")], []),  # the shadow of an active device
    ],
)
def test_units_that_do_not_come_from_fstab(blocks: list[str], found: list[str]) -> None:
    commands: list[list[str]] = []

    def run(command: list[str]) -> tuple[int, str, str]:
        commands.append(command)
        if command[1] == "list-units":
            return 0, "a.swap loaded active active /dev/a\nb.swap loaded inactive dead /dev/b\n", ""
        return 0, "\n".join(blocks), ""

    assert _hosts_swap.foreign_units(run) == found
    assert commands[1][-3:] == ["--", "a.swap", "b.swap"]


@pytest.mark.parametrize("answer", [(0, "", ""), (0, "\n", ""), (1, "a.swap x\n", "not booted with systemd")])
def test_no_units_are_asked_about_where_none_are_listed(answer: tuple[int, str, str]) -> None:
    commands: list[Any] = []

    def run(command: list[str]) -> tuple[int, str, str]:
        commands.append(command)
        return answer

    assert _hosts_swap.foreign_units(run) == []
    assert len(commands) == 1


def test_a_host_without_systemd_has_no_units() -> None:
    def run(command: list[str]) -> tuple[int, str, str]:
        raise FileNotFoundError(command[0])

    assert _hosts_swap.foreign_units(run) == []


def test_units_that_systemd_does_not_show_are_none() -> None:
    answers = [(0, "a.swap loaded active active /dev/a\n", ""), (1, unit("a.swap"), "gone")]
    assert _hosts_swap.foreign_units(lambda command: answers.pop(0)) == []
