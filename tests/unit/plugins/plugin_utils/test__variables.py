# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._variables import invalid, known, unknown


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


def test_values_that_no_role_takes_are_told_with_ansibles_sentence():
    wrong = invalid({"cluster_node_mask": "many", "cluster_kube_proxy_mode": "ipvs", "cluster_kubelet_config": [1]})
    assert list(wrong) == ["cluster_kube_proxy_mode", "cluster_kubelet_config", "cluster_node_mask"]
    assert "ipvs" in wrong["cluster_kube_proxy_mode"]


def test_values_inside_of_others_are_looked_at():
    wrong = invalid(
        {"containerd_registry_mirrors": [{"registry": "ghcr.io", "endpoints": [{"link": "http://192.0.2.1"}]}]}
    )
    assert "url" in wrong["containerd_registry_mirrors"]


def test_what_ansible_converts_and_what_is_not_ours_is_let_be():
    assert (
        invalid({"cluster_node_mask": "24", "cluster_max_pods": 110, "firewall_probe": "yes", "mine": object()}) == {}
    )


def test_a_secret_is_not_repeated(tmp_path):
    folder = tmp_path / "role" / "meta"
    folder.mkdir(parents=True)
    (folder / "argument_specs.yml").write_text(
        "argument_specs: {main: {options: {role_key: {type: int, no_log: true}}}}", encoding="utf-8"
    )
    assert "hunter2" not in invalid({"role_key": "hunter2"}, str(tmp_path))["role_key"]
