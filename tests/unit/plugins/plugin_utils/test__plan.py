# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._cluster import Cluster
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._intent import Intent
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._net import networks
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed, Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._plan import derive, effective_masks, running


def test_defaults_where_only_a_pod_range_is_given():
    plan = derive(Intent({"pod_cidr": "10.244.0.0/16"}))
    assert [str(one) for one in plan.service] == ["10.96.0.0/12"]
    assert (plan.node_mask, plan.max_pods, plan.planned_nodes) == ({4: 24, 6: 64}, 110, None)
    assert (plan.node_ranges(plan.pod[0]), plan.pods_per_node(4)) == (256, 253)


@pytest.mark.parametrize(("mask", "pods"), [(30, 1), (31, 0), (32, 0), (24, 253), (33, 0)])
def test_addresses_of_a_node_range(mask, pods):
    assert derive(Intent({"pod_cidr": "10.244.0.0/16", "node_mask": mask})).pods_per_node(4) == pods


def test_a_users_own_file_gives_the_same_plan():
    text = "kind: ClusterConfiguration\nnetworking: {podSubnet: 10.1.0.0/16, serviceSubnet: 10.2.0.0/16}\n"
    text += "controllerManager:\n  extraArgs:\n  - {name: node-cidr-mask-size, value: '26'}\n"
    plan = derive(Intent({"kubeadm_config": text}))
    assert ([str(one) for one in plan.pod], plan.node_mask[4]) == (["10.1.0.0/16"], 26)
    assert str(plan.dns[0]) == "10.2.0.10"


def test_one_mask_does_not_count_in_dual_stack():
    assert effective_masks({"node-cidr-mask-size": "26"}, tuple(networks("10.0.0.0/16,fd00::/56"))) == {4: 24, 6: 64}


def test_no_range_is_missing_and_nonsense_is_malformed():
    with pytest.raises(Missing):
        derive(Intent({}))
    with pytest.raises(Malformed):
        derive(Intent({"pod_cidr": "x"}))
    with pytest.raises(Malformed):
        derive(Intent({"pod_cidr": "10.244.0.0/16", "node_mask": "x"}))


def test_a_running_cluster_in_the_same_form():
    plan = running(Cluster(healthy()["cluster"]))
    assert ([str(one) for one in plan.pod], plan.planned_nodes, [str(one) for one in plan.dns]) == (
        ["10.244.0.0/16"],
        3,
        ["10.96.0.10"],
    )
