# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

from edits import NODES, flannel_pod, not_ready
from rules import findings, healthy


def configured(**changes) -> dict:
    bundle = healthy()
    conf = {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}, **changes}
    bundle["cluster"]["flannel_config"]["net-conf.json"] = json.dumps(conf)
    return bundle


def test_a_network_that_flannel_does_not_run_with_yet():
    (found,) = findings("flannel-restart-pending", configured(Network="10.244.0.0/15"))
    assert (found.severity, found.where) == ("warning", NODES)
    assert found.evidence == {"subnet.env FLANNEL_NETWORK": "10.244.0.0/16", "net-conf.json": "10.244.0.0/15"}


def test_a_backend_and_a_vni_that_flannel_does_not_run_with_yet():
    (found,) = findings("flannel-restart-pending", configured(Backend={"Type": "wireguard"}))
    assert found.where == NODES
    (found,) = findings("flannel-restart-pending", configured(Backend={"Type": "vxlan", "VNI": 4096}))
    assert found.evidence == {"in use": "1", "net-conf.json": "4096"}


def test_a_port_that_flannel_does_not_run_with_yet():
    (found,) = findings("flannel-restart-pending", configured(Backend={"Type": "vxlan", "Port": 4789}))
    assert found.evidence == {"link": 8472, "net-conf.json": 4789}


def test_host_bits_and_the_default_vni_are_no_change():
    bundle = configured(Network="10.244.7.0/16", Backend={"Type": "vxlan", "VNI": 1})
    assert findings("flannel-restart-pending", bundle) == []


def test_a_node_whose_flannel_does_not_run_is_not_reported():
    bundle = configured(Network="10.244.0.0/15")
    not_ready(flannel_pod(bundle, "node2"))
    assert findings("flannel-restart-pending", bundle)[0].where == ["node1", "node3"]


def test_a_subnet_env_that_is_gone_under_a_flannel_that_runs():
    bundle = healthy()
    bundle["nodes"]["node2"]["subnet_env"] = ""
    (found,) = findings("flannel-restart-pending", bundle)
    assert (found.severity, found.where, found.repair) == ("error", ["node2"], "flannel:restart")
    not_ready(flannel_pod(bundle, "node2"))
    assert findings("flannel-restart-pending", bundle) == []
