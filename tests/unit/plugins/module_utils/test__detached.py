# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Callable

from ansible_collections.podnet.kubeadm.plugins.module_utils import _detached


def test_it_goes_on_by_itself_under_its_name(tmp_path: Path) -> None:
    said = tmp_path / "said"

    def prepare() -> Callable[[], None]:
        pid, name = os.getpid(), Path("/proc/self/comm").read_text().strip()

        def work() -> None:
            (tmp_path / "part").write_text(f"{pid} {name} {os.getsid(0)} {os.getcwd()}")
            (tmp_path / "part").rename(said)

        return work

    assert _detached.start(prepare) == ""
    end = time.monotonic() + 10
    while not said.exists() and time.monotonic() < end:
        time.sleep(0.01)
    pid, name, session, folder = said.read_text().split()
    assert (name, folder) == (_detached.COMM, "/")
    assert int(pid) != os.getpid() and int(session) != os.getsid(0)


def test_what_cannot_be_prepared_is_told() -> None:
    def prepare() -> Callable[[], None]:
        raise OSError("the port is taken")

    assert _detached.start(prepare) == "the port is taken"


def test_what_ends_is_told() -> None:
    def prepare() -> Callable[[], None]:
        os._exit(3)

    assert _detached.start(prepare) == "it ended without a word"
