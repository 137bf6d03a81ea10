# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def same(key, *names, base="host"):
    bundle = healthy(base)
    for name in names:
        bundle["nodes"][name][key] = bundle["nodes"][names[0]][key]
    return bundle


def test_clones_are_found():
    (found,) = findings("machine-id-duplicate", same("machine_id", "node1", "node3"))
    assert (found.severity, found.where) == ("error", ["node1", "node3"])


def test_a_shared_product_uuid_alone_is_a_warning():
    (found,) = findings("machine-id-duplicate", same("product_uuid", "node1", "node2"))
    assert found.severity == "warning"


def test_what_a_board_without_an_identity_says_is_information():
    bundle = healthy("host")
    for node in bundle["nodes"].values():
        node["product_uuid"] = "03000200-0400-0500-0006-000700080009"
    (found,) = findings("machine-id-duplicate", bundle)
    assert found.severity == "info"


def test_clones_with_one_board_are_told_once():
    bundle = same("machine_id", "node1", "node2")
    bundle["nodes"]["node2"]["product_uuid"] = bundle["nodes"]["node1"]["product_uuid"]
    assert len(findings("machine-id-duplicate", bundle)) == 1


def test_empty_ids_are_nobodys():
    bundle = healthy("host")
    for node in bundle["nodes"].values():
        node["machine_id"] = ""
    assert findings("machine-id-duplicate", bundle) == []


def test_one_host_under_two_inventory_names_is_none():
    bundle = healthy("host")
    bundle["nodes"]["again"] = bundle["nodes"]["node2"]
    assert findings("machine-id-duplicate", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["machine_id"]
    assert [missed.key for missed in undetermined("machine-id-duplicate", bundle)] == ["nodes.*.machine_id"]


def test_containers_of_one_host_share_its_board():
    bundle = same("product_uuid", "node1", "node2")
    for node in bundle["nodes"].values():
        node["boot_id"] = "one-kernel"
    assert findings("machine-id-duplicate", bundle)[0].severity == "info"
