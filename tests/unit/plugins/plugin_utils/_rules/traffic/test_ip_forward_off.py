# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, kubeadm_said, undetermined


@pytest.mark.parametrize(
    ("key", "base", "severity"),
    [
        ("net.ipv4.ip_forward", "cluster", "error"),
        ("net.ipv4.ip_forward", "host", "warning"),
        ("net.ipv4.conf.flannel/1.forwarding", "cluster", "error"),
        ("net.ipv4.conf.cni0.forwarding", "cluster", "error"),
        ("net.ipv4.conf.eth0.forwarding", "cluster", ""),
        ("net.ipv6.conf.all.forwarding", "cluster", ""),
        ("net.ipv6.conf.all.forwarding", "cluster-dual", "error"),
    ],
)
def test_switches(key, base, severity):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["sysctl"][key] = "0"
    found = findings("ip-forward-off", bundle)
    assert [(one.severity, one.where) for one in found] == ([(severity, ["node2"])] if severity else [])


def test_a_link_that_was_turned_off_is_for_a_person():
    bundle = healthy()
    bundle["nodes"]["node2"]["sysctl"]["net.ipv4.conf.cni0.forwarding"] = "0"
    (found,) = findings("ip-forward-off", bundle)
    assert found.repair is None
    assert "sysctl -w net.ipv4.conf.cni0.forwarding=1" in found.remedy
    bundle["nodes"]["node2"]["sysctl"]["net.ipv4.ip_forward"] = "0"
    assert findings("ip-forward-off", bundle)[0].repair == "host:main"


def test_without_values_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["sysctl"]
    assert undetermined("ip-forward-off", bundle)[0].where == ["node2"]


def test_kubeadms_words_are_enough():
    words = "[ERROR FileContent--proc-sys-net-ipv4-ip_forward]: /proc/sys/net/ipv4/ip_forward contents are not set to 1"
    assert findings("ip-forward-off", kubeadm_said(words, "sysctl"))[0].where == ["node1"]
    assert findings("ip-forward-off", kubeadm_said(words)) == []
