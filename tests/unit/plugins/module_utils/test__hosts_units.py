# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import time

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_units

# The layout in which systemd 252 answers
# `systemctl show --property=Id,ActiveState,ExecMainStartTimestampMonotonic -- ssh.service nosuch.service`.
SHOWN = """Id=ssh.service
ActiveState=active
ExecMainStartTimestampMonotonic={stamp}

Id=nosuch.service
ActiveState=inactive
ExecMainStartTimestampMonotonic=0
"""


def answering(stamp: int, calls: list[list[str]] | None = None):
    def run_command(command: list[str]) -> tuple[int, str, str]:
        if calls is not None:
            calls.append(command)
        return 0, SHOWN.format(stamp=stamp), ""

    return run_command


def test_only_running_units_have_a_start() -> None:
    calls: list[list[str]] = []
    now = int(time.monotonic() * 1e6)
    started = _hosts_units.started_at(["ssh", "nosuch.service"], answering(now, calls))
    assert list(started) == ["ssh"] and abs(started["ssh"] - time.time()) < 5
    assert calls[0][-2:] == ["nosuch.service", "ssh.service"]


def test_no_unit_no_command() -> None:
    calls: list[list[str]] = []
    assert _hosts_units.stale([], [], answering(1, calls)) == {} and calls == []


def test_a_host_without_systemd_has_no_stale_units() -> None:
    def missing(command: list[str]) -> tuple[int, str, str]:
        raise FileNotFoundError("systemctl")

    assert _hosts_units.stale([("/x", "ssh")], ["/x"], missing) == {}
    assert _hosts_units.stale([("/x", "ssh")], ["/x"], lambda command: (1, "", "not booted")) == {}


def test_a_file_written_after_the_start_makes_the_unit_stale(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")
    hour = int(3600 * 1e6)
    early, late = int(time.monotonic() * 1e6) - hour, int(time.monotonic() * 1e6) + hour
    assert _hosts_units.stale([(str(path), "ssh.service")], [], answering(early)) == {"ssh": [str(path)]}
    assert _hosts_units.stale([(str(path), "ssh")], [], answering(late)) == {}
    assert _hosts_units.stale([(str(path), "ssh")], [str(path)], answering(late)) == {"ssh": [str(path)]}
    assert _hosts_units.diff({"ssh": [str(path)]})[0]["before"].count(str(path)) == 1
