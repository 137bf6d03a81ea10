# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kubeadm commands that change a cluster or a host, and its words without secrets.

PRIVATE to the collection. Standard library only. Commands are run by what they are given, so that tests need no host.
"""

from __future__ import annotations

import re
from typing import Callable

RunCommand = Callable[..., "tuple[int, str, str]"]

# A bootstrap token, as kubeadm defines it (bootstrapapi.BootstrapTokenPattern); the first part is its public id.
TOKEN = re.compile(r"\b([a-z0-9]{6})\.[a-z0-9]{16}\b")
CERTIFICATE_KEY = re.compile(r"\b[a-f0-9]{64}\b")


class KubeadmError(Exception):
    """A kubeadm command failed; the message is a sentence with kubeadm's own words, without secrets."""


def mask(text: str) -> str:
    """*text* without bootstrap tokens and certificate keys; hashes of the CA (C(sha256:...)) stay."""
    text = TOKEN.sub(r"\1.****************", text)
    return re.sub(r"(?<!sha256:)" + CERTIFICATE_KEY.pattern, "****", text)


class Kubeadm:
    """The kubeadm commands, run by *run_command* (as AnsibleModule's), each with a limit in seconds."""

    def __init__(self, run_command: RunCommand, binary: str = "kubeadm", limit: int = 600) -> None:
        self._run_command = run_command
        self._binary = binary
        self._limit = limit

    def _run(self, args: list[str], kubeconfig: str | None = None) -> str:
        command = ["timeout", "-k", "10", str(self._limit), self._binary, *args]
        env = {"KUBECONFIG": kubeconfig} if kubeconfig else {}
        code, out, err = self._run_command(command, environ_update=dict(env, LC_ALL="C"))
        if code == 0:
            return out
        what = "kubeadm " + " ".join(word for word in args if not word.startswith("-"))
        if code == 124:
            raise KubeadmError(f"{what} did not end within {self._limit} s. Its last words: {_last(out, err)}")
        raise KubeadmError(f"{what} failed: {_reason(out, err)}")

    def validate(self, path: str) -> None:
        self._run(["config", "validate", "--config", path])

    def init(self, path: str, ignored: list[str]) -> str:
        return self._run(["init", "--config", path, *_ignore(ignored)])

    def join(self, path: str, ignored: list[str]) -> str:
        return self._run(["join", "--config", path, *_ignore(ignored)])

    def create_token(self, kubeconfig: str, ttl: str, description: str) -> str:
        """A new token; kubeadm makes it up and prints it, so that it is on no command line."""
        out = self._run(["token", "create", "--ttl", ttl, "--description", description], kubeconfig)
        match = TOKEN.search(out)
        if not match:
            raise KubeadmError("kubeadm token create ended well but printed no token")
        return match.group(0)

    def delete_token(self, kubeconfig: str, token_id: str) -> bool:
        """Whether there was a token with that id."""
        try:
            self._run(["token", "delete", token_id], kubeconfig)
        except KubeadmError as exc:
            if "not found" in str(exc):
                return False
            raise
        return True


def _ignore(checks: list[str]) -> list[str]:
    return ["--ignore-preflight-errors=" + ",".join(checks)] if checks else []


def _last(out: str, err: str) -> str:
    return mask(" | ".join((out + "\n" + err).strip().splitlines()[-6:]))


def _reason(out: str, err: str) -> str:
    """What kubeadm says went wrong: its fatal lines, or else the last lines of all."""
    lines = err.strip().splitlines()
    fatal = [
        line.strip() for line in lines if line.lstrip().startswith(("[ERROR", "error:", "error execution", "error "))
    ]
    return mask("; ".join(fatal[:12])) if fatal else _last(out, err)
