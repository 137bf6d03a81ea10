# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._cni import cni_file, cni_files

FLANNEL = healthy()["nodes"]["node2"]["cni_config"]["10-flannel.conflist"]


def named(**config):
    return cni_file("10-x.conf", json.dumps(config))


def test_a_list_has_its_plugins_and_the_types_of_all_of_them():
    file = cni_file("10-flannel.conflist", FLANNEL)
    assert (file.network, file.is_list, file.fault) == ("cbr0", True, "")
    assert [one.text("type") for one in file.plugins] == file.types == ["flannel", "portmap"]


def test_a_single_configuration_is_its_one_plugin_and_ipam_is_a_type_of_it():
    file = named(name="net", type="macvlan", ipam={"type": "host-local"}, more=[{"type": "x"}, {"type": 7}])
    assert (file.network, file.is_list, len(file.plugins)) == ("net", False, 1)
    assert file.types == ["macvlan", "host-local", "x"]
    assert named(name="net").plugins == []


@pytest.mark.parametrize(
    ("config", "flannel"),
    [
        ({"type": "flannel"}, True),
        ({"plugins": [{"type": "multus", "delegates": [{"type": "flannel"}]}]}, True),
        ({"type": "multus", "clusterNetwork": "/etc/cni/net.d/10-flannel.conflist"}, True),
        ({"type": "multus", "clusterNetwork": "/flannel/10-other.conflist"}, False),
        ({"type": "bridge", "name": "flannel"}, False),
        ({}, False),
    ],
)
def test_whether_flannels_plugin_is_in_it(config, flannel):
    assert named(**config).is_flannel is flannel


@pytest.mark.parametrize(("types", "only"), [(["loopback"], True), (["loopback", "bridge"], False), ([], False)])
def test_whether_it_is_about_lo_alone(types, only):
    assert named(plugins=[{"type": one} for one in types]).loopback_only is only


@pytest.mark.parametrize(
    ("text", "fault"),
    [("{", "no JSON: "), ("", "no JSON: "), ("[" * 100_000, "no JSON: "), ("[]", "a list, no JSON object")],
)
def test_a_file_that_cannot_be_read_says_why_and_is_known_by_its_name(text, fault):
    file = cni_file("10-flannel.conflist", text)
    assert file.fault.startswith(fault)
    assert (file.plugins, file.types, file.is_flannel) == ([], [], True)
    assert not cni_file("10-other.conflist", text).is_flannel


def test_files_come_by_name_and_only_those_that_a_runtime_takes():
    raw = {"b.conf": "{}", "a.conflist": "{}", "C.json": "{}", "README": "{}", "a.conf.bak": "{}", "d.conf": 7, 7: "{}"}
    assert [one.name for one in cni_files(raw)] == ["C.json", "a.conflist", "b.conf"]


@pytest.mark.parametrize("raw", [None, [], "text"])
def test_what_is_no_mapping_raises_a_sentence(raw):
    with pytest.raises(ValueError, match="texts by file name are expected, a "):
        cni_files(raw)
