# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import link, route
from rules import findings, healthy


def managed_by(name: str, **config: dict) -> dict:
    bundle = healthy()
    bundle["nodes"]["node2"]["units"][name] = {"active": "active", "enabled": "enabled"}
    bundle["nodes"]["node2"].update(config)
    return bundle


def test_dhcpcd_that_took_the_tunnel():
    bundle = managed_by("dhcpcd")
    link(bundle, "node2", "flannel.1")["addr_info"].append(
        {"family": "inet", "local": "169.254.77.12", "prefixlen": 16}
    )
    bundle["nodes"]["node2"]["ip_route"].insert(0, {"dst": "default", "dev": "flannel.1", "scope": "link"})
    (found,) = findings("host-network-manager", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert len(found.evidence["seen"]) == 2


def test_a_bridge_that_lost_its_address():
    bundle = managed_by("NetworkManager", network_manager_conf={"NetworkManager.conf": "[main]\n"})
    link(bundle, "node2", "cni0")["addr_info"] = []
    assert findings("host-network-manager", bundle)[0].severity == "error"
    bundle["nodes"]["node2"]["units"]["NetworkManager"]["active"] = "inactive"
    assert findings("host-network-manager", bundle) == []


def test_a_manager_that_leaves_the_links_alone_is_an_info():
    bundle = managed_by("NetworkManager", network_manager_conf={})
    assert [one.severity for one in findings("host-network-manager", bundle)] == ["info"]


def test_networkd_and_routes_that_are_gone():
    bundle = managed_by("systemd-networkd", networkd_conf={"networkd.conf": "[Network]\n"})
    bundle["nodes"]["node2"]["ip_route"].remove(route(bundle, "node2", "10.244.2.0/24"))
    assert [one.severity for one in findings("host-network-manager", bundle)] == ["warning"]
    bundle["nodes"]["node2"]["networkd_conf"] = {"networkd.conf": "[Network]\nManageForeignRoutes = no\n"}
    assert findings("host-network-manager", bundle) == []


def test_managers_that_are_told_not_to():
    unmanaged = "[keyfile]\nunmanaged-devices=interface-name:cni0;interface-name:flannel*;interface-name:veth*\n"
    bundle = managed_by("NetworkManager", network_manager_conf={"calm.conf": unmanaged})
    assert findings("host-network-manager", bundle) == []
    bundle = managed_by("systemd-networkd", networkd_conf={"10-eth0.network": "[Match]\nName=eth0\n"})
    assert findings("host-network-manager", bundle) == []
    bundle = managed_by("systemd-networkd", networkd_conf={"all.network": "[Match]\nName=*\n[Network]\nDHCP=yes\n"})
    assert [one.severity for one in findings("host-network-manager", bundle)] == ["info"]
