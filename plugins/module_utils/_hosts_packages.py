# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""Debian packages: what is installed and held, and one transaction that brings the rest.

``apt-get`` is asked only when something is to be done: what is installed is read from dpkg in some milliseconds.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Iterable
from typing import Callable

RunCommand = Callable[..., "tuple[int, str, str]"]

ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
    "NEEDRESTART_MODE": "l",  # needrestart would restart containerd and kubelet by itself
    "APT_LISTCHANGES_FRONTEND": "none",
}
# apt's own limit is two minutes for each of several tries.
PATIENCE = ["-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20", "-o", "Acquire::Retries=1"]
LISTS_LOCK_POLL = 2  # seconds; apt has an option to wait for dpkg's lock, and none for that of its lists

# What apt says, and what a person is told. The first match counts.
CAUSES = (
    (
        r"(NO_PUBKEY|not signed|EXPKEYSIG|BADSIG|OpenPGP signature verification failed|invalid signature)",
        "the repository's signature is not made by the key that was given for it. Check the repository's address and "
        "the key's fingerprint; if the repository was signed anew, give the new key",
    ),
    (
        r"(Hash Sum mismatch|unexpected size|Hashes of expected file)",
        "a file of the repository is not the one that its signed index names: it was altered, or the mirror is just "
        "being updated. Nothing of it was installed. Look at the mirror, then run this again",
    ),
    (
        r"(Could not connect|Connection refused|Connection timed out|connection timed out|Could not resolve|"
        r"Temporary failure resolving|Network is unreachable|No route to host|Unable to connect)",
        "the repository does not answer. Check its address, the name resolution and a proxy on this host",
    ),
    (
        r"(404 +Not Found|does not have a Release file|403 +Forbidden)",
        "there is no such repository at that address. Check the address and the suite",
    ),
    (r"(No space left|enough free space)", "the disk is full. Make room, then run this again"),
    (
        r"Conflicting values set for option Signed-By",
        "another file in /etc/apt/sources.list.d names the same repository with another key. Remove that file",
    ),
    (r"(Could not get lock|Unable to lock)", "another package manager is at work and did not end in time"),
)


class PackagesError(Exception):
    """A transaction that cannot be made; the text is a sentence for a person."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A package as it shall be. ``version`` is a version or its leading parts, empty takes any; ``locked_by`` is a file
    whose presence forbids a change of what is installed, ``unit`` a service to enable, and with ``start`` to start."""

    name: str
    version: str = ""
    hold: bool = False
    replaces: tuple[str, ...] = ()
    locked_by: str = ""
    unit: str = ""
    start: bool = False


@dataclasses.dataclass(frozen=True)
class Installed:
    """A package as dpkg has it; ``ready`` is False for one whose installation was cut off."""

    version: str
    held: bool
    ready: bool = True


def matches(wanted: str, version: str) -> bool:
    """Whether ``version`` (Debian, with epoch and revision) is ``wanted`` or begins with it at a boundary."""
    upstream = version.partition(":")[2] or version
    candidates = [upstream, version]
    return not wanted or any(
        text == wanted or (text.startswith(wanted) and not text[len(wanted)].isalnum()) for text in candidates
    )


