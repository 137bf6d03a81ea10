# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def two(base="host"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["runtime"]["sockets"].append("unix:///var/run/crio/crio.sock")
    del bundle["intent"]["cri_socket"]
    return bundle


def test_two_runtimes_and_none_chosen():
    (found,) = findings("cri-socket-ambiguous", two())
    assert (found.severity, found.where) == ("error", ["node2"])


def test_chosen_by_the_inventory():
    bundle = two()
    bundle["intent"]["cri_socket"] = "unix:///run/containerd/containerd.sock"
    assert findings("cri-socket-ambiguous", bundle) == []


def test_a_member_is_told_already():
    assert findings("cri-socket-ambiguous", two("cluster")) == []


def test_unless_kubeadm_stopped_at_it():
    bundle = two("cluster")
    bundle["nodes"]["node2"]["kubeadm_output"] = "Found multiple CRI endpoints on the host."
    assert findings("cri-socket-ambiguous", bundle)


def test_docker_and_podman_speak_no_cri():
    bundle = two()
    bundle["nodes"]["node2"]["runtime"]["sockets"][1:] = ["unix:///run/docker.sock", "unix:///run/podman/podman.sock"]
    assert findings("cri-socket-ambiguous", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = two()
    del bundle["nodes"]["node2"]["runtime"]
    assert [missed.key for missed in undetermined("cri-socket-ambiguous", bundle)] == ["nodes.*.runtime"]
