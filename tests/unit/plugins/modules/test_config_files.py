# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib
import stat
from typing import Any, Callable

import pytest

from ansible_collections.podnet.kubeadm.plugins.modules import config_files

Run = Callable[..., "dict[str, Any]"]


@pytest.fixture
def run(run_module: Callable[..., dict[str, Any]], tmp_path: pathlib.Path) -> Run:
    def call(*files: dict[str, Any], check: bool = False, **options: Any) -> dict[str, Any]:
        arguments = {"files": list(files), "backup_dir": str(tmp_path / "backups"), **options}
        return run_module(config_files, arguments, check)

    return call


def mode(path: pathlib.Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_writes_files_and_a_second_run_changes_nothing(run: Run, tmp_path: pathlib.Path) -> None:
    one, two = tmp_path / "a" / "b" / "one", tmp_path / "two"
    files = ({"path": str(one), "content": "1\n"}, {"path": str(two), "content": "zwei ü\n", "mode": "0600"})
    result = run(*files)
    assert result["changed"] and result["paths"] == [str(one), str(two)]
    assert (one.read_text(), two.read_text(encoding="utf-8")) == ("1\n", "zwei ü\n")
    assert (mode(one), mode(two), mode(one.parent)) == (0o644, 0o600, 0o755)
    assert "backup_dir" not in result
    again = run(*files)
    assert not again["changed"] and again["paths"] == [] and again["diff"] == []


def test_only_what_differs_is_named(run: Run, tmp_path: pathlib.Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("same\n")
    two.write_text("old\n")
    result = run({"path": str(one), "content": "same\n"}, {"path": str(two), "content": "new\n"})
    assert result["paths"] == [str(two)]
    assert [(part["before"], part["after"]) for part in result["diff"]] == [("old\n", "new\n")]


def test_check_mode_shows_the_same_and_touches_nothing(run: Run, tmp_path: pathlib.Path) -> None:
    old, new, gone, folder = (tmp_path / name for name in ("old", "new/deep", "gone", "folder"))
    old.write_text("old\n")
    gone.write_text("x\n")
    files = (
        {"path": str(old), "content": "other\n", "mode": "0640"},
        {"path": str(new), "content": "n\n"},
        {"path": str(gone), "state": "absent"},
        {"path": str(folder), "state": "directory"},
    )
    predicted = run(*files, check=True)
    assert old.read_text() == "old\n" and not new.parent.exists() and gone.exists() and not folder.exists()
    done = run(*files)
    assert predicted["paths"] == done["paths"] == [str(old), str(new), str(gone), str(folder)]
    assert predicted["diff"] == done["diff"]
    assert not gone.exists() and folder.is_dir()
    assert not run(*files)["changed"]


def test_mode_alone_is_a_change_and_shown(run: Run, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f"
    path.write_text("x\n")
    path.chmod(0o644)
    result = run({"path": str(path), "content": "x\n", "mode": "0600"})
    assert result["paths"] == [str(path)] and mode(path) == 0o600
    assert result["diff"][0]["before"] == "# mode 0644\n" and result["diff"][0]["after"] == "# mode 0600\n"
    assert "backup_dir" not in result


def test_a_former_file_is_kept_in_a_dated_folder(run: Run, tmp_path: pathlib.Path) -> None:
    changed, removed = tmp_path / "changed", tmp_path / "removed"
    changed.write_text("before\n")
    changed.chmod(0o640)
    removed.write_text("gone\n")
    result = run({"path": str(changed), "content": "after\n"}, {"path": str(removed), "state": "absent"})
    kept = pathlib.Path(result["backup_dir"] + str(changed))
    assert kept.read_text() == "before\n" and mode(kept) == 0o640
    assert pathlib.Path(result["backup_dir"] + str(removed)).read_text() == "gone\n"
    assert mode(pathlib.Path(result["backup_dir"])) == 0o700


def test_no_backup_when_not_wanted(run: Run, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f"
    path.write_text("a\n")
    assert "backup_dir" not in run({"path": str(path), "content": "b\n"}, backup=False)
    assert not (tmp_path / "backups").exists()


@pytest.mark.parametrize("check", [True, False])
def test_a_secret_is_in_no_output(
    run: Run, tmp_path: pathlib.Path, check: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(config_files.AnsibleModule, "log", lambda self, *log, **more: logged.append(f"{log} {more}"))
    path = tmp_path / "token"
    path.write_text("old-secret-4711\n")
    result = run({"path": str(path), "secret_content": "new-secret-0815\n"}, check=check)
    assert result["changed"] and result["paths"] == [str(path)]
    assert "secret-4711" not in str(result) and "secret-0815" not in str(result)
    assert str(path) in str(logged) and "secret-0815" not in str(logged)
    assert result["diff"][0]["before"] != result["diff"][0]["after"], "that it changes is shown"
    if not check:
        assert path.read_text() == "new-secret-0815\n" and mode(path) == 0o600


def test_what_others_may_not_read_on_the_host_is_not_shown(run: Run, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text("authorization = 'old-secret'\n")
    path.chmod(0o600)
    assert "old-secret" not in str(run({"path": str(path), "content": "server = 'x'\n"}))
    path.write_text("authorization = 'old-secret'\n")
    path.chmod(0o600)
    assert "old-secret" not in str(run({"path": str(path), "state": "absent"}))


def test_one_bad_file_and_none_is_written(run: Run, tmp_path: pathlib.Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    result = run(
        {"path": str(good), "content": "1\n"}, {"path": str(bad), "content": "no\n", "validate": "grep -q yes %s"}
    )
    assert result["failed"] and str(bad) in result["msg"] and "grep -q yes" in result["msg"]
    assert not good.exists() and not bad.exists()


def test_validate_accepts_and_says_nothing_of_a_secret(run: Run, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f"
    assert run({"path": str(path), "content": "yes\n", "validate": "grep -q yes %s"})["changed"]
    result = run({"path": str(path), "secret_content": "topsecret\n", "validate": "grep -v nothing %s --bad"})
    assert result["failed"] and "topsecret" not in str(result)


def test_a_symbolic_link_is_followed(run: Run, tmp_path: pathlib.Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old\n")
    link.symlink_to(real)
    run({"path": str(link), "content": "new\n"})
    assert link.is_symlink() and real.read_text() == "new\n"
    run({"path": str(link), "state": "absent"})
    assert not os.path.lexists(link) and real.exists()


@pytest.mark.parametrize(
    "file, said",
    [
        ({"path": "relative", "content": "x"}, "absolute"),
        ({"path": "/x/y"}, "needs content"),
        ({"path": "/x/y", "state": "absent", "content": "x"}, "takes neither"),
        ({"path": "/x/y", "content": "x", "mode": "rw"}, "not octal"),
        ({"path": "/x/y", "content": "x", "validate": "true"}, "%s"),
        ({"path": "/x/y", "content": "x", "secret_content": "yyyy1"}, "mutually exclusive"),
        ({"path": "/etc/passwd/x", "content": "x"}, "part of the path is a file"),
        ({"path": "/etc", "content": "x"}, "a file is wanted"),
        ({"path": "/etc/passwd", "state": "directory"}, "a folder is wanted"),
        ({"path": "/etc", "state": "absent"}, "only files are removed"),
        ({"path": "/etc/passwd", "content": "x", "owner": "nobody-at-all"}, "no user nobody-at-all"),
    ],
)
def test_bad_input_gets_a_sentence(run: Run, file: dict[str, Any], said: str) -> None:
    result = run(file, check=True)
    assert result["failed"] and said in result["msg"] and file["path"].split("/")[-1] in result["msg"]


def test_a_path_twice_is_refused(run: Run, tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "f")
    result = run({"path": path, "content": "a"}, {"path": path + "/../f", "content": "b"})
    assert result["failed"] and "listed once" in result["msg"]


def test_a_failing_write_names_what_was_written_before(
    run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    two.write_text("old\n")
    real = os.replace

    def full(source: str, target: str) -> None:
        if target == str(two):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    result = run({"path": str(one), "content": "1\n"}, {"path": str(two), "content": "2\n"})
    assert result["failed"] and "No space left" in result["msg"] and str(one) in result["msg"]
    assert two.read_text() == "old\n"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".two")] == [], "no temporary file stays"


def test_a_running_service_older_than_its_file_is_stale(
    run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    started = {"containerd": 0.0}
    monkeypatch.setattr(config_files._hosts_units, "started_at", lambda units, run_command: started)
    file = {"path": str(path), "content": "x\n", "unit": "containerd"}
    assert run(file, check=True)["stale_units"] == {"containerd": [str(path)]}
    assert run(file)["stale_units"] == {"containerd": [str(path)]}
    again = run(file)
    assert again["changed"] and again["paths"] == [] and again["stale_units"] == {"containerd": [str(path)]}
    started["containerd"] = path.stat().st_mtime + 1
    assert not run(file)["changed"]
    started.clear()  # not running: it will start with the file
    assert run({**file, "content": "y\n"})["stale_units"] == {}
