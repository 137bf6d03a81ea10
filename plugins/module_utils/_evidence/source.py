# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where gatherers read: files below a root, and commands with a limit.

A gatherer that cannot look raises `Missing` with a reason; its key is then absent from the evidence
and the reason is listed. Commands and files are read once, whoever asks first.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

COMMAND_SECONDS = 5.0
COMMAND_BYTES = 64 * 1024 * 1024
FILE_BYTES = 1024 * 1024
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"


class Missing(Exception):
    """The thing was not looked at; the message says why."""


class Result(NamedTuple):
    """What a command answered."""

    rc: int
    stdout: str
    stderr: str


RunCommand = Callable[[Sequence[str]], Result]


def run_command(argv: Sequence[str], seconds: float = COMMAND_SECONDS) -> Result:
    """Run one command without a shell, a terminal, or an input, for at most SECONDS.

    :raises Missing: the command is not installed, took too long, or said more than 64 MiB.
    """
    environment = dict(os.environ, PATH=PATH, LC_ALL="C.UTF-8", LANGUAGE="C", SYSTEMD_COLORS="0", SYSTEMD_PAGER="")
    try:
        # Side by side in threads and with a limit, which AnsibleModule.run_command has not.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise Missing(f"{argv[0]} is not installed") from None
    except OSError as error:
        raise Missing(f"{argv[0]} cannot be run: {error.strerror}") from None
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # The whole session: a child that inherited the pipe would keep communicate() waiting.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Missing(f"'{' '.join(argv)}' did not end within {seconds:g} s") from None
    if len(stdout) > COMMAND_BYTES:
        raise Missing(f"'{' '.join(argv)}' said more than {COMMAND_BYTES} bytes")
    return Result(process.returncode, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace"))


class Source:
    """Files and commands of one host.

    :param root: a folder that stands for `/` (tests give a recorded tree).
    :param run: what runs a command (tests give recorded outputs).
    """

    def __init__(self, root: str = "/", run: RunCommand = run_command) -> None:
        self.root = root.rstrip("/")
        self.missing: dict[str, str] = {}
        self._run = run
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._locks: dict[tuple[Any, ...], threading.Lock] = {}
        self._lock = threading.Lock()

    def lack(self, key: str, reason: object) -> None:
        """List KEY, or a part of it, as not looked at."""
        with self._lock:
            self.missing[key] = str(reason)

    def once(self, name: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """The answer of MAKE, made once for NAME; a reason why not is kept as well."""
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._answers:
                try:
                    self._answers[name] = make()
                except Missing as reason:
                    self._answers[name] = reason
        answer = self._answers[name]
        if isinstance(answer, Missing):
            raise Missing(str(answer))
        return answer

    # Commands

    def result(self, *argv: str) -> Result:
        """Run a command, whatever its return code."""
        answer: Result = self.once(("command", *argv), lambda: self._run(argv))
        return answer

    def output(self, *argv: str) -> str:
        """The standard output of a command that ends well.

        :raises Missing: it is not there, did not end in time, or failed.
        """
        result = self.result(*argv)
        if result.rc != 0:
            said = (result.stderr.strip() or result.stdout.strip()).splitlines()
            raise Missing(f"'{' '.join(argv)}' failed with {result.rc}" + (f": {said[-1][:300]}" if said else ""))
        return result.stdout

    def json(self, *argv: str) -> Any:
        """The parsed JSON output of a command; no output at all is an empty list (as iproute2 has it)."""
        text = self.output(*argv)
        if not text.strip():
            return []
        try:
            return json.loads(text)
        except ValueError:
            raise Missing(f"'{' '.join(argv)}' did not answer JSON") from None

    # Files

    def path(self, path: str) -> str:
        """The place of an absolute PATH below the root."""
        return self.root + path

    def exists(self, path: str) -> bool:
        """Whether PATH is there (a dangling link is not)."""
        return os.path.exists(self.path(path))

    def link(self, path: str) -> str:
        """What a symbolic link says; empty where PATH is none."""
        try:
            return os.readlink(self.path(path))
        except OSError:
            return ""

    def read_bytes(self, path: str, limit: int = FILE_BYTES) -> bytes:
        """The first LIMIT bytes of a regular file.

        :raises Missing: there is none, or it cannot be read.
        """
        place = self.path(path)
        try:
            # A fifo would wait for ever for its writer.
            descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                return file.read(limit)
        except OSError as error:
            raise Missing(f"{path}: {error.strerror}") from None

    def read(self, path: str, limit: int = FILE_BYTES) -> str:
        """The text of a file, as `read_bytes` has it."""
        return self.read_bytes(path, limit).decode("utf-8", "replace")

    def read_or(self, path: str, default: str) -> str:
        """The text of a file, or DEFAULT where there is no such file.

        :raises Missing: it is there and cannot be read.
        """
        try:
            os.stat(self.path(path))
        except (FileNotFoundError, NotADirectoryError):
            return default
        except OSError as error:
            raise Missing(f"{path}: {error.strerror}") from None
        return self.read(path)

    def names(self, path: str) -> list[str]:
        """The sorted names in a folder; no folder has no names.

        :raises Missing: it is there and cannot be listed.
        """
        try:
            return sorted(os.listdir(self.path(path)))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise Missing(f"{path}: {error.strerror}") from None

    def texts(self, folders: Sequence[str], suffixes: tuple[str, ...]) -> dict[str, str]:
        """Texts by file name; the same name in an earlier folder hides the later one, as systemd has it."""
        found: dict[str, str] = {}
        for folder in folders:
            for name in self.names(folder):
                if name.endswith(suffixes) and name not in found:
                    found[name] = self.read_or(f"{folder}/{name}", "")
        return found
