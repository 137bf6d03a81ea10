# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""Files on a host: what a wanted file differs in, and how it is brought there.

Nothing here imports Ansible. A change is first planned (:func:`plan`), which reads only, and then
applied (:func:`apply`); check mode stops in between.
"""

from __future__ import annotations

import dataclasses
import datetime
import grp
import itertools
import os
import pwd
import shutil
import stat
import tempfile
from typing import Any, Callable

HIDDEN_BEFORE, HIDDEN_AFTER = "(content is not shown)\n", "(new content is not shown)\n"


class FilesError(Exception):
    """A file that cannot be brought to the wanted state; the text is a sentence for a person."""


@dataclasses.dataclass(frozen=True)
class WantedFile:
    """One file as it shall be.

    ``content`` is None for a directory or an absent file. ``mode`` is the permission bits. ``owner`` and
    ``group`` are names, None leaves them. ``validate`` is a command with ``%s`` for the file's name.
    """

    path: str
    state: str = "present"
    content: bytes | None = None
    mode: int = 0o644
    owner: str | None = None
    group: str | None = None
    validate: str | None = None
    secret: bool = False


@dataclasses.dataclass(frozen=True)
class Change:
    """What one file differs in. ``target`` is the path behind symbolic links, ``before`` its content or None."""

    wanted: WantedFile
    target: str
    before: bytes | None
    content_differs: bool
    attributes: dict[str, tuple[str, str]]
    hidden: bool

    def diff(self) -> dict[str, Any]:
        """The change as Ansible shows it; a secret's content never enters it."""
        before, after = _text(self.before), _text(self.wanted.content)
        if self.hidden and self.content_differs:
            before = HIDDEN_BEFORE if self.before is not None else ""
            after = HIDDEN_AFTER if self.wanted.content is not None else ""
        elif not self.content_differs:
            before = after = ""
        for name, (old, new) in sorted(self.attributes.items()):
            before += f"# {name} {old}\n"
            after += f"# {name} {new}\n"
        return {"before_header": self.wanted.path, "after_header": self.wanted.path, "before": before, "after": after}


def plan(wanted: WantedFile) -> Change | None:
    """Answers what ``wanted`` differs in, or None. Reads only.

    :raises FilesError: where something else than a regular file (or directory) stands at the path.
    """
    target = os.path.realpath(wanted.path)
    try:
        status = os.stat(target)
    except FileNotFoundError:
        status = None
    except NotADirectoryError as error:
        raise FilesError(f"{wanted.path}: a part of the path is a file, not a folder; move it away.") from error
    if wanted.state == "absent":
        return _plan_absent(wanted, status)
    if wanted.state == "directory":
        if status is not None and not stat.S_ISDIR(status.st_mode):
            raise FilesError(f"{wanted.path}: a folder is wanted, and something else stands there; move it away.")
        attributes = _attributes(wanted, status) if status else {"state": ("absent", "directory")}
        return Change(wanted, target, None, False, attributes, False) if attributes else None
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise FilesError(f"{wanted.path}: a file is wanted, and a folder or a special file stands there; move it away.")
    before = _read(target) if status else None
    attributes = _attributes(wanted, status) if status else {}
    if before == wanted.content and not attributes:
        return None
    # What not everyone may read is not shown either: the old content may hold a secret that the new one lost.
    hidden = wanted.secret or (status is not None and not status.st_mode & stat.S_IROTH)
    return Change(wanted, target, before, before != wanted.content, attributes, hidden)


def apply(change: Change, backup_dir: str | None) -> None:
    """Brings one planned change about; a file is replaced as a whole or not at all."""
    wanted = change.wanted
    if backup_dir and change.content_differs and os.path.lexists(wanted.path):
        _backup(wanted.path, change.target, backup_dir)
    if wanted.state == "absent":
        os.unlink(wanted.path)
        return
    if wanted.state == "directory":
        os.makedirs(change.target, mode=0o755, exist_ok=True)
        _set_attributes(change.target, wanted)
        return
    if not change.content_differs:
        _set_attributes(change.target, wanted)
        return
    temporary = _write_beside(change.target, wanted)
    try:
        os.replace(temporary, change.target)
    except OSError:
        os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(change.target))


