# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined

SIGNAL = (
    'audit: type=1400 apparmor="{verdict}" operation="signal" profile="cri-containerd.apparmor.d" pid=5122 comm="runc" '
    'requested_mask="receive" denied_mask="receive" signal=kill peer="runc"'
)
OTHER = 'audit: type=1400 apparmor="DENIED" operation="{operation}" profile="{profile}" name="{name}" comm="{comm}"'


def said(line):
    bundle = healthy()
    bundle["nodes"]["node2"]["apparmor_denials"] = [line]
    return bundle


def test_the_runtime_cannot_end_pods():
    (found,) = findings("apparmor-denied", said(SIGNAL.format(verdict="DENIED")))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_file_on_the_way():
    line = OTHER.format(
        operation="open", profile="cri-containerd.apparmor.d", name="/run/flannel/subnet.env", comm="flanneld"
    )
    assert findings("apparmor-denied", said(line))


@pytest.mark.parametrize(
    "line",
    [
        SIGNAL.format(verdict="ALLOWED"),
        OTHER.format(operation="open", profile="/usr/sbin/cupsd", name="/etc/paperspecs", comm="cupsd"),
        OTHER.format(operation="open", profile="snap.firefox.firefox", name="/proc/sys/net/core", comm="firefox"),
        OTHER.format(operation="ptrace", profile="cri-containerd.apparmor.d", name="", comm="node_exporter"),
        OTHER.format(operation="mount", profile="docker-default", name="/run/netns", comm="systemd"),
    ],
)
def test_what_looks_like_it(line):
    assert findings("apparmor-denied", said(line)) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["apparmor_denials"]
    assert [missed.key for missed in undetermined("apparmor-denied", bundle)] == ["nodes.*.apparmor_denials"]


def test_a_denial_in_the_kernels_journal():
    bundle = healthy()
    bundle["nodes"]["node2"]["journal"]["kernel"] = (
        'audit: apparmor="DENIED" operation="signal" profile="cri-containerd.apparmor.d" comm="runc" peer="runc"'
    )
    assert findings("apparmor-denied", bundle)[0].where == ["node2"]
