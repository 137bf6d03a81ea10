# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import grp
import os
import pathlib
import pwd
import stat
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_files
from ansible_collections.podnet.kubeadm.plugins.module_utils._hosts_files import FilesError, WantedFile, apply, plan


def mode(path: pathlib.Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def planned(path: pathlib.Path, **wanted: Any) -> _hosts_files.Change:
    change = plan(WantedFile(str(path), **wanted))
    assert change is not None
    return change


@pytest.mark.parametrize(
    ("wanted", "content_differs", "attributes"),
    [
        ({"content": b"x\n"}, False, None),
        ({"content": b"x"}, True, {}),
        ({"content": b"x\n", "mode": 0o600}, False, {"mode": ("0644", "0600")}),
        ({"content": b"y", "mode": 0o4755}, True, {"mode": ("0644", "4755")}),
        ({"content": b"x\n", "owner": pwd.getpwuid(os.getuid()).pw_name}, False, None),
        ({"content": b"x\n", "group": grp.getgrgid(os.getgid()).gr_name}, False, None),
        ({"content": b"x\n", "owner": "daemon"}, False, {"owner": (str(os.getuid()), "daemon")}),
        ({"content": b"x\n", "group": "daemon"}, False, {"group": (str(os.getgid()), "daemon")}),
        ({"state": "absent"}, True, {}),
    ],
)
def test_what_a_file_differs_in(
    tmp_path: pathlib.Path, wanted: dict[str, Any], content_differs: bool, attributes: dict[str, Any] | None
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x\n")
    path.chmod(0o644)
    change = plan(WantedFile(str(path), **wanted))
    if attributes is None:
        assert change is None
    else:
        assert change and (change.content_differs, change.attributes) == (content_differs, attributes)
        assert change.before == b"x\n"


def test_what_is_not_there(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a" / "f"
    assert plan(WantedFile(str(path), "absent")) is None
    change = planned(path, content=b"")
    assert (change.before, change.content_differs, change.hidden) == (None, True, False)
    assert planned(path, state="directory").attributes == {"state": ("absent", "directory")}
    apply(change, None)
    assert path.read_bytes() == b"" and mode(path) == 0o644 and mode(path.parent) == 0o755
    assert plan(WantedFile(str(path.parent), "directory", mode=0o755)) is None
    apply(planned(path.parent, state="directory", mode=0o700), None)
    assert mode(path.parent) == 0o700 and path.exists()


@pytest.mark.parametrize(
    ("path", "wanted", "words"),
    [
        ("file/x", {"content": b""}, "a part of the path is a file"),
        ("file", {"state": "directory"}, "a folder is wanted"),
        ("folder", {"content": b""}, "a file is wanted"),
        ("fifo", {"content": b""}, "a special file stands there"),
        ("folder", {"state": "absent"}, "only files are removed"),
        ("fifo", {"state": "absent"}, "only files are removed"),
        ("file", {"content": b"", "owner": "nobody-at-all"}, "no user nobody-at-all"),
        ("file", {"content": b"", "group": "none-at-all"}, "no group none-at-all"),
    ],
)
def test_what_stands_in_the_way_is_a_sentence(
    tmp_path: pathlib.Path, path: str, wanted: dict[str, Any], words: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FilesError, match=f"{tmp_path / path}: .*{words}"):
        plan(WantedFile(str(tmp_path / path), **wanted))


@pytest.mark.parametrize(
    ("before", "wanted", "shown"),
    [
        (b"old\n", {"content": b"new\n"}, ("old\n", "new\n")),
        (b"old\n", {"state": "absent"}, ("old\n", "")),
        (None, {"content": b"new\n"}, ("", "new\n")),
        (b"\xff\xfe", {"content": b"new\n"}, ("(binary, 2 bytes)\n", "new\n")),
        (b"old\n", {"content": b"old\n", "mode": 0o600}, ("# mode 0644\n", "# mode 0600\n")),
        (b"old\n", {"content": b"new\n", "mode": 0o600}, ("old\n# mode 0644\n", "new\n# mode 0600\n")),
        (
            b"old\n",
            {"content": b"new\n", "secret": True},
            (_hosts_files.HIDDEN_BEFORE, _hosts_files.HIDDEN_AFTER),
        ),
        (None, {"content": b"new\n", "secret": True}, ("", _hosts_files.HIDDEN_AFTER)),
        (b"old\n", {"state": "absent", "secret": True}, (_hosts_files.HIDDEN_BEFORE, "")),
        (b"old\n", {"content": b"old\n", "secret": True, "mode": 0o600}, ("# mode 0644\n", "# mode 0600\n")),
    ],
)
def test_a_diff_shows_the_change_and_no_secret(
    tmp_path: pathlib.Path, before: bytes | None, wanted: dict[str, Any], shown: tuple[str, str]
) -> None:
    path = tmp_path / "f"
    if before is not None:
        path.write_bytes(before)
        path.chmod(0o644)
    diff = planned(path, **wanted).diff()
    assert (diff["before"], diff["after"]) == shown
    assert diff["before_header"] == diff["after_header"] == str(path)


@pytest.mark.parametrize(("now", "hidden"), [(0o600, True), (0o640, True), (0o644, False)])
@pytest.mark.parametrize("wanted", [{"content": b"new\n"}, {"state": "absent"}])
def test_what_not_everyone_may_read_is_hidden(
    tmp_path: pathlib.Path, now: int, hidden: bool, wanted: dict[str, Any]
) -> None:
    path = tmp_path / "f"
    path.write_text("old\n")
    path.chmod(now)
    assert planned(path, **wanted).hidden is hidden


def test_a_replaced_file_keeps_its_owner_and_is_backed_up_as_it_was(tmp_path: pathlib.Path) -> None:
    path, backups = tmp_path / "f", tmp_path / "backups"
    path.write_text("old\n")
    path.chmod(0o640)
    if os.getuid() == 0:
        os.chown(path, 1, 2)
    owner = (path.stat().st_uid, path.stat().st_gid)
    apply(planned(path, content=b"new\n", mode=0o600), str(backups))
    assert (path.read_text(), mode(path)) == ("new\n", 0o600)
    kept = pathlib.Path(f"{backups}{path}")
    assert (kept.read_text(), mode(kept), mode(backups)) == ("old\n", 0o640, 0o700)
    for one in (path, kept):
        assert (one.stat().st_uid, one.stat().st_gid) == owner
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_change_of_the_mode_alone_is_made_in_place_and_without_a_backup(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f"
    path.write_text("x")
    inode = path.stat().st_ino
    apply(planned(path, content=b"x", mode=0o600), str(tmp_path / "backups"))
    assert (mode(path), path.stat().st_ino) == (0o600, inode) and not (tmp_path / "backups").exists()


def test_a_link_is_followed_when_written_and_itself_removed(tmp_path: pathlib.Path) -> None:
    real, link, backups = tmp_path / "real", tmp_path / "link", tmp_path / "backups"
    real.write_text("old\n")
    link.symlink_to("real")
    apply(planned(link, content=b"new\n"), None)
    assert link.is_symlink() and real.read_text() == "new\n"
    apply(planned(link, state="absent"), str(backups))
    assert not os.path.lexists(link) and real.exists()
    assert os.readlink(f"{backups}{link}") == "real"
    link.symlink_to("gone")
    assert planned(link, state="absent").before == b""
    apply(planned(link, content=b"x"), None)
    assert (tmp_path / "gone").read_text() == "x", "a dangling link is written through"


@pytest.mark.parametrize("target", ["folder", "fifo"])
def test_a_link_to_what_is_no_file_is_removed_unread(tmp_path: pathlib.Path, target: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    link = tmp_path / "link"
    link.symlink_to(target)
    apply(planned(link, state="absent"), str(tmp_path / "backups"))
    assert not os.path.lexists(link) and (tmp_path / target).exists()
    assert os.readlink(f"{tmp_path / 'backups'}{link}") == target


def test_a_file_that_cannot_be_put_in_place_leaves_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        apply(planned(tmp_path / "f", content=b"x"), None)
    assert list(tmp_path.iterdir()) == []


def test_a_check_sees_a_copy_that_only_root_may_read_and_that_is_gone_afterwards(tmp_path: pathlib.Path) -> None:
    seen: list[pathlib.Path] = []

    def run(command: str) -> tuple[int, str, str]:
        seen.append(pathlib.Path(command.split()[-1]))
        assert seen[0].name == "kubelet.yml" and seen[0].read_text() == "new\n" and mode(seen[0]) == 0o600
        return 0, "", ""

    change = planned(tmp_path / "kubelet.yml", content=b"new\n", validate="check %s")
    _hosts_files.validate(change, run)
    assert seen and not seen[0].parent.exists()


@pytest.mark.parametrize(
    ("answer", "secret", "said"),
    [
        ((2, "out", " bad line 1\n"), False, "ended with 2: bad line 1"),
        ((2, "out\n", ""), False, "ended with 2: out"),
        ((2, "", ""), False, "ended with 2: no output"),
        ((2, "out", "bad line 1"), True, "ended with 2: its output is not shown"),
    ],
)
def test_a_check_that_fails(tmp_path: pathlib.Path, answer: tuple[int, str, str], secret: bool, said: str) -> None:
    change = planned(tmp_path / "f", content=b"x", validate="check %s", secret=secret)
    with pytest.raises(FilesError) as error:
        _hosts_files.validate(change, lambda command: answer)
    assert str(error.value) == f"{tmp_path / 'f'} was not written: `check %s` {said}"


@pytest.mark.parametrize(
    "wanted", [{"content": b"x"}, {"content": b"old", "mode": 0o600, "validate": "%s"}, {"state": "absent"}]
)
def test_nothing_is_checked_where_no_content_changes(tmp_path: pathlib.Path, wanted: dict[str, Any]) -> None:
    (tmp_path / "f").write_text("old")
    _hosts_files.validate(planned(tmp_path / "f", **wanted), pytest.fail)


def test_a_dated_folder_is_new(tmp_path: pathlib.Path) -> None:
    names = [_hosts_files.dated_folder(str(tmp_path))]
    for _again in range(2):
        os.mkdir(names[-1])
        names.append(_hosts_files.dated_folder(str(tmp_path)))
    assert len(set(names)) == 3 and all(os.path.dirname(one) == str(tmp_path) for one in names)
    assert not os.path.exists(names[-1])
