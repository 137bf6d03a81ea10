# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("pod", "service", "count"),
    [
        ("10.244.0.0/16", "10.96.0.0/12", 0),
        ("fd00::/56", "10.96.0.0/12", 1),
        ("10.244.0.0/16,fd00::/56", "10.96.0.0/12", 1),
        ("10.244.0.0/16,fd00::/56", "fd00:10:96::/112,10.96.0.0/12", 0),
        ("10.244.0.0/16,10.245.0.0/16", "10.96.0.0/12", 1),
        ("10.244.0.0/16", "10.96.0.0/16,10.97.0.0/16", 1),
    ],
)
def test_the_families_of_both(pod, service, count):
    bundle = healthy("intent")
    bundle["intent"].update(pod_cidr=pod, service_cidr=service)
    assert [one.severity for one in findings("family-mismatch", bundle)] == ["error"] * count


def test_ipv6_pods_with_kubeadms_default_services_do_not_fit():
    assert len(findings("family-mismatch", {"stage": "intent", "intent": {"pod_cidr": "fd00::/56"}})) == 1


def test_a_node_has_one_range_of_each_family():
    bundle = healthy("cluster")
    spec = bundle["cluster"]["nodes"]["items"][2]["spec"]
    spec["podCIDRs"] = [spec["podCIDR"], "10.244.201.0/24", "10.244.202.0/24"]
    (found,) = findings("family-mismatch", bundle)
    assert found.where == [bundle["cluster"]["nodes"]["items"][2]["metadata"]["name"]]
    assert "several pod ranges of one family" in found.summary


def test_a_node_with_a_range_of_each_family_is_as_it_should_be():
    bundle = healthy("cluster")
    spec = bundle["cluster"]["nodes"]["items"][2]["spec"]
    spec["podCIDRs"] = [spec["podCIDR"], "fd42:0:0:3::/64"]
    assert findings("family-mismatch", bundle) == []
