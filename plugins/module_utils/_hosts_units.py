# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""systemd units: whether they are enabled and run, and whether they were started with the files that are there now."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any, Callable

RunCommand = Callable[..., "tuple[int, str, str]"]


class UnitsError(Exception):
    """A unit that cannot be enabled or started; the text is a sentence for a person."""


def lacking(wanted: dict[str, bool], run_command: RunCommand) -> dict[str, list[str]]:
    """What units lack: ``enabled``, and ``started`` where ``wanted`` says True. Units that do not exist lack all."""
    if not wanted:
        return {}
    properties = "--property=Id,ActiveState,UnitFileState"
    code, out, err = run_command(["systemctl", "show", properties, "--", *[_full(name) for name in sorted(wanted)]])
    if code:
        raise UnitsError(f"systemd cannot be asked about {', '.join(sorted(wanted))}: {err.strip() or out.strip()}")
    found = [dict(line.partition("=")[::2] for line in block.splitlines()) for block in out.strip().split("\n\n")]
    states = {values.get("Id", "").removesuffix(".service"): values for values in found}
    result = {}
    for name, start in sorted(wanted.items()):
        values = states.get(name, {})
        missing = [] if values.get("UnitFileState") in ("enabled", "static", "alias") else ["enabled"]
        if start and values.get("ActiveState") != "active":
            missing.append("started")
        if missing:
            result[name] = missing
    return result


def bring(missing: dict[str, list[str]], run_command: RunCommand) -> None:
    """Enables and starts what :func:`lacking` answered.

    :raises UnitsError: with the last lines of the unit's journal where it does not start.
    """
    for verb, state in (("enable", "enabled"), ("start", "started")):
        units = [name for name, states in missing.items() if state in states]
        if not units:
            continue
        code, out, err = run_command(["systemctl", verb, "--", *units])
        if code:
            journal = ["journalctl", "--no-pager", "--quiet", "--lines=5", "--output=cat"]
            _code, said, _err = run_command([*journal, *[f"--unit={name}" for name in units]])
            why = " ".join((err or out).split())
            raise UnitsError(f"{', '.join(units)} could not be {state}: {why} Its journal ends: {said.strip()}")


def started_at(units: Iterable[str], run_command: RunCommand) -> dict[str, float]:
    """When the main process of each *running* unit started, in seconds since the epoch.

    Units that do not run, or a host without systemd, are left out. The monotonic stamp is taken, because
    the other one has whole seconds only.
    """
    names = sorted(set(units))
    if not names:
        return {}
    properties = "--property=Id,ActiveState,ExecMainStartTimestampMonotonic"
    try:
        code, out, _err = run_command(["systemctl", "show", properties, "--", *[_full(name) for name in names]])
    except OSError:
        return {}
    if code:
        return {}
    boot = time.time() - time.monotonic()
    started = {}
    for block in out.strip().split("\n\n"):
        values = dict(line.partition("=")[::2] for line in block.splitlines())
        stamp = int(values.get("ExecMainStartTimestampMonotonic") or 0)
        if values.get("ActiveState") == "active" and stamp:
            started[values.get("Id", "").removesuffix(".service")] = boot + stamp / 1e6
    return started


def stale(files: Iterable[tuple[str, str]], changing: Iterable[str], run_command: RunCommand) -> dict[str, list[str]]:
    """Running units, each with the files that it was started without.

    ``files`` are pairs of path and unit, ``changing`` the paths that change now. A file counts when it changes
    now or was written after the unit started: the second is what an interrupted run leaves behind.
    """
    pairs = [(path, unit.removesuffix(".service")) for path, unit in files]
    started = started_at([unit for _path, unit in pairs], run_command)
    changes = set(changing)
    result: dict[str, list[str]] = {}
    for path, unit in pairs:
        if unit in started and (path in changes or _modified(path) > started[unit]):
            result.setdefault(unit, []).append(path)
    return result


def diff(units: dict[str, list[str]]) -> list[dict[str, Any]]:
    """The stale units as Ansible shows a difference."""
    return [
        {
            "before_header": f"unit {unit}",
            "after_header": f"unit {unit}",
            "before": "".join(f"# started before {path} was written\n" for path in paths),
            "after": "",
        }
        for unit, paths in sorted(units.items())
    ]


def _full(name: str) -> str:
    return name if "." in name else f"{name}.service"


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
