# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from rules import findings, healthy, heard_alone


def dual(**changes):
    bundle = healthy("cluster-dual")
    config = bundle["cluster"]["flannel_config"]
    conf = {**json.loads(config["net-conf.json"]), **changes}
    config["net-conf.json"] = json.dumps({key: value for key, value in conf.items() if value is not None})
    return findings("flannel-ipv6-mismatch", bundle)


@pytest.mark.parametrize(
    "changes", [{"EnableIPv6": False}, {"EnableIPv6": None}, {"IPv6Network": None}, {"IPv6Network": "fd99::/56"}]
)
def test_dual_stack_nodes_against_flannel_without_their_ipv6(changes):
    (found,) = dual(**changes)
    assert (found.severity, found.where) == ("error", ["cluster"])


def test_a_right_dual_stack_cluster():
    assert dual() == []


def test_flannel_with_ipv6_on_nodes_without():
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = (
        '{"Network": "10.244.0.0/16", "EnableIPv6": true, "IPv6Network": "fd00::/56", "Backend": {"Type": "vxlan"}}'
    )
    assert len(findings("flannel-ipv6-mismatch", bundle)) == 1


def test_an_ipv6_plan_with_ipv4_left_on():
    intent = {"pod_cidr": "fd00:10:244::/56", "service_cidr": "fd00:10:96::/112"}
    intent["net_conf"] = '{"EnableIPv6": true, "IPv6Network": "fd00:10:244::/56", "Backend": {"Type": "vxlan"}}'
    assert "EnableIPv4" in findings("flannel-ipv6-mismatch", {"stage": "intent", "intent": intent})[0].summary


@pytest.mark.parametrize(
    "words",
    [
        'subnet "fd1::/48" in the flannel net config doesn\'t contain "fd02::/64" IPv6 PodCIDR of the "n" node',
        'subnet "fd02::/64" specified in the PodCIDR, but doesn\'t exist in the flannel net config of the "n" node',
    ],
)
def test_flannels_words_are_enough(words):
    assert findings("flannel-ipv6-mismatch", heard_alone(words))[0].where == ["cluster"]
