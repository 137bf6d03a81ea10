# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.scrub import (
    REMOVED,
    last_lines,
    scrub,
    scrub_all,
    scrub_arguments,
)

SECRET = "s3cr3tPLANTED"


@pytest.mark.parametrize(
    "text",
    [
        f"password: {SECRET}",
        f'"password":"{SECRET}"',
        f"db_password={SECRET} more",
        f'msg="login" token="{SECRET}"',
        f'{{\\"token\\":\\"{SECRET}\\"}}',
        f"curl -H 'Authorization: Bearer {SECRET}'",
        f"--token {SECRET} --x",
        f"--certificate-key={SECRET}",
        f"--key {SECRET}",
        f"kubeadm join 10.0.0.1:6443 --token \\\n    {SECRET}",
        f"PrivateKey={SECRET}",
        f"PresharedKey = {SECRET}",
        f'"PSK": "{SECRET}"',
        f"client-key-data: {SECRET}",
        f"apiKey: '{SECRET}'",
        f"http://user:{SECRET}@proxy.example.com:3128",
        f"https://{SECRET}@registry.example.com/",
        f"https://user:p@{SECRET}@registry.example.com/",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}",
        f'secret = "{SECRET}"',
        f"Authorization: Basic {SECRET}",
        f'token="{SECRET}',
        f'password: "it\'s {SECRET}"',
        f'"password": "a\\"b {SECRET}"',
    ],
)
def test_a_planted_secret_is_cut(text):
    assert SECRET not in scrub(text)
    assert REMOVED in scrub(text)


def test_json_stays_json():
    text = json.dumps({"PSK": SECRET, "a": json.dumps({"token": SECRET}), "b": [{"apiKey": ""}]}, indent=1)
    assert json.loads(scrub(text)) == {"PSK": REMOVED, "a": json.dumps({"token": REMOVED}), "b": [{"apiKey": ""}]}


def test_tokens_are_known_by_their_shape():
    assert scrub("use abcdef.0123456789abcdef now") == f"use {REMOVED} now"
    assert (
        scrub("[upload-certs] Using certificate key:\n" + "0a" * 32)
        == f"[upload-certs] Using certificate key:\n{REMOVED}"
    )
    assert scrub("jwt eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl") == f"jwt {REMOVED}"


@pytest.mark.parametrize(
    "text",
    [
        "--tls-private-key-file=/etc/kubernetes/pki/apiserver.key",
        "- --etcd-keyfile=/etc/kubernetes/pki/apiserver-etcd-client.key",
        'E1130 15:49:40 reconciler.go:99] "failed" key="kube-system/coredns"',
        "  - key: node-role.kubernetes.io/control-plane",
        "automountServiceAccountToken: false",
        "token: null, x",
        "http://proxy.example.com:3128",
        "clientCAFile: /etc/kubernetes/pki/ca.crt",
        "x509: certificate is valid for 10.96.0.1, not 10.0.0.10",
        "    - --use-service-account-credentials=true",
        "nameserver 10.96.0.10",
        "unix:///run/containerd/containerd.sock",
    ],
)
def test_what_is_no_secret_stays(text):
    assert scrub(text) == text


def test_a_lone_option_cuts_the_next_argument():
    assert scrub_arguments(["--password", "x", "--v=2", "--api-token=x", "-key", "y", "--token", "--next", 3]) == [
        "--password", REMOVED, "--v=2", f"--api-token={REMOVED}", "-key", REMOVED, "--token", "--next", 3,
    ]  # fmt: skip


def test_every_string_of_a_value_is_read():
    assert scrub_all({"a": ["token=x", 1, {"b": "password: y"}]}) == {
        "a": [f"token={REMOVED}", 1, {"b": f"password: {REMOVED}"}]
    }


def test_text_is_bounded_and_a_secret_at_the_cut_is_gone():
    text = "".join(f"{n}\n" for n in range(300)) + "x" * 1990 + " token=" + SECRET
    said = last_lines(text)
    assert len(said.splitlines()) == 200
    assert len(said.splitlines()[-1]) <= 2004
    assert "s3cr" not in said
