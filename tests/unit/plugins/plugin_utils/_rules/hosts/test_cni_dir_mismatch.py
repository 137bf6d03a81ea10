# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def folder(key, value, base="cluster"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    node["runtime"][key] = value
    node["cni_bin"] = [name for name in node["cni_bin"] if name != "flannel"]
    return bundle, node


def test_another_plugin_folder():
    bundle, _node = folder("bin_dir", "/usr/libexec/cni")
    (found,) = findings("cni-dir-mismatch", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_before_the_cluster_it_is_a_warning():
    bundle, _node = folder("bin_dir", "/usr/lib/cni", "host")
    assert [found.severity for found in findings("cni-dir-mismatch", bundle)] == ["warning"]


def test_another_configuration_folder():
    bundle, node = folder("conf_dir", "/etc/cni/multus")
    node["cni_config"] = {}
    (found,) = findings("cni-dir-mismatch", bundle)
    assert "/etc/cni/multus" in found.summary


def test_a_folder_in_which_the_plugin_is_all_the_same():
    bundle, node = folder("bin_dir", "/usr/lib/cni")
    node["cni_bin"].append("flannel")
    assert findings("cni-dir-mismatch", bundle) == []


def test_a_trailing_slash_and_a_list_are_no_difference():
    bundle, _node = folder("bin_dir", "/opt/cni/bin/")
    assert findings("cni-dir-mismatch", bundle) == []
    bundle, _node = folder("bin_dir", ["/usr/libexec/cni", "/opt/cni/bin"])
    assert findings("cni-dir-mismatch", bundle) == []


def test_the_manifests_own_path_counts():
    bundle, _node = folder("bin_dir", "/usr/lib/cni")
    volumes = bundle["cluster"]["daemonsets"]["items"][0]["spec"]["template"]["spec"]["volumes"]
    next(one for one in volumes if one["name"] == "cni-plugin")["hostPath"]["path"] = "/usr/lib/cni"
    assert [found.where for found in findings("cni-dir-mismatch", bundle)] == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["runtime"]["bin_dir"]
    assert [missed.key for missed in undetermined("cni-dir-mismatch", bundle)] == ["nodes.*.runtime.bin_dir"]
