# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._rules.hosts._runtime import kubelet_socket
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

FLAGS = 'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///flag"'
CONFIG = "containerRuntimeEndpoint: unix:///config"
ASKED = {"cri_socket": "unix:///asked"}


@pytest.mark.parametrize(
    ("host", "intent", "socket"),
    [
        ({"kubelet_flags": FLAGS, "kubelet_config": CONFIG}, ASKED, "unix:///flag"),
        ({"kubelet_flags": "", "kubelet_config": CONFIG}, ASKED, "unix:///config"),
        ({"kubelet_config": CONFIG}, ASKED, "unix:///config"),
        ({"kubelet_flags": 7, "kubelet_config": "["}, ASKED, "unix:///asked"),
        ({"kubelet_flags": "", "kubelet_config": 'containerRuntimeEndpoint: ""'}, ASKED, "unix:///asked"),
        ({}, {}, ""),
    ],
)
def test_the_kubelets_socket_by_its_flags_its_configuration_or_the_intent(host, intent, socket):
    view = View({"nodes": {"n1": host}, "intent": intent})
    assert kubelet_socket(view.nodes["n1"], view) == socket
