# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, kubeadm_said, undetermined

SAID = 'validate CRI v1 runtime API for endpoint "unix:///x": ... unknown service runtime.v1.RuntimeService'


def test_a_runtime_without_cri_is_found():
    bundle = healthy("host")
    bundle["nodes"]["node2"]["runtime"]["cri_disabled"] = True
    (found,) = findings("cri-disabled", bundle)
    assert (found.severity, found.where) == ("warning", ["node2"])
    bundle["nodes"]["node2"]["kubeadm_output"] = SAID
    assert [found.severity for found in findings("cri-disabled", bundle)] == ["error"]


def test_its_own_file_says_so():
    bundle = healthy()
    runtime = bundle["nodes"]["node2"]["runtime"]
    del runtime["cri_disabled"]
    runtime["config"] = 'version = 2\ndisabled_plugins = ["cri"]\n'
    assert findings("cri-disabled", bundle)
    runtime["config"] = "version = 2\ndisabled_plugins = []\n"
    assert findings("cri-disabled", bundle) == []


def test_another_runtime_serves_the_kubelet():
    bundle = healthy("host")
    bundle["nodes"]["node2"]["runtime"]["cri_disabled"] = True
    bundle["intent"]["cri_socket"] = "unix:///var/run/crio/crio.sock"
    assert findings("cri-disabled", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["runtime"]
    assert [missed.key for missed in undetermined("cri-disabled", bundle)] == ["nodes.*.runtime"]


def test_words_of_a_kubelet_that_does_not_get_past_it():
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    del node["runtime"]["cri_disabled"]
    node["journal"]["kubelet"] = SAID
    assert findings("cri-disabled", bundle) == []  # of an earlier try
    node["units"]["kubelet"]["active"] = "activating"
    assert [found.where for found in findings("cri-disabled", bundle)] == [["node2"]]


def test_kubeadms_words_are_enough():
    words = "rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService"
    assert findings("cri-disabled", kubeadm_said(words, "runtime"))[0].where == ["node1"]
