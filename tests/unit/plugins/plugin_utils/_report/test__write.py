# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import stat

import pytest
from reports import HOSTILE, broken
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._write import FILES, save_bundle, write_report
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View


def test_every_form_is_written_for_its_owner(tmp_path):
    view, verdict = broken(healthy("cluster"))
    written = write_report(str(tmp_path / "a" / "b"), view, verdict)
    assert [os.path.basename(path) for path in written] == list(FILES) and sorted(
        os.listdir(tmp_path / "a" / "b")
    ) == sorted(FILES)
    for path in written:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
    assert json.loads((tmp_path / "a/b/report.json").read_text())["schema"] == 1


def test_the_evidence_that_is_written_judges_the_same(tmp_path):
    bundle = healthy("cluster")
    view, verdict = broken(bundle)
    write_report(str(tmp_path), view, verdict)
    assert json.loads((tmp_path / "evidence.json").read_text()) == bundle


@pytest.mark.parametrize("name", ["one.json", "folder"])
def test_a_saved_bundle_reads_back(tmp_path, name):
    bundle = healthy("cluster")
    save_bundle(str(tmp_path / name), View(bundle))
    read = View(str(tmp_path / name))
    assert list(read.nodes) == list(bundle["nodes"])
    assert read.nodes["node2"].raw == bundle["nodes"]["node2"]
    assert name == "one.json" or stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o750
    assert read.cluster.raw == bundle["cluster"] and read.bundle["taken_at"] == bundle["taken_at"]


def test_a_folder_bundle_becomes_one_file(tmp_path):
    bundle = healthy("cluster")
    save_bundle(str(tmp_path / "folder"), View(bundle))
    save_bundle(str(tmp_path / "one.json"), View(str(tmp_path / "folder")))
    assert json.loads((tmp_path / "one.json").read_text()) == bundle


def test_evidence_without_hosts_or_cluster_is_written(tmp_path):
    save_bundle(str(tmp_path / "x.json"), View({"intent": {"pod_cidr": "10.0.0.0/16"}}))
    assert json.loads((tmp_path / "x.json").read_text()) == {
        "format": 1, "stage": "intent", "intent": {"pod_cidr": "10.0.0.0/16"}, "nodes": {},
    }  # fmt: skip


def test_a_token_in_the_intent_is_not_saved(tmp_path):
    text = (
        "kind: InitConfiguration\nbootstrapTokens:\n- token: abcdef.0123456789abcdef\ncertificateKey: s3cr3tPLANTED\n"
    )
    save_bundle(str(tmp_path / "x.json"), View({"intent": {"kubeadm_config": text}}))
    saved = (tmp_path / "x.json").read_text()
    assert "InitConfiguration" in saved and "abcdef.0123" not in saved and "s3cr3t" not in saved


def test_a_host_name_that_leads_out_of_the_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be the name of a file"):
        save_bundle(str(tmp_path / "f"), View({"nodes": {"../../x": {"hostname": "x"}}}))


def test_hostile_evidence_is_still_json(tmp_path):
    view, verdict = broken(healthy("cluster"), HOSTILE + "\ud800")
    write_report(str(tmp_path), view, verdict)
    assert HOSTILE + "\ud800" in json.loads((tmp_path / "evidence.json").read_text())["nodes"]


def test_a_file_that_cannot_be_made_leaves_no_part_of_it(tmp_path):
    target = tmp_path / "report.json"
    target.mkdir()
    view, verdict = broken(healthy("cluster"))
    with pytest.raises(OSError):
        write_report(str(tmp_path), view, verdict)
    assert os.listdir(tmp_path) == ["report.json"]
