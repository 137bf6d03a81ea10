# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._variables import known, unknown


def test_a_misspelt_name_is_found_with_the_one_that_is_meant():
    assert unknown(["cluster_pod_cdir", "host_swapp"]) == {
        "cluster_pod_cdir": "cluster_pod_cidr",
        "host_swapp": "host_swap",
    }


def test_a_name_of_ones_own_with_our_prefix_is_found_without():
    assert unknown(["cluster_colour_of_the_rack"]) == {"cluster_colour_of_the_rack": ""}


def test_what_roles_know_what_they_derive_and_what_is_not_ours_is_not_found():
    assert unknown(["cluster_pod_cidr", "cluster_address_plan", "__cluster_members", "ansible_host", "clusters"]) == {}
    names, prefixes = known()
    assert "flannel_backend" in names
    assert "cluster_" in prefixes
