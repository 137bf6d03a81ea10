# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def test_two_hosts_of_one_name_are_found():
    bundle = healthy("host")
    bundle["nodes"]["node3"]["hostname"] = "Node2"
    (found,) = findings("hostname-duplicate", bundle)
    assert (found.severity, found.where) == ("error", ["node2", "node3"])


def test_one_host_under_two_inventory_names_is_none():
    bundle = healthy("host")
    bundle["nodes"]["again"] = bundle["nodes"]["node2"]
    assert findings("hostname-duplicate", bundle) == []


def test_names_of_their_own_are_fine():
    assert findings("hostname-duplicate", healthy("host")) == []


def test_a_host_without_the_key_is_undetermined_and_the_others_are_judged():
    bundle = healthy("host")
    del bundle["nodes"]["node1"]["hostname"]
    bundle["nodes"]["node3"]["hostname"] = "node2"
    assert [found.where for found in findings("hostname-duplicate", bundle)] == [["node2", "node3"]]
    assert [missed.where for missed in undetermined("hostname-duplicate", bundle)] == [["node1"]]
