# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, heard_alone, undetermined


def with_network(network: str) -> dict:
    bundle = healthy()
    config = bundle["cluster"]["flannel_config"]
    config["net-conf.json"] = config["net-conf.json"].replace("10.244.0.0/16", network)
    return bundle


def test_a_network_beside_the_nodes_ranges():
    (found,) = findings("flannel-network-mismatch", with_network("10.42.0.0/16"))
    assert (found.severity, found.where) == ("error", ["cluster"])
    assert found.evidence["pod ranges of nodes"] == {
        "node1": "10.244.0.0/24",
        "node2": "10.244.1.0/24",
        "node3": "10.244.2.0/24",
    }


@pytest.mark.parametrize("network", ["10.244.0.0/16", "10.244.7.0/16", "10.240.0.0/12"])
def test_a_network_that_contains_them_is_right(network):
    assert findings("flannel-network-mismatch", with_network(network)) == []


def test_a_users_own_net_conf_is_compared_before_there_is_a_cluster():
    bundle = healthy("intent")
    bundle["intent"]["net_conf"] = '{"Network": "10.42.0.0/16", "Backend": {"Type": "vxlan"}}'
    (found,) = findings("flannel-network-mismatch", bundle)
    assert found.where == ["intent"]


@pytest.mark.parametrize("text", ["", "{", "[]", '"10.244.0.0/16"'])
def test_a_text_that_cannot_be_read_is_undetermined(text):
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = text
    (missed,) = undetermined("flannel-network-mismatch", bundle)
    assert missed.kind == "malformed"


def test_flannels_words_are_enough():
    (found,) = findings(
        "flannel-network-mismatch",
        heard_alone(
            'failed to acquire lease: subnet "10.244.0.0/16" specified in the flannel net config doesn\'t contain '
            '"10.5.1.0/24" PodCIDR of the "node2" node'
        ),
    )
    assert found.where == ["cluster"]
    assert found.evidence["Network"] == ["10.244.0.0/16"]
