# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import x509

FIXTURES = Path(__file__).parent / "fixtures"


def test_end_and_names_are_what_openssl_says():
    assert x509.facts((FIXTURES / "cert.pem").read_text()) == {
        "not_after": "2036-11-27T17:37:09Z",
        "sans": ["kubernetes", "node1", "10.96.0.1", "::1"],
    }


def test_an_end_after_2049_and_no_names():
    assert x509.facts((FIXTURES / "ec-2060.pem").read_text()) == {"not_after": "2060-04-25T17:37:09Z", "sans": []}


def test_what_is_no_certificate_is_a_value_error():
    whole = (FIXTURES / "cert.pem").read_text()
    body = "".join(whole.splitlines()[1:-1])
    raw = base64.b64decode(body)
    broken = ["", "no", whole[:200]]
    broken += [
        "-----BEGIN CERTIFICATE-----" + base64.b64encode(raw[:n]).decode() + "-----END CERTIFICATE-----"
        for n in range(0, len(raw) - 1, 7)
    ]
    for text in broken:
        with pytest.raises(ValueError):
            x509.facts(text)


def test_the_certificate_in_a_kubeconfig():
    data = base64.b64encode((FIXTURES / "cert.pem").read_bytes()).decode()
    assert x509.facts(x509.pem_of(data))["sans"][0] == "kubernetes"
    with pytest.raises(ValueError):
        x509.pem_of("***")
