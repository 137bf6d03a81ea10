# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""Swap: what is active, and what would bring it back at the next boot."""

from __future__ import annotations

import re
from typing import Callable

RunCommand = Callable[..., "tuple[int, str, str]"]

MARK = "# swap is off for kubelet: "


def active(proc_swaps: str) -> list[str]:
    """Devices and files that are swap now, from the text of ``/proc/swaps``."""
    names = [line.split()[0] for line in proc_swaps.splitlines()[1:] if line.strip()]
    # The kernel writes blanks and backslashes of a name as octal numbers.
    return [re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), name) for name in names]


def without_swap(fstab: str) -> str:
    """``/etc/fstab`` with its active swap lines turned into comments; everything else stays as it is."""
    lines = []
    for line in fstab.splitlines(keepends=True):
        fields = line.split()
        is_swap = len(fields) >= 3 and not fields[0].startswith("#") and fields[2] == "swap"
        lines.append(MARK + line if is_swap else line)
    return "".join(lines)


def foreign_units(run_command: RunCommand) -> list[str]:
    """Unmasked systemd swap units that come from elsewhere than ``/etc/fstab``: unit files, GPT partitions, zram."""
    try:
        code, out, _err = run_command(
            ["systemctl", "list-units", "--type=swap", "--all", "--plain", "--no-legend", "--no-pager"]
        )
    except OSError:
        return []
    names = [line.split()[0] for line in out.splitlines() if line.strip()] if code == 0 else []
    if not names:
        return []
    code, out, _err = run_command(
        ["systemctl", "show", "--property=Id,LoadState,SourcePath,FragmentPath", "--", *names]
    )
    units = set()
    for block in out.strip().split("\n\n") if code == 0 else []:
        values = dict(line.partition("=")[::2] for line in block.splitlines())
        # A unit without a file is only the shadow of an active swap device.
        if (
            values.get("LoadState") == "loaded"
            and values.get("FragmentPath")
            and values.get("SourcePath") != "/etc/fstab"
        ):
            units.add(values["Id"])
    return sorted(units)
