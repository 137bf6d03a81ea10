# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A process on the host that goes on when the module that started it has ended.

PRIVATE to the collection. Standard library only.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Callable

# The name by which a later run knows the process again (at most 15 characters, prctl(2)).
COMM = "podnet-probe"


def start(prepare: Callable[[], Callable[[], None]]) -> str:
    """Run *prepare*, and then what it answers, in a process of its own. Returns once it is prepared: "", or why not."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            if os.fork():
                os._exit(0)
            _detach()
            work = prepare()
        except BaseException as exc:  # noqa: B036  (nothing here may return into the module's code)
            with contextlib.suppress(OSError):
                os.write(writer, (str(exc) or type(exc).__name__).encode())
            os._exit(1)
        try:
            os.write(writer, b"ok")
            os.close(writer)
            work()
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read().decode()
    return "" if said == "ok" else said or "it ended without a word"


def _detach() -> None:
    """Let go of whoever started this process: its session, its files, its signals; and take a name of its own."""
    os.setsid()
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="ascii") as handle:
        handle.write(COMM)
    os.chdir("/")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
