# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import flannel_pod, link, not_ready
from rules import findings, healthy, heard_of_node2


def test_a_mac_that_was_changed_after_the_annotation():
    bundle = healthy()
    link(bundle, "node2", "flannel.1")["address"] = "c2:3d:9f:11:5a:07"
    (found,) = findings("vtep-mac-changed", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_ipv6_has_its_own_tunnel():
    bundle = healthy("cluster-dual")
    link(bundle, "node1", "flannel-v6.1")["address"] = "c2:3d:9f:11:5a:07"
    assert "flannel-v6.1" in findings("vtep-mac-changed", bundle)[0].summary


def test_upper_case_and_a_flannel_that_does_not_run():
    bundle = healthy()
    link(bundle, "node2", "flannel.1")["address"] = link(bundle, "node2", "flannel.1")["address"].upper()
    assert findings("vtep-mac-changed", bundle) == []
    link(bundle, "node2", "flannel.1")["address"] = "c2:3d:9f:11:5a:07"
    not_ready(flannel_pod(bundle))
    assert findings("vtep-mac-changed", bundle) == []


def test_flannels_words_are_enough():
    words = "flannel.1's mac address wanted: 96:0c:03:5b:b6:5c, but got: 3e:11:22:33:44:55"
    assert findings("vtep-mac-changed", heard_of_node2(words))[0].where == ["node2"]
