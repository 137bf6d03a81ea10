# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, kubeadm_said, undetermined

SWAPS = "Filename\tType\tSize\tUsed\tPriority\n/dev/vda2\tpartition\t2097148\t0\t-2\n"


def test_swap_in_use_is_found_on_its_host():
    bundle = healthy("host")
    bundle["nodes"]["node2"]["swap"] = SWAPS
    (found,) = findings("swap-on", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence == {"/proc/swaps": ["/dev/vda2"]}


def test_many_hosts_are_one_finding():
    bundle = healthy("host")
    for node in bundle["nodes"].values():
        node["swap"] = SWAPS
    (found,) = findings("swap-on", bundle)
    assert found.where == ["node1", "node2", "node3"]


def test_a_kubelet_that_may_swap_is_not_reported():
    bundle = healthy()
    bundle["nodes"]["node2"]["swap"] = SWAPS
    bundle["nodes"]["node2"]["kubelet_config"] = "kind: KubeletConfiguration\nfailSwapOn: false\n"
    assert findings("swap-on", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["swap"]
    (missed,) = undetermined("swap-on", bundle)
    assert (missed.where, missed.key, missed.kind) == (["node2"], "nodes.*.swap", "absent")


def test_kubeadms_words_are_enough():
    words = "[ERROR Swap]: running with swap on is not supported. Please disable swap"
    assert findings("swap-on", kubeadm_said(words, "swap"))[0].where == ["node1"]
    assert findings("swap-on", kubeadm_said(words)) == []
