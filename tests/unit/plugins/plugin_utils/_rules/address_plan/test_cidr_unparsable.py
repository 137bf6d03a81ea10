# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize("text", ["192.168.0.0./16", "10.244.0.0", "10.244.0.0/33", "10.244.0.0/255.255.0.0", "pods"])
@pytest.mark.parametrize("key", ["pod_cidr", "service_cidr"])
def test_a_text_that_is_no_network(key, text):
    bundle = healthy("intent")
    bundle["intent"][key] = text
    (found,) = findings("cidr-unparsable", bundle)
    assert (found.severity, found.where) == ("error", ["intent"])
    assert text in found.summary


@pytest.mark.parametrize("value", [7, {"a": 1}, True])
def test_a_value_that_is_no_text_is_found_too(value):
    bundle = healthy("intent")
    bundle["intent"]["pod_cidr"] = value
    assert len(findings("cidr-unparsable", bundle)) == 1


def test_an_address_of_cluster_dns_that_is_none():
    bundle = healthy("intent")
    bundle["intent"]["cluster_dns"] = "10.96.0"
    assert "10.96.0" in findings("cidr-unparsable", bundle)[0].summary


def test_a_running_cluster_of_two_families_is_right():
    assert findings("cidr-unparsable", healthy("cluster-dual")) == []
