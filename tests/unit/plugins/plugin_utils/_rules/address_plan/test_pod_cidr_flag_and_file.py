# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy

FILE = "kind: ClusterConfiguration\nnetworking:\n  podSubnet: 10.244.0.0/16\n"


@pytest.mark.parametrize(
    "intent",
    [
        {"pod_network_cidr_flag": "10.244.0.0/16", "kubeadm_config": FILE},
        {"pod_network_cidr_flag": "10.244.0.0/16", "kubeadm_config": "kind: InitConfiguration\n"},
        {"pod_cidr": "10.244.0.0/16", "kubeadm_config": FILE},
        {"pod_cidr": "10.244.0.0/16", "pod_network_cidr_flag": "10.244.0.0/16"},
    ],
)
def test_two_places(intent):
    (found,) = findings("pod-cidr-flag-and-file", {"stage": "intent", "intent": intent})
    assert (found.severity, found.where) == ("error", ["intent"])


@pytest.mark.parametrize("intent", [{"kubeadm_config": FILE}, {"pod_network_cidr_flag": "10.1.0.0/16"}])
def test_one_place(intent):
    assert findings("pod-cidr-flag-and-file", {"stage": "intent", "intent": intent}) == []


def test_the_collections_variable_alone():
    assert findings("pod-cidr-flag-and-file", healthy("intent")) == []
