# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""What a repair replaces on a host: kept before it, compared after it, and put back byte for byte.

A folder holds ``index.json``, copies of files below ``files/``, and ``repair.log``, which tells a person what was done
and when (UTC). Standard library only. The index::

    {"files": {PATH: {"before": STATE or null, "after": STATE or null}},   # null: there was no such file
     "objects": {"KIND NAMESPACE/NAME": {"before": OBJECT or null, "after": OBJECT or null}},
     "settled": bool}                                                     # whether "after" is known

STATE is ``{"sha256", "mode", "uid", "gid"}``, or ``{"link": TARGET}``.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable
from typing import Any


class ArchiveError(Exception):
    """A sentence about what cannot be kept or put back."""


class Archive:
    """The kept things of one repair on one host. ``folder`` is made, for its owner only, when something is kept."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._index = os.path.join(folder, "index.json")
        self.index: dict[str, Any] = {"files": {}, "objects": {}, "settled": False}
        if os.path.exists(self._index):
            with open(self._index, encoding="utf-8") as stream:
                self.index = json.load(stream)

    @property
    def exists(self) -> bool:
        return os.path.exists(self._index)

    def keep(self, patterns: Iterable[str], objects: dict[str, Any]) -> list[str]:
        """Keeps what is not kept yet: a later step must not take the place of what was there at first."""
        added = []
        for path in _files(patterns):
            if path not in self.index["files"]:
                self._copy(path)
                self.index["files"][path] = {"before": state_of(path), "after": None}
                added.append(path)
        for title, item in objects.items():
            if title not in self.index["objects"]:
                self.index["objects"][title] = {"before": item, "after": None}
                added.append(title)
        self.index["settled"] = False
        self._save()
        return added

    def settle(self, patterns: Iterable[str], objects: dict[str, Any]) -> list[str]:
        """Notes what there is after the repair, so that going back touches nothing that was changed later.

        Answers the paths and titles that the repair changed.
        """
        files = self.index["files"]
        for path in set(files) | set(_files(patterns)):
            files.setdefault(path, {"before": None, "after": None})["after"] = state_of(path)
        for title, item in objects.items():
            self.index["objects"].setdefault(title, {"before": None, "after": None})["after"] = item
        self.index["settled"] = True
        self._save()
        return self.changed()

    def changed(self) -> list[str]:
        """Paths and titles of objects that differ between before and after; without an "after", those kept."""
        both = {**self.index["files"], **self.index["objects"]}
        return sorted(name for name, one in both.items() if not self.index["settled"] or one["before"] != one["after"])

    def restore_files(self, dry_run: bool) -> tuple[list[str], list[str]]:
        """Puts the files back. Answers (paths put back, paths left because they were changed after the repair)."""
        done, left = [], []
        for path in self.changed():
            entry = self.index["files"].get(path)
            if entry is None or state_of(path) == entry["before"]:
                continue
            if self.index["settled"] and state_of(path) != entry["after"]:
                left.append(path)
                continue
            if not dry_run:
                self._put_back(path, entry["before"])
            done.append(path)
        return done, left

    def note(self, sentence: str) -> None:
        """Adds a line to ``repair.log``."""
        path = os.path.join(self.folder, "repair.log")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as stream:
            stream.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {sentence}\n")

    def _copy(self, path: str) -> None:
        if not os.path.lexists(path):
            return
        copy = self._copy_of(path)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy2(path, copy, follow_symlinks=False)

    def _copy_of(self, path: str) -> str:
        return os.path.join(self.folder, "files", path.lstrip("/"))

    def _put_back(self, path: str, before: dict[str, Any] | None) -> None:
        if before is None:
            os.unlink(path)
            return
        copy = self._copy_of(path)
        if not os.path.lexists(copy):
            raise ArchiveError(f"{path} cannot be put back: its copy {copy} is missing.")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # The leading dot keeps it from being read meanwhile by what takes every file of a folder.
        with tempfile.TemporaryDirectory(prefix=".podnet-", dir=os.path.dirname(path)) as scratch:
            temporary = os.path.join(scratch, "file")
            shutil.copy2(copy, temporary, follow_symlinks=False)
            if "link" not in before:
                os.chown(temporary, before["uid"], before["gid"])
                os.chmod(temporary, before["mode"])
            os.replace(temporary, path)

    def _save(self) -> None:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        temporary = self._index + ".part"
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
            json.dump(self.index, stream, indent=1, sort_keys=True)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, self._index)


def state_of(path: str) -> dict[str, Any] | None:
    """What tells whether a file is the same: its bytes, mode and owner, or where a link points to."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        return {"link": os.readlink(path)}
    with open(path, "rb") as stream:
        digest = hashlib.sha256(stream.read()).hexdigest()
    return {"sha256": digest, "mode": stat.S_IMODE(status.st_mode), "uid": status.st_uid, "gid": status.st_gid}


def _files(patterns: Iterable[str]) -> list[str]:
    """Files and links that match; a pattern without a wildcard stands for itself, also where there is no such file."""
    found: set[str] = set()
    for pattern in patterns:
        matches = glob.glob(pattern) if glob.has_magic(pattern) else [pattern]
        found.update(path for path in matches if os.path.islink(path) or not os.path.isdir(path))
    return sorted(found)
