# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubeadm

CA_HASH = "sha256:86f2c81bab6f8548df6772a5b2b08785b1448f9f1f054c169892aa16e636e5c4"
TOKEN = "abcdef.0123456789abcdef"


def test_mask_hides_tokens_and_keys_and_leaves_hashes() -> None:
    text = f"join --token {TOKEN} --certificate-key {'a1' * 32} --discovery-token-ca-cert-hash {CA_HASH}"
    masked = _kubeadm.mask(text)
    assert TOKEN not in masked and "a1a1" not in masked
    assert "abcdef." in masked and CA_HASH in masked


class Runner:
    """Answers in turn, and remembers what was run."""

    def __init__(self, *answers: tuple[int, str, str]) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[list[str], dict[str, Any]]] = []

    def __call__(self, args: list[str], **options: Any) -> tuple[int, str, str]:
        self.calls.append((args, options))
        return self.answers.pop(0)


def test_token_is_on_no_command_line() -> None:
    run = Runner((0, TOKEN + "\n", ""))
    assert _kubeadm.Kubeadm(run).create_token("/etc/kubernetes/admin.conf", "30m", "for one run") == TOKEN
    assert not any(TOKEN in word for args, _options in run.calls for word in args)


def test_token_that_is_gone_already() -> None:
    run = Runner(
        (1, "", 'error: failed to delete bootstrap token "abcdef": secrets "bootstrap-token-abcdef" not found')
    )
    assert _kubeadm.Kubeadm(run).delete_token("/etc/kubernetes/admin.conf", "abcdef") is False


def test_failure_has_the_reason_and_no_secret() -> None:
    err = f"[preflight] Some fatal errors occurred:\n\t[ERROR Port-10250]: Port 10250 is in use {TOKEN}\nerror: x\n"
    with pytest.raises(_kubeadm.KubeadmError) as info:
        _kubeadm.Kubeadm(Runner((1, "", err))).join("/tmp/x", ["Port-6443"])
    assert "Port 10250 is in use" in str(info.value)
    assert TOKEN not in str(info.value)


def test_limit_is_told() -> None:
    with pytest.raises(_kubeadm.KubeadmError, match="did not end within 5 s.*etcd"):
        _kubeadm.Kubeadm(Runner((124, "waiting for etcd\n", "")), limit=5).init("/tmp/x", [])
