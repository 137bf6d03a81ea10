# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._hosts_archive import Archive, ArchiveError


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    folder = tmp_path / "net.d"
    folder.mkdir()
    (folder / "00-other.conflist").write_bytes(b"{other}\n")
    (folder / "10-flannel.conflist").write_bytes(b"{flannel}\n")
    return folder


def archive(tmp_path: Path) -> Archive:
    return Archive(str(tmp_path / "repair" / "date"))


def test_what_was_removed_changed_or_made_goes_back_byte_for_byte(tmp_path: Path, conf: Path) -> None:
    patterns = [f"{conf}/*"]
    os.chmod(conf / "00-other.conflist", 0o640)
    kept = archive(tmp_path).keep(patterns, {})
    (conf / "00-other.conflist").unlink()
    (conf / "10-flannel.conflist").write_text("changed")
    (conf / "20-new.conflist").write_text("new")
    changed = archive(tmp_path).settle(patterns, {})

    done, left = archive(tmp_path).restore_files(dry_run=False)

    assert len(kept) == 2 and len(changed) == 3 and sorted(done) == changed and left == []
    assert (conf / "00-other.conflist").read_bytes() == b"{other}\n"
    assert (conf / "00-other.conflist").stat().st_mode & 0o777 == 0o640
    assert (conf / "10-flannel.conflist").read_bytes() == b"{flannel}\n"
    assert sorted(os.listdir(conf)) == ["00-other.conflist", "10-flannel.conflist"]
    assert archive(tmp_path).restore_files(dry_run=False) == ([], [])


def test_what_was_changed_after_the_repair_is_left(tmp_path: Path, conf: Path) -> None:
    patterns = [f"{conf}/*"]
    archive(tmp_path).keep(patterns, {})
    (conf / "10-flannel.conflist").write_text("repaired")
    archive(tmp_path).settle(patterns, {})
    (conf / "10-flannel.conflist").write_text("edited by somebody since")
    assert archive(tmp_path).restore_files(dry_run=False) == ([], [str(conf / "10-flannel.conflist")])
    assert (conf / "10-flannel.conflist").read_text() == "edited by somebody since"


def test_a_repair_that_was_killed_goes_back_too(tmp_path: Path, conf: Path) -> None:
    archive(tmp_path).keep([f"{conf}/*"], {})
    (conf / "00-other.conflist").unlink()
    done, left = archive(tmp_path).restore_files(dry_run=False)
    assert done == [str(conf / "00-other.conflist")] and left == []


def test_a_later_step_does_not_take_the_place_of_what_was_there_at_first(tmp_path: Path, conf: Path) -> None:
    path = str(conf / "10-flannel.conflist")
    archive(tmp_path).keep([path], {})
    Path(path).write_text("first step")
    assert archive(tmp_path).keep([path], {}) == []
    archive(tmp_path).restore_files(dry_run=False)
    assert Path(path).read_bytes() == b"{flannel}\n"


def test_a_dry_run_says_and_does_nothing(tmp_path: Path, conf: Path) -> None:
    path = str(conf / "10-flannel.conflist")
    archive(tmp_path).keep([path], {})
    Path(path).write_text("x")
    assert archive(tmp_path).restore_files(dry_run=True) == ([path], [])
    assert Path(path).read_text() == "x"


def test_links_go_back_as_links(tmp_path: Path, conf: Path) -> None:
    link = conf / "30-link.conf"
    link.symlink_to("10-flannel.conflist")
    archive(tmp_path).keep([str(link)], {})
    link.unlink()
    archive(tmp_path).restore_files(dry_run=False)
    assert os.readlink(link) == "10-flannel.conflist"


def test_only_the_owner_can_enter_the_folder(tmp_path: Path, conf: Path) -> None:
    archive(tmp_path).keep([f"{conf}/*"], {})
    assert (tmp_path / "repair" / "date").stat().st_mode & 0o077 == 0
    assert (tmp_path / "repair" / "date" / "index.json").stat().st_mode & 0o077 == 0


def test_objects_are_kept_with_what_they_became(tmp_path: Path) -> None:
    archive(tmp_path).keep([], {"ConfigMap a/b": {"data": 1}, "ConfigMap a/c": None})
    now = {"ConfigMap a/b": {"data": 1}, "ConfigMap a/c": {"data": 2}}
    assert archive(tmp_path).settle([], now) == ["ConfigMap a/c"]


def test_a_copy_that_is_gone_is_said(tmp_path: Path, conf: Path) -> None:
    path = str(conf / "10-flannel.conflist")
    first = archive(tmp_path)
    first.keep([path], {})
    os.unlink(first._copy_of(path))
    os.unlink(path)
    with pytest.raises(ArchiveError, match="its copy .* is missing"):
        first.restore_files(dry_run=False)
