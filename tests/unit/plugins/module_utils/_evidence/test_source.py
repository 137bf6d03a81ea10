# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import (
    Missing,
    Result,
    Source,
    run_command,
)


def test_a_command_that_hangs_ends_at_its_limit_with_its_children():
    began = time.monotonic()
    with pytest.raises(Missing, match="did not end within 0.3 s"):
        run_command(["sh", "-c", "sleep 20 & wait"], seconds=0.3)
    assert time.monotonic() - began < 3


def test_a_command_that_is_not_there_is_missing():
    with pytest.raises(Missing, match="no-such-tool is not installed"):
        run_command(["no-such-tool"])


def test_a_command_speaks_the_c_locale_and_reads_nothing():
    assert run_command(["sh", "-c", "cat; echo $LC_ALL"]).stdout == "C.UTF-8\n"


def test_a_failure_names_the_command_and_its_last_words():
    source = Source("/nowhere", run=lambda argv: Result(2, "", "first\nlast\n"))
    with pytest.raises(Missing, match="'ip rule' failed with 2: last"):
        source.output("ip", "rule")


def test_a_command_runs_once_and_a_reason_is_kept(tmp_path):
    calls = []

    def run(argv):
        calls.append(argv)
        raise Missing("gone")

    source = Source(str(tmp_path), run)
    for _unused in range(2):
        with pytest.raises(Missing, match="gone"):
            source.output("ip", "rule")
    assert len(calls) == 1


def test_what_is_no_json_is_missing_and_nothing_is_an_empty_list():
    assert Source("/", run=lambda argv: Result(0, "\n", "")).json("ip") == []
    with pytest.raises(Missing, match="did not answer JSON"):
        Source("/", run=lambda argv: Result(0, "BusyBox v1.36\n", "")).json("ip")


def test_no_file_is_the_default_and_a_folder_in_its_place_is_missing(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    source = Source(str(tmp_path))
    assert source.read_or("/none", "x") == source.read_or("/link", "x") == source.read_or("/none/below", "x") == "x"
    with pytest.raises(Missing, match="/folder: Is a directory"):
        source.read_or("/folder", "x")


def test_an_earlier_folder_hides_a_file_of_the_same_name(tmp_path):
    for folder, text in (("a", "first"), ("b", "second")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.conf").write_text(text)
    (tmp_path / "b" / "y.conf").write_text("only")
    assert Source(str(tmp_path)).texts(["/a", "/none", "/b"], (".conf",)) == {"x.conf": "first", "y.conf": "only"}
