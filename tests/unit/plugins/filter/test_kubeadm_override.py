# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.podnet.kubeadm.plugins.filter.kubeadm_override import FilterModule

kubeadm_override = FilterModule().filters()["kubeadm_override"]


@pytest.mark.parametrize("over", [None, {}])
def test_without_an_override_it_is_the_base(over):
    assert kubeadm_override({"a": 1}, over, "cluster_kubelet_config") == {"a": 1}


def test_what_is_given_comes_over_the_base_which_stays():
    base = {"failSwapOn": True, "maxPods": 110}
    assert kubeadm_override(base, {"failSwapOn": False}, "cluster_kubelet_config") == {
        "failSwapOn": False,
        "maxPods": 110,
    }
    assert base == {"failSwapOn": True, "maxPods": 110}


def test_what_is_refused_is_an_error_of_a_filter_that_names_the_variable():
    with pytest.raises(AnsibleFilterError, match="cluster_kubelet_config"):
        kubeadm_override({"kind": "KubeletConfiguration"}, {"clusterDNS": ["10.0.0.1"]}, "cluster_kubelet_config")
