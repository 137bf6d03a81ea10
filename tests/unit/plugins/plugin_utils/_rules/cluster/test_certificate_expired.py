# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, heard_of_node2, undetermined

API = "/etc/kubernetes/pki/apiserver.crt"
CLIENT = "/var/lib/kubelet/pki/kubelet-client-current.pem"
SERVING = "/var/lib/kubelet/pki/kubelet.crt"


@pytest.mark.parametrize(
    ("path", "end", "severity"),
    [
        (API, "2026-11-30T15:00:00Z", "error"),
        (API, "2026-12-20T00:00:00Z", "warning"),
        (API, "2027-01-20T00:00:00Z", ""),
        (CLIENT, "2026-11-12T00:00:00Z", "error"),
        (CLIENT, "2026-12-02T00:00:00Z", ""),
        ("/var/lib/kubelet/pki/kubelet-client-2024-01-01-00-00-00.pem", "2025-01-01T00:00:00Z", ""),
        (SERVING, "2026-11-12T00:00:00Z", "warning"),
        (API, "not a date", ""),
    ],
)
def test_ends_against_the_time_of_the_evidence(path, end, severity):
    bundle = healthy()
    bundle["nodes"]["node1"]["certificates"][path] = {"not_after": end, "sans": []}
    found = findings("certificate-expired", bundle)
    assert [(one.severity, one.where) for one in found] == ([(severity, ["node1"])] if severity else [])


def test_without_the_time_it_is_undetermined():
    bundle = healthy()
    del bundle["taken_at"]
    assert undetermined("certificate-expired", bundle)[0].key == "taken_at"


@pytest.mark.parametrize(
    "words",
    [
        "part of the existing bootstrap client certificate in /etc/kubernetes/kubelet.conf is expired: 2026-11-01",
        "part of the existing bootstrap client certificate is expired: 2020-12-06 18:55:55 +0000 UTC",
        'bootstrap client certificate located at \\"/etc/kubernetes/kubelet.conf\\" is expired: 2020-12-06',
        "F0118 certificate_manager.go] the currently active client certificate has expired",
    ],
)
def test_the_certificate_inside_a_kubeconfig(words):
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    node["journal"]["kubelet"] = words
    assert findings("certificate-expired", bundle) == []
    node["units"]["kubelet"]["active"] = "activating"
    (found,) = findings("certificate-expired", bundle)
    assert (found.severity, found.where, found.summary[-12:]) == ("error", ["node2"], "kubelet.conf")


def test_a_certificate_that_was_not_looked_at():
    words = (
        'Get "https://192.168.10.11:6443/api": x509: certificate has expired or is not yet valid: current time '
        "2026-11-30T15:49:00Z is after 2026-11-28T15:45:38Z"
    )
    (found,) = findings("certificate-expired", heard_of_node2(words, "certificates"))
    assert found.where == ["node2"]
    assert "https://192.168.10.11:6443" in found.summary
    assert findings("certificate-expired", heard_of_node2(words, "journal")) == []
