# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from rules import findings, healthy, undetermined


def conf(change, name="10-flannel.conflist"):
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    value = json.loads(node["cni_config"].pop("10-flannel.conflist"))
    change(value)
    node["cni_config"][name] = json.dumps(value)
    return bundle, node


def test_no_version():
    bundle, _node = conf(lambda value: value.pop("cniVersion"))
    (found,) = findings("cni-version-unsupported", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


@pytest.mark.parametrize("version", ["0.3.1", "0.4.0", "1.0.0", "1.1.0"])
def test_versions_of_the_specification(version):
    bundle, _node = conf(lambda value: value.update(cniVersion=version))
    assert findings("cni-version-unsupported", bundle) == []


def test_a_version_that_never_was():
    bundle, _node = conf(lambda value: value.update(cniVersion="2.7"))
    assert findings("cni-version-unsupported", bundle)


def test_plugins_that_are_older_than_the_configuration():
    bundle, node = conf(lambda value: value.update(cniVersion="1.1.0"))
    node["packages"]["kubernetes-cni"]["version"] = "1.5.1-1.1"
    (found,) = findings("cni-version-unsupported", bundle)
    assert "1.0.0" in found.summary
    node["packages"]["kubernetes-cni"]["version"] = "1:1.8.0-1"
    assert findings("cni-version-unsupported", bundle) == []


def test_a_list_in_a_file_for_one_plugin():
    bundle, _node = conf(lambda value: None, "10-flannel.conf")
    assert findings("cni-version-unsupported", bundle)


def test_another_networks_file_is_not_judged_here():
    bundle = healthy()
    bundle["nodes"]["node2"]["cni_config"]["87-podman.conflist"] = '{"name": "podman", "plugins": [{"type": "bridge"}]}'
    assert findings("cni-version-unsupported", bundle) == []


def test_from_the_api_alone():
    bundle = healthy()
    bundle["nodes"] = {}
    text = json.loads(bundle["cluster"]["flannel_config"]["cni-conf.json"])
    del text["cniVersion"]
    bundle["cluster"]["flannel_config"]["cni-conf.json"] = json.dumps(text)
    assert [found.where for found in findings("cni-version-unsupported", bundle)] == [["cluster"]]


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["cni_config"]
    assert [missed.key for missed in undetermined("cni-version-unsupported", bundle)] == ["nodes.*.cni_config"]
