# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import flannel_pod, not_ready, route
from rules import findings, healthy

MAC = "96:0c:03:5b:b6:5c"  # node3's tunnel


def entry(bundle: dict, key: str, **match: str) -> dict:
    entries = bundle["nodes"]["node2"][key]
    return next(one for one in entries if all(one.get(name) == value for name, value in match.items()))


def test_an_entry_with_a_former_address():
    bundle = healthy()
    entry(bundle, "bridge_fdb", mac=MAC)["dst"] = "192.168.10.99"
    (found,) = findings("fdb-stale", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence == {"node3": f"{MAC} at 192.168.10.99, lease 192.168.10.13"}


def test_a_missing_entry_and_a_wrong_neighbour():
    bundle = healthy()
    bundle["nodes"]["node2"]["bridge_fdb"].remove(entry(bundle, "bridge_fdb", mac=MAC))
    assert "nowhere" in findings("fdb-stale", bundle)[0].evidence["node3"]
    bundle = healthy()
    entry(bundle, "ip_neigh", dst="10.244.2.0")["lladdr"] = "aa:aa:aa:aa:aa:aa"
    assert findings("fdb-stale", bundle)[0].evidence == {"node3": f"neighbour aa:aa:aa:aa:aa:aa, lease {MAC}"}


def test_an_entry_of_a_node_that_is_gone_is_an_info():
    bundle = healthy()
    gone = {"mac": "aa:00:00:00:00:01", "ifname": "flannel.1", "dst": "192.168.10.99", "state": "permanent"}
    bundle["nodes"]["node2"]["bridge_fdb"].append(gone)
    assert [one.severity for one in findings("fdb-stale", bundle)] == ["info"]


def test_peers_that_are_routed_directly_have_no_entry():
    bundle = healthy()
    bundle["nodes"]["node2"]["bridge_fdb"].remove(entry(bundle, "bridge_fdb", mac=MAC))
    route(bundle, "node2", "10.244.2.0/24").update(dev="eth0", gateway="192.168.10.13")
    assert findings("fdb-stale", bundle) == []


def test_nothing_is_told_where_flannel_does_not_run():
    bundle = healthy()
    entry(bundle, "bridge_fdb", mac=MAC)["dst"] = "192.168.10.99"
    not_ready(flannel_pod(bundle))
    assert findings("fdb-stale", bundle) == []
