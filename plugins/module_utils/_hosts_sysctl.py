# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""Kernel values: as they are now, and as they will be after a boot (sysctl.d(5))."""

from __future__ import annotations

import pathlib

# Folders of sysctl.d(5), first wins for files of one name; then all files are read in the order of their names.
FOLDERS = ("etc/sysctl.d", "run/sysctl.d", "usr/local/lib/sysctl.d", "usr/lib/sysctl.d", "lib/sysctl.d")


def path_of(key: str) -> str:
    """Path below ``/proc/sys``. With a slash first, as in ``net/ipv4/conf/eth0.1/rp_filter``, dots stay dots."""
    slash, dot = key.find("/"), key.find(".")
    return (
        key
        if slash != -1 and (dot == -1 or slash < dot)
        else key.replace("/", "\0").replace(".", "/").replace("\0", ".")
    )


def normal(value: object) -> str:
    """Values compare by their words, as the kernel separates several with tabs."""
    return " ".join(str(value).split())


def boot_value_of_minimum(least: int, current: str | None, ours: str | None) -> str | None:
    """What our file must say of a value that must not be below ``least``, or None: nothing.

    A host that has more by itself keeps it, and what we once had to raise stays raised.
    """
    if current is None or int(current) < least:
        return str(least)
    return None if ours is None else str(max(int(ours), least))


class Values:
    """The kernel values of one host. ``root`` is ``/``, but for tests."""

    def __init__(self, root: str = "/") -> None:
        self._root = pathlib.Path(root)

    def read(self, key: str) -> str | None:
        """The running value, or None where this kernel has no such key (now)."""
        try:
            return normal((self._root / "proc/sys" / path_of(key)).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def write(self, key: str, value: str) -> None:
        """Sets the running value.

        :raises OSError: where the kernel or a container does not allow it.
        """
        (self._root / "proc/sys" / path_of(key)).write_text(f"{value}\n", encoding="utf-8")

    def at_boot(self) -> dict[str, tuple[str, str]]:
        """What the files set, by path below /proc/sys: (value, file). The last file wins."""
        values: dict[str, tuple[str, str]] = {}
        for file in self._files():
            for key, value in parse(file.read_text(encoding="utf-8", errors="replace")).items():
                values[path_of(key)] = (value, "/" + str(file.relative_to(self._root)))
        return values

    def _files(self) -> list[pathlib.Path]:
        files: dict[str, pathlib.Path] = {}
        for folder in FOLDERS:
            for file in sorted((self._root / folder).glob("*.conf")):
                files.setdefault(file.name, file)
        # A link to /dev/null is how an administrator masks a file of the distribution.
        return [files[name] for name in sorted(files) if files[name].is_file()]


def parse(text: str) -> dict[str, str]:
    """Keys and values of one file; comments and lines without ``=`` are left out."""
    values = {}
    for line in text.splitlines():
        line = line.strip()
        if line and line[0] not in "#;" and "=" in line:
            key, _equals, value = line.partition("=")
            values[key.strip().lstrip("-")] = normal(value)
    return values


def render(values: dict[str, str]) -> str:
    """The file that sets ``values`` at boot, sorted."""
    return "".join(f"{key} = {value}\n" for key, value in sorted(values.items()))
