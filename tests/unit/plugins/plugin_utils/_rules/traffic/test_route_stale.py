# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import kube_node
from rules import findings, healthy


@pytest.mark.parametrize(
    ("route", "told"),
    [
        ({"dst": "10.244.9.0/24", "gateway": "10.244.9.0", "dev": "flannel.1", "flags": ["onlink"]}, True),
        ({"dst": "10.244.9.0/24", "gateway": "192.168.10.19", "dev": "eth0"}, True),
        ({"dst": "10.99.9.0/24", "gateway": "192.168.10.19", "dev": "eth0"}, False),
        ({"dst": "10.244.9.0/24", "type": "blackhole"}, False),
        ({"dst": "10.244.9.0/24", "dev": "br-x", "protocol": "kernel"}, False),
        ({"dst": "10.244.0.0/16", "dev": "flannel-wg", "scope": "link"}, False),
        ({"dst": "10.244.9.0/24", "gateway": "10.0.0.1", "dev": "tailscale0", "table": "52"}, False),
    ],
)
def test_routes_into_the_pod_range(route, told):
    bundle = healthy()
    bundle["nodes"]["node2"]["ip_route"].append(route)
    found = findings("route-stale", bundle)
    assert [(one.severity, one.where) for one in found] == ([("warning", ["node2"])] if told else [])


def test_a_node_whose_flannel_never_ran_is_a_node():
    bundle = healthy()
    kube_node(bundle, "node3")["metadata"]["annotations"] = {}
    assert findings("route-stale", bundle) == []


@pytest.mark.parametrize(
    ("link", "gateway", "repair"), [("flannel.1", "10.244.9.0", "flannel:relink"), ("eth0", "192.168.10.19", None)]
)
def test_only_routes_by_flannels_link_go_with_it(link, gateway, repair):
    bundle = healthy()
    bundle["nodes"]["node2"]["ip_route"].append({"dst": "10.244.9.0/24", "gateway": gateway, "dev": link})
    assert findings("route-stale", bundle)[0].repair == repair
