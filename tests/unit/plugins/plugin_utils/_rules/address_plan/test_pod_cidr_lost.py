# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def test_kubeadm_config_without_the_range_that_the_flags_have():
    bundle = healthy()
    bundle["cluster"]["kubeadm_config"] = bundle["cluster"]["kubeadm_config"].replace(
        "  podSubnet: 10.244.0.0/16\n", ""
    )
    (found,) = findings("pod-cidr-lost", bundle)
    assert found.summary == "kubeadm-config lost the pod range"
    assert found.evidence["controller manager node1"] == "10.244.0.0/16"


def test_two_different_ranges():
    bundle = healthy()
    bundle["cluster"]["kubeadm_config"] = bundle["cluster"]["kubeadm_config"].replace("10.244.0.0/16", "10.245.0.0/16")
    assert len(findings("pod-cidr-lost", bundle)) == 1


def test_host_bits_make_no_other_range():
    bundle = healthy()
    bundle["cluster"]["kubeadm_config"] = bundle["cluster"]["kubeadm_config"].replace("10.244.0.0/16", "10.244.3.0/16")
    assert findings("pod-cidr-lost", bundle) == []


def test_both_healthy_clusters_agree():
    assert findings("pod-cidr-lost", healthy()) == findings("pod-cidr-lost", healthy("cluster-dual")) == []
