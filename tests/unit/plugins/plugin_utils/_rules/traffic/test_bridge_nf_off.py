# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("key", "base", "severity"),
    [
        ("net.bridge.bridge-nf-call-iptables", "cluster", "error"),
        ("net.bridge.bridge-nf-call-iptables", "host", "warning"),
        ("net.bridge.bridge-nf-call-ip6tables", "cluster", ""),
        ("net.bridge.bridge-nf-call-ip6tables", "cluster-dual", "error"),
    ],
)
def test_switches(key, base, severity):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["sysctl"][key] = "0"
    found = findings("bridge-nf-off", bundle)
    assert [(one.severity, one.where) for one in found] == ([(severity, ["node2"])] if severity else [])


def test_keys_that_do_not_exist_are_a_missing_module():
    bundle = healthy()
    del bundle["nodes"]["node2"]["sysctl"]["net.bridge.bridge-nf-call-iptables"]
    assert findings("bridge-nf-off", bundle) == []
