# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def test_ipv6_first_is_a_warning():
    bundle = healthy("intent")
    bundle["intent"].update(pod_cidr="fd00::/56,10.244.0.0/16", service_cidr="10.96.0.0/12,fd00:10:96::/112")
    assert [one.severity for one in findings("family-order", bundle)] == ["warning"]


def test_ipv4_first_and_one_family_are_right():
    assert findings("family-order", healthy("cluster-dual")) == findings("family-order", healthy()) == []
    assert findings("family-order", {"stage": "intent", "intent": {"pod_cidr": "fd00::/56"}}) == []
