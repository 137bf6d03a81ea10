# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("cidr", "mode", "detect", "severity"),
    [
        ('""', "iptables", '""', "warning"),
        ('""', "ipvs", '""', "error"),
        ('""', "iptables", "NodeCIDR", ""),
        ("10.42.0.0/16", "iptables", '""', "error"),
        ("10.42.0.0/16", "iptables", "BridgeInterface", ""),
        ("10.244.0.0/17", "iptables", '""', ""),
        ("10.244.7.0/16", "iptables", "ClusterCIDR", ""),
        ("10.0.0.0/8", "iptables", '""', ""),
    ],
)
def test_ranges_and_modes(cidr, mode, detect, severity):
    bundle = healthy()
    text = bundle["cluster"]["kube_proxy_config"]
    text = text.replace("clusterCIDR: 10.244.0.0/16", f"clusterCIDR: {cidr}").replace("mode: iptables", f"mode: {mode}")
    bundle["cluster"]["kube_proxy_config"] = text.replace('detectLocalMode: ""', f"detectLocalMode: {detect}")
    found = findings("kube-proxy-cluster-cidr", bundle)
    assert [(one.severity, one.where) for one in found] == ([(severity, ["cluster"])] if severity else [])


def test_a_cluster_without_pod_ranges_has_another_fault():
    bundle = healthy()
    bundle["cluster"]["kube_proxy_config"] = "mode: iptables\nclusterCIDR: ''\n"
    for node in bundle["cluster"]["nodes"]["items"]:
        node["spec"] = {}
    assert findings("kube-proxy-cluster-cidr", bundle) == []
