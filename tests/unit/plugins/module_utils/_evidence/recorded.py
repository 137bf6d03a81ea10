# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host as it was recorded on a lab node (fixtures/record.py), as a Source over a folder."""

from __future__ import annotations

import functools
import gzip
import json
import os
from pathlib import Path
from typing import Any

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing, Result, Source

FIXTURES = Path(__file__).parent / "fixtures"


@functools.cache
def _text(name: str) -> str:
    return (FIXTURES / f"{name}.json").read_text()


class Recorded(Source):
    """The recorded host NAME below FOLDER. ``commands`` can be changed before anything is asked."""

    def __init__(self, folder: Path, name: str = "n2", build: bool = True) -> None:
        super().__init__(str(folder), self._answer)
        recorded = json.loads(_text(name))
        self.commands: dict[str, Any] = recorded["commands"]
        if not build:  # another look at a host that lies there already
            return
        for path, names in recorded["folders"].items():
            for one in names:
                self.write(f"{path}/{one}", "")
        for path in recorded["present"]:
            self.write(path, "")
        for path, text in recorded["files"].items():
            self.write(path, text)
        for path, target in recorded["links"].items():
            self.write(path, "")
            Path(self.path(path)).unlink()
            Path(self.path(path)).symlink_to(target)

    def exists(self, path: str) -> bool:
        """A recorded link says where it leads on the node, which is nowhere here."""
        return os.path.lexists(self.path(path))

    def write(self, path: str, text: str) -> None:
        """Make or replace a file; a path that is a folder already stays one. A recorded link, which leads to this
        machine's own file, is replaced and not written through."""
        place = Path(self.path(path))
        for parent in reversed(place.parents):
            if parent.is_file() or (parent.is_symlink() and parent.is_relative_to(self.path("/"))):
                parent.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            place.unlink()
        if not place.is_dir():
            place.write_bytes(gzip.compress(text.encode()) if path.endswith(".gz") else text.encode())
            place.chmod(0o755)

    def remove(self, path: str) -> None:
        Path(self.path(path)).unlink()

    def say(self, command: str, stdout: str, rc: int = 0, stderr: str = "") -> None:
        """Let a command answer something else."""
        self.commands[command] = {"rc": rc, "stdout": stdout, "stderr": stderr}

    def _answer(self, argv: Any) -> Result:
        command = self.commands.get(" ".join(argv))
        if command is None:
            raise Missing(f"{argv[0]} is not installed")
        if "missing" in command:
            raise Missing(command["missing"])
        return Result(command["rc"], command["stdout"], command["stderr"])
