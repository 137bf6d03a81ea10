# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._kubeadm import (
    KubeadmFile,
    cluster_configuration,
)

FILE = """
kind: InitConfiguration
---
kind: ClusterConfiguration
networking:
  podSubnet: 10.244.0.0/16, fd00::/56
controllerManager:
  extraArgs:
  - name: node-cidr-mask-size-ipv4
    value: "25"
"""


def test_ranges_and_arguments_of_a_users_own_file():
    file = KubeadmFile(FILE)
    assert file.cluster.pod_texts == ["10.244.0.0/16", "fd00::/56"]
    assert file.cluster.service_texts == []
    assert file.cluster.arguments("controllerManager") == {"node-cidr-mask-size-ipv4": "25"}
    assert file.joined == []
    assert list(file.unknown_keys()) == []


def test_arguments_as_a_mapping_as_older_files_have_them():
    text = FILE.replace('  - name: node-cidr-mask-size-ipv4\n    value: "25"', '    node-cidr-mask-size: "25"')
    assert KubeadmFile(text).cluster.arguments("controllerManager") == {"node-cidr-mask-size": "25"}


def test_a_damaged_piece_leaves_the_others_readable():
    file = KubeadmFile("kind: [\n---" + FILE)
    assert file.unreadable
    assert file.cluster.pod_texts


def test_the_config_map_is_one_document():
    assert cluster_configuration("kind: ClusterConfiguration\nnetworking: {podSubnet: 10.1.0.0/16}").pod_texts == [
        "10.1.0.0/16"
    ]
    assert cluster_configuration("").pod_texts == []
