# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules and routes are read where a packet first meets them; what cannot be read is bad evidence, and no fault."""

from __future__ import annotations

import pytest
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._forwarding import arriving, forwarding
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View


def spoilt(key, value):
    bundle = healthy("cluster")
    bundle["nodes"]["node2"][key] = value
    seen = View(bundle)
    return seen.nodes["node2"], seen


def test_a_healthy_host_drops_nothing():
    node, seen = spoilt("taken", None)
    assert forwarding(node, seen).drops == () and forwarding(node, seen).unknown == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ip_route", [{"dst": "10.244.0.0/24", "dev": "flannel.1", "metric": "much"}]),
        ("ip_route", 7),
        ("nft", {"a": 1}),
    ],
)
def test_what_cannot_be_read(key, value):
    node, seen = spoilt(key, value)
    with pytest.raises(Malformed):
        forwarding(node, seen)


def test_what_cannot_be_read_of_arriving_packets():
    node, seen = spoilt("nft", {"a": 1})
    with pytest.raises(Malformed):
        list(arriving(node, seen, "udp", 8472))
