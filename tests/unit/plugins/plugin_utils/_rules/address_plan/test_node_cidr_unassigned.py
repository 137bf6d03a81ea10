# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, heard_alone


def without_range(created):
    bundle = healthy()
    node = bundle["cluster"]["nodes"]["items"][2]
    node["spec"].pop("podCIDR")
    node["spec"].pop("podCIDRs")
    node["metadata"]["creationTimestamp"] = created
    return findings("node-cidr-unassigned", bundle)


def test_one_node_without():
    (found,) = without_range("2026-11-30T15:45:50Z")
    assert (found.severity, found.where) == ("error", ["node3"])


def test_a_node_that_just_registered_is_not_reported():
    assert without_range("2026-11-30T15:49:30Z") == []


def test_a_time_that_cannot_be_read_hides_nothing():
    assert len(without_range("yesterday")) == 1


def test_all_with():
    assert findings("node-cidr-unassigned", healthy()) == []


def test_flannels_words_are_enough():
    (found,) = findings("node-cidr-unassigned", heard_alone('failed to acquire lease: node "n4" pod cidr not assigned'))
    assert found.where == ["cluster", "n4"]