def validate(change: Change, run_command: Callable[..., tuple[int, str, str]]) -> None:
    """Runs the wanted file's own check on a copy of the new content.

    :raises FilesError: with what the command said.
    """
    wanted = change.wanted
    if not wanted.validate or not change.content_differs or wanted.content is None:
        return
    folder = tempfile.mkdtemp(prefix="podnet-validate-")
    try:
        copy = os.path.join(folder, os.path.basename(wanted.path))
        descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(wanted.content)
        code, out, err = run_command(wanted.validate.replace("%s", copy))
    finally:
        shutil.rmtree(folder)
    if code:
        said = "its output is not shown" if change.hidden else (err.strip() or out.strip() or "no output")
        raise FilesError(f"{wanted.path} was not written: `{wanted.validate}` ended with {code}: {said}")


def dated_folder(parent: str) -> str:
    """A path below ``parent`` that is not there yet."""
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H-%M-%SZ")
    names = itertools.chain([stamp], (f"{stamp}-{count}" for count in itertools.count(2)))
    return next(path for path in (os.path.join(parent, name) for name in names) if not os.path.exists(path))


def _plan_absent(wanted: WantedFile, status: os.stat_result | None) -> Change | None:
    if not os.path.lexists(wanted.path):
        return None
    is_file = status is not None and stat.S_ISREG(status.st_mode)
    if not is_file and not os.path.islink(wanted.path):
        raise FilesError(
            f"{wanted.path}: a folder or a special file stands where no file shall be; only files are removed."
        )
    before = _read(wanted.path) if is_file else None
    hidden = wanted.secret or (status is not None and not status.st_mode & stat.S_IROTH)
    return Change(wanted, wanted.path, before or b"", True, {}, hidden)


def _attributes(wanted: WantedFile, status: os.stat_result) -> dict[str, tuple[str, str]]:
    differences = {}
    mode = stat.S_IMODE(status.st_mode)
    if mode != wanted.mode:
        differences["mode"] = (f"{mode:04o}", f"{wanted.mode:04o}")
    if wanted.owner is not None and status.st_uid != _uid(wanted):
        differences["owner"] = (str(status.st_uid), wanted.owner)
    if wanted.group is not None and status.st_gid != _gid(wanted):
        differences["group"] = (str(status.st_gid), wanted.group)
    return differences


def _uid(wanted: WantedFile) -> int:
    try:
        return pwd.getpwnam(wanted.owner).pw_uid if wanted.owner is not None else -1
    except KeyError as error:
        raise FilesError(f"{wanted.path}: there is no user {wanted.owner} on this host.") from error


def _gid(wanted: WantedFile) -> int:
    try:
        return grp.getgrnam(wanted.group).gr_gid if wanted.group is not None else -1
    except KeyError as error:
        raise FilesError(f"{wanted.path}: there is no group {wanted.group} on this host.") from error


def _set_attributes(path: str, wanted: WantedFile) -> None:
    os.chown(path, _uid(wanted), _gid(wanted))
    os.chmod(path, wanted.mode)  # after chown, which clears set-id bits


def _write_beside(target: str, wanted: WantedFile) -> str:
    """Writes the new content to a temporary file in the target's folder and answers its name."""
    folder = os.path.dirname(target)
    os.makedirs(folder, mode=0o755, exist_ok=True)
    # The leading dot keeps it from being read meanwhile by what takes every file of a folder.
    descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(wanted.content or b"")
            stream.flush()
            os.fsync(stream.fileno())
        if os.path.exists(target):  # keep an owner that nobody asked to change
            status = os.stat(target)
            os.chown(temporary, status.st_uid, status.st_gid)
        _set_attributes(temporary, wanted)
    except Exception:
        os.unlink(temporary)
        raise
    return temporary


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _backup(path: str, source: str, backup_dir: str) -> None:
    """Copies a file with owner and mode to its path below ``backup_dir``, whose own folder only root may enter."""
    copy = os.path.join(backup_dir, path.lstrip("/"))
    os.makedirs(backup_dir, mode=0o700, exist_ok=True)
    os.makedirs(os.path.dirname(copy), mode=0o755, exist_ok=True)
    if os.path.islink(source):
        os.symlink(os.readlink(source), copy)
        return
    shutil.copy2(source, copy)
    status = os.stat(source)
    os.chown(copy, status.st_uid, status.st_gid)


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _text(content: bytes | None) -> str:
    if content is None:
        return ""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return f"(binary, {len(content)} bytes)\n"
