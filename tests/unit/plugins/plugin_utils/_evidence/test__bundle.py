# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import gc
import json

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence import _bundle as _bundle_module
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._bundle import load
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Missing

BUNDLE = {
    "format": 1,
    "stage": "host",
    "intent": {"pod_cidr": "10.244.0.0/16"},
    "nodes": {"n2": {}, "n1": {"swap": ""}},
}


def folder(path):
    (path / "nodes").mkdir()
    (path / "bundle.json").write_text(json.dumps({"format": 1, "stage": "host", "intent": BUNDLE["intent"]}))
    (path / "cluster.json").write_text(json.dumps({"version": {}}))
    for name, part in BUNDLE["nodes"].items():
        (path / "nodes" / f"{name}.json").write_text(json.dumps(part))
    return str(path)


def test_a_mapping_a_file_and_a_folder_read_the_same(tmp_path):
    file = tmp_path / "bundle.json"
    file.write_text(json.dumps(BUNDLE))
    (tmp_path / "parts").mkdir()
    for source in (BUNDLE, str(file), folder(tmp_path / "parts")):
        bundle, hosts = load(source)
        assert bundle["intent"] == BUNDLE["intent"]
        assert list(hosts) == ["n1", "n2"]
        assert len(hosts) == 2
        assert [name for name, _host in hosts.read()] == ["n1", "n2"]
        assert hosts["n1"].swap_devices == []
        with pytest.raises(Missing):
            hosts["n3"]


def test_the_cluster_part_of_a_folder_is_read(tmp_path):
    assert load(folder(tmp_path))[0]["cluster"] == {"version": {}}


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\x00"])
def test_a_file_that_is_no_evidence_is_a_sentence_with_its_path(tmp_path, text):
    file = tmp_path / "bundle.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"bundle\.json"):
        load(str(file))


def test_another_format_is_refused():
    with pytest.raises(ValueError, match="format 2"):
        load({"format": 2})


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ({}, "at least one"),
        ({"a": 1}, "at least one"),
        ({"kind": "List", "apiVersion": "v1", "items": []}, "kubectl's List"),
        ({"ip_address": [], "sysctl": {}}, "what one host says"),
    ],
)
def test_a_file_without_evidence_is_refused_with_what_it_is(tmp_path, value, hint):
    file = tmp_path / "bundle.json"
    file.write_text(json.dumps(value))
    with pytest.raises(ValueError, match=rf"bundle\.json holds no evidence.*{hint}"):
        load(str(file))


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no evidence"):
        load(str(tmp_path))


def test_what_was_read_is_not_searched_for_reference_cycles(tmp_path):
    file = tmp_path / "bundle.json"
    file.write_text(json.dumps({"cluster": {"nodes": {"items": [{"metadata": {}}] * 10_000}}}))
    try:
        bundle, _hosts = load(str(file))
        searched = {id(one) for one in gc.get_objects()}
        assert not searched & {id(one) for one in bundle["cluster"]["nodes"]["items"]}
        assert gc.isenabled()
    finally:
        gc.unfreeze()


def test_the_names_that_hosts_register_as_cost_no_second_reading(tmp_path, monkeypatch):
    path = folder(tmp_path)
    (tmp_path / "nodes" / "n2.json").write_text(json.dumps({"hostname": "Worker"}))
    hosts = load(path)[1]
    _looked_at = list(hosts.read())
    read: list[str] = []
    monkeypatch.setattr(_bundle_module, "_read", read.append)
    assert (hosts.registered, read) == ({"n1": "n1", "worker": "n2"}, [])
    monkeypatch.undo()
    assert load(path)[1].registered == hosts.registered
