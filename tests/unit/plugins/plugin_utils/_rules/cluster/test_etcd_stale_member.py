# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def with_member(**member) -> dict:
    bundle = healthy()
    bundle["cluster"]["etcd_members"]["members"].append({"ID": 9372538179322589801, **member})
    return bundle


def test_a_member_of_a_node_that_is_gone():
    (found,) = findings("etcd-stale-member", with_member(name="node9", peerURLs=["https://192.168.10.19:2380"]))
    assert (found.severity, found.where) == ("error", ["cluster"])
    assert found.evidence["ID"] == "8211f1d0f64f3269"


def test_a_member_that_never_started():
    (found,) = findings("etcd-stale-member", with_member(peerURLs=["https://192.168.10.13:2380"]))
    assert "192.168.10.13" in found.summary


def test_a_member_under_another_name_at_a_nodes_address():
    assert findings("etcd-stale-member", with_member(name="cp2", peerURLs=["https://192.168.10.12:2380"])) == []


def test_external_etcd():
    bundle = with_member(name="etcd1", peerURLs=["https://10.9.9.9:2380"])
    bundle["cluster"]["kubeadm_config"] += "etcd:\n  external:\n    endpoints: ['https://10.9.9.9:2379']\n"
    assert findings("etcd-stale-member", bundle) == []
    bundle = healthy()
    bundle["cluster"]["etcd_members"]["members"] = [{"ID": 1, "name": "e1", "peerURLs": ["https://10.9.9.9:2380"]}]
    assert findings("etcd-stale-member", bundle) == []


def test_kubeadms_words_are_enough():
    bundle = healthy()
    bundle["cluster"].pop("etcd_members")
    words = "etcd cluster is not healthy: failed to dial endpoint https://192.168.10.19:2379 with maintenance client"
    bundle["nodes"]["node2"]["kubeadm_output"] = words
    assert findings("etcd-stale-member", bundle)[0].where == ["cluster"]
    bundle["nodes"]["node2"]["kubeadm_output"] = words.replace("10.19", "10.11")
    assert findings("etcd-stale-member", bundle) == []
