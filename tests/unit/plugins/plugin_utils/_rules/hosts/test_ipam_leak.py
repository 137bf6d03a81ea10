# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def leaked(count, network="cbr0"):
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    leases = node["cni_ipam"].setdefault(network, {})
    for last in range(4, 4 + count):
        leases[f"10.244.1.{last}"] = f"{last:064x}"
    return bundle, node


def test_a_range_used_up_by_pods_that_are_gone():
    bundle, _node = leaked(251)
    (found,) = findings("ipam-leak", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_many_leaks_are_a_warning_and_few_are_nothing():
    assert [found.severity for found in findings("ipam-leak", leaked(40)[0])] == ["warning"]
    assert findings("ipam-leak", leaked(3)[0]) == []


def test_a_range_used_up_by_living_pods_is_another_code():
    bundle, node = leaked(251)
    node["sandboxes"] += [{"id": owner, "ip": ip} for ip, owner in node["cni_ipam"]["cbr0"].items()]
    assert findings("ipam-leak", bundle) == []


def test_the_interface_behind_the_container_is_no_part_of_it():
    bundle, node = leaked(0)
    node["cni_ipam"]["cbr0"] = {ip: f"{owner}\neth0" for ip, owner in node["cni_ipam"]["cbr0"].items()}
    assert findings("ipam-leak", bundle) == []


def test_another_networks_leases_are_its_own():
    assert findings("ipam-leak", leaked(60, "podman")[0]) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["sandboxes"]
    assert [missed.key for missed in undetermined("ipam-leak", bundle)] == ["nodes.*.sandboxes"]
