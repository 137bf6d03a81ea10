# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._endpoint import same_host, server_host


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://10.0.0.1:6443", "10.0.0.1"),
        ("K8s.Example.com:6443", "k8s.example.com"),
        ("https://[FD00:0::11]:6443", "fd00::11"),
        ("k8s.example.com.", "k8s.example.com"),
        ("", ""),
        ("https://[broken:6443", ""),
    ],
)
def test_hosts_of_urls(url, host):
    assert server_host(url) == host


@pytest.mark.parametrize(
    ("host", "name", "same"),
    [
        ("fd00::11", "FD00:0::11", True),
        ("k8s.example.com", "*.example.com", True),
        ("a.k8s.example.com", "*.example.com", False),
        ("10.0.0.1", "*.0.0.1", False),
        ("k8s", "K8S", True),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_names_of_certificates(host, name, same):
    assert same_host(host, name) is same