class Apt:
    """The package manager of one host. ``limit`` is how many seconds another one at work is waited for."""

    def __init__(self, run_command: RunCommand, limit: int = 300) -> None:
        self._run = run_command
        self._limit = limit

    def installed(self, names: Iterable[str]) -> dict[str, Installed]:
        """What is there of ``names``."""
        wanted = sorted(set(names))
        form = "--showformat=${Package}\\t${Version}\\t${db:Status-Abbrev}\\n"
        # It ends with 1 when a name is unknown, and lists the others.
        _code, out, _err = self._run(["dpkg-query", "--show", form, *wanted], environ_update=ENVIRONMENT)
        result = {}
        for line in out.splitlines():
            name, version, status = line.split("\t")
            if status[1:2] in ("n", "c") or not version:
                continue
            result[name] = Installed(version, held=status[0] == "h", ready=status[1:3].strip() == "i")
        return result

    def refresh(self) -> str:
        """Fetches the lists of packages and answers what apt complained of, empty when all answered."""
        command = ["apt-get", "update", "-q", *PATIENCE, "-o", "APT::Update::Error-Mode=any"]
        code, out, err = self._patiently(command)
        return complaints(out + err) if code else ""

    def candidates(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The versions that the repositories have of each name, best first."""
        versions: dict[str, list[str]] = {}
        _code, out, _err = self._run(["apt-cache", "madison", *sorted(names)], environ_update=ENVIRONMENT)
        for line in out.splitlines():
            fields = [field.strip() for field in line.split("|")]
            if len(fields) == 3 and fields[2] and not fields[2].endswith("Sources"):
                versions.setdefault(fields[0], []).append(fields[1])
        return versions

    def repair(self) -> None:
        """Ends what an earlier, interrupted transaction left half done."""
        code, out, err = self._patiently(["dpkg", "--configure", "-a", "--force-confdef", "--force-confold"])
        if code:
            raise PackagesError(
                f"an interrupted installation could not be ended (dpkg --configure -a): {complaints(out + err)}"
            )

    def removals(self, arguments: list[str]) -> list[str]:
        """The packages that installing ``arguments`` would remove."""
        code, out, err = self._run([*self._install(), "--simulate", *arguments], environ_update=ENVIRONMENT)
        if code:
            raise PackagesError(explain(out + err, "apt would not install " + ", ".join(arguments)))
        return [line.split()[1] for line in out.splitlines() if line.startswith("Remv ")]

    def install(self, arguments: list[str], may_remove: bool) -> None:
        """One transaction for all ``arguments`` (names with versions)."""
        protection = [] if may_remove else ["--no-remove"]
        code, out, err = self._patiently([*self._install(), *protection, *arguments])
        if code:
            raise PackagesError(explain(out + err, "the packages could not be installed"))

    def hold(self, holds: dict[str, bool]) -> None:
        """Sets or takes off the hold of each name."""
        text = "".join(f"{name} {'hold' if held else 'install'}\n" for name, held in sorted(holds.items()))
        code, out, err = self._patiently(["dpkg", "--set-selections"], text)
        if code:
            raise PackagesError(f"the packages could not be held (dpkg --set-selections): {err.strip() or out.strip()}")

    def _install(self) -> list[str]:
        return [
            *("apt-get", "install", "--yes", "-q", "--no-install-recommends", "--allow-change-held-packages"),
            *("--allow-downgrades", "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"),
            *("-o", f"DPkg::Lock::Timeout={self._limit}", *PATIENCE),
        ]

    def _patiently(self, command: list[str], data: str | None = None) -> tuple[int, str, str]:
        """Runs apt or dpkg, and again while another one holds a lock: an apt goes on after its connection was cut."""
        end = time.monotonic() + self._limit
        while True:
            code, out, err = self._run(command, data=data, environ_update=ENVIRONMENT)
            if not code or "lock" not in complaints(out + err).lower() or time.monotonic() > end:
                return code, out, err
            time.sleep(LISTS_LOCK_POLL)


def complaints(output: str) -> str:
    """apt's own errors and warnings, joined; all of the end where it has none."""
    lines = [line[3:].strip() for line in output.splitlines() if line.startswith(("E: ", "W: "))]
    return "; ".join(dict.fromkeys(lines)) or " ".join(output.split())[-600:]


def explain(output: str, what: str) -> str:
    """A sentence from apt's output: what could not be done, the known cause, and apt's own words."""
    said = complaints(output)
    cause = next((sentence for pattern, sentence in CAUSES if re.search(pattern, said)), "")
    return f"{what}: {cause + '. apt says: ' if cause else ''}{said}"
