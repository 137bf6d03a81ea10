# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize("pod", ["172.168.0.0/16", "11.0.0.0/16", "2001:db8::/56", "0.0.0.0/2"])
def test_public_space_is_a_warning(pod):
    bundle = healthy("intent")
    bundle["intent"]["pod_cidr"] = pod
    assert [one.severity for one in findings("cidr-public", bundle)] == ["warning"]


@pytest.mark.parametrize("pod", ["127.0.0.0/16", "224.0.0.0/16", "169.254.0.0/20", "fe80::/56", "240.0.0.0/12"])
def test_space_that_no_host_can_have_is_an_error(pod):
    bundle = healthy("intent")
    bundle["intent"]["pod_cidr"] = pod
    assert [one.severity for one in findings("cidr-public", bundle)] == ["error"]


@pytest.mark.parametrize("pod", ["10.0.0.0/9", "172.31.0.0/16", "192.168.0.0/16", "100.127.0.0/16", "fd00::/48"])
def test_private_shared_and_unique_local_space_is_right(pod):
    bundle = healthy("intent")
    bundle["intent"]["pod_cidr"] = pod
    assert findings("cidr-public", bundle) == []
