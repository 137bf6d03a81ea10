# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def forgotten(base="cluster"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    node["modules_persistent"] = ["overlay"]
    return bundle, node


def test_br_netfilter_that_no_file_names_is_a_warning():
    bundle, _node = forgotten()
    (found,) = findings("module-not-persistent", bundle)
    assert (found.severity, found.where) == ("warning", ["node2"])


def test_a_module_that_is_not_there_at_all_has_another_code():
    bundle, node = forgotten()
    node["modules"].remove("br_netfilter")
    assert findings("module-not-persistent", bundle) == []


def test_a_kernel_that_has_it_built_in_forgets_nothing():
    bundle, node = forgotten()
    node["modules_available"] = []
    assert findings("module-not-persistent", bundle) == []


def test_docker_loads_it():
    bundle, node = forgotten("cluster-docker")
    assert findings("module-not-persistent", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["modules_persistent"]
    assert [missed.key for missed in undetermined("module-not-persistent", bundle)] == ["nodes.*.modules_persistent"]
