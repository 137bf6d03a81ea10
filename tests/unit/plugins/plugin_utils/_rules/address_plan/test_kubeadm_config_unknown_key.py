# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings

RIGHT = """
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  kubeletExtraArgs:
  - name: node-ip
    value: 192.168.10.11
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
networking:
  podSubnet: 10.244.0.0/16
controllerManager:
  extraArgs:
  - name: node-cidr-mask-size-ipv4
    value: "24"
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
anything: goes
"""


def judge(text):
    return findings("kubeadm-config-unknown-key", {"stage": "intent", "intent": {"kubeadm_config": text}})


def test_a_right_file():
    assert judge(RIGHT) == []


@pytest.mark.parametrize("key", ["podCIDR", "podSubnets", "nodeCIDRMaskSize", "clusterCIDR"])
def test_a_key_where_the_range_was_meant_is_an_error(key):
    (found,) = judge(RIGHT.replace("  podSubnet:", f"  {key}:"))
    assert found.severity == "error"
    assert key in found.summary


def test_another_unknown_key_is_a_warning():
    (found,) = judge(RIGHT.replace("controllerManager:", "controlerManager:"))
    assert found.severity == "warning"


@pytest.mark.parametrize("line", ["", "--\n", "- - -\n"])
def test_a_missing_line_between_documents(line):
    assert judge(RIGHT.replace("---\n", line, 1))[0].severity == "error"
