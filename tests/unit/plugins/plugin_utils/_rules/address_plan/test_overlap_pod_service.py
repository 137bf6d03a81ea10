# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("pod", "service"),
    [
        ("10.100.0.0/16", "10.96.0.0/12"),
        ("10.0.0.0/8", "10.96.0.0/12"),
        ("10.96.0.0/12", "10.96.0.0/12"),
        ("10.244.0.0/16,fd00:10::/48", "10.96.0.0/12,fd00:10:0:5::/108"),
    ],
)
def test_ranges_that_meet_are_found_in_the_intent(pod, service):
    bundle = healthy("intent")
    bundle["intent"].update(pod_cidr=pod, service_cidr=service)
    (found,) = findings("overlap-pod-service", bundle)
    assert (found.severity, found.where) == ("error", ["intent"])


def test_kubeadms_default_service_range_counts_where_none_is_set():
    bundle = healthy("intent")
    bundle["intent"]["pod_cidr"] = "10.100.0.0/16"
    del bundle["intent"]["service_cidr"]
    assert len(findings("overlap-pod-service", bundle)) == 1


def test_ranges_side_by_side_are_apart():
    bundle = healthy("intent")
    bundle["intent"].update(pod_cidr="10.112.0.0/12", service_cidr="10.96.0.0/12")
    assert findings("overlap-pod-service", bundle) == []


def test_a_running_cluster_is_judged_by_its_own_ranges():
    bundle = healthy()
    del bundle["intent"]
    config = bundle["cluster"]["kubeadm_config"]
    bundle["cluster"]["kubeadm_config"] = config.replace("10.244.0.0/16", "10.100.0.0/16")
    (found,) = findings("overlap-pod-service", bundle)
    assert found.where == ["cluster"]
