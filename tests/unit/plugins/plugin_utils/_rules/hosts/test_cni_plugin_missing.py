# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


def without(name, base="cluster"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    node["cni_bin"] = [one for one in node["cni_bin"] if one != name]
    return bundle, node


@pytest.mark.parametrize("name", ["flannel", "bridge", "host-local", "portmap", "loopback"])
def test_each_plugin_of_flannels_configuration(name):
    bundle, _node = without(name)
    (found,) = findings("cni-plugin-missing", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence["absent"] == [name]
    assert found.repair == ("flannel:restart" if name == "flannel" else "kubernetes_packages:cni_plugins")


def test_flannels_own_plugin_comes_with_flannel():
    assert findings("cni-plugin-missing", healthy("host")) == []
    bundle, node = without("flannel")
    node["cni_config"] = {}
    assert findings("cni-plugin-missing", bundle) == []


def test_a_plugin_that_the_configuration_does_not_call():
    bundle, _node = without("bandwidth")
    assert findings("cni-plugin-missing", bundle) == []


def test_a_runtime_with_its_own_loopback():
    bundle, node = without("loopback")
    node["runtime"]["config"] = "use_internal_loopback = true\n"
    assert findings("cni-plugin-missing", bundle) == []


def test_a_plugin_that_cannot_be_run():
    bundle = healthy()
    said = "fork/exec /opt/cni/bin/bridge: exec format error"
    bundle["nodes"]["node2"]["journal"]["containerd"] = said
    (found,) = findings("cni-plugin-missing", bundle)
    assert found.summary == "the plugin bridge cannot be run: exec format error"


def test_before_the_cluster_an_empty_folder_is_a_warning():
    bundle = healthy("host")
    bundle["nodes"]["node2"]["cni_bin"] = []
    (found,) = findings("cni-plugin-missing", bundle)
    assert found.severity == "warning"
    assert found.evidence["absent"] == ["loopback", "bridge", "host-local", "portmap"]


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["cni_bin"]
    assert [missed.key for missed in undetermined("cni-plugin-missing", bundle)] == ["nodes.*.cni_bin"]
