# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: signing_key
short_description: The verified signing key of a package repository
description:
  - Fetches the signing key of a package repository on the controller and answers it armored,
    as C(Signed-By) of apt takes it.
  - A key with another fingerprint than the given ones is refused. No gnupg is needed, neither here nor on the hosts.
  - A key is fetched once in a run, however many hosts ask for it.
author:
  - podnet.kubeadm contributors (@podnet)
options:
  _terms:
    description: Address of the key, armored or binary.
    type: list
    elements: str
    required: true
  fingerprints:
    description: The fingerprints that the key may have. Blanks, colons and lower case do not matter.
    type: list
    elements: str
    required: true
  timeout:
    description: How many seconds an answer is waited for.
    type: int
    default: 10
"""

EXAMPLES = r"""
- name: Write the key of a repository
  podnet.kubeadm.config_files:
    files:
      - path: /etc/apt/keyrings/kubernetes.asc
        content: >-
          {{ lookup('podnet.kubeadm.signing_key', 'https://pkgs.k8s.io/core:/stable:/v1.37/deb/Release.key',
                    fingerprints=['DE15B14486CD377B9E876E1A234654DA9A296436']) }}
"""

RETURN = r"""
_raw:
  description: The armored keys.
  type: list
  elements: str
"""

import hashlib
import os
import pathlib
import tempfile
from typing import Any
from urllib.error import HTTPError, URLError

from ansible import constants
from ansible.errors import AnsibleLookupError
from ansible.module_utils.urls import open_url
from ansible.plugins.lookup import LookupBase

from ansible_collections.podnet.kubeadm.plugins.plugin_utils import _openpgp

LONGEST = 1 << 20  # bytes; a key has some thousand


def verified_key(url: str, allowed: set[str], timeout: int) -> str:
    """The armored key at ``url``, whose primary keys all have a fingerprint of ``allowed``."""
    try:
        key = _openpgp.armored(fetched(url, timeout))
        found = _openpgp.fingerprints(key)
    except _openpgp.KeyDataError as error:
        raise AnsibleLookupError(
            f"The signing key at {url} cannot be used: {error}. Check the address, or give the key itself in the "
            "role's variable that ends in _repository_key."
        ) from None
    others = sorted(set(found) - allowed)
    if others:
        raise AnsibleLookupError(
            f"The signing key at {url} has the fingerprint {', '.join(others)}, and the role's variable that ends in "
            f"_key_fingerprints allows {', '.join(sorted(allowed))}. Nothing was changed. If it is a mirror "
            "that signs by itself, or the key was renewed, verify the new fingerprint and set it there."
        )
    return key


def fetched(url: str, timeout: int) -> bytes:
    """The bytes at ``url``, kept for this run in Ansible's own temporary folder, which goes with it."""
    kept = pathlib.Path(constants.DEFAULT_LOCAL_TMP) / f"signing-key-{hashlib.sha256(url.encode()).hexdigest()}"
    if kept.exists():
        return kept.read_bytes()
    try:
        data: bytes = open_url(url, timeout=timeout).read(LONGEST)
    except (URLError, OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) and not isinstance(error, HTTPError) else error
        raise AnsibleLookupError(
            f"The signing key could not be fetched from {url} on the controller: {reason}. "
            "Nothing was changed. Check the address and whether the mirror runs, or give the key itself in the role's "
            "variable that ends in _repository_key."
        ) from None
    with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as stream:
        stream.write(data)
    os.replace(stream.name, kept)  # hosts ask side by side
    return data


class LookupModule(LookupBase):
    def run(self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[str]:
        self.set_options(var_options=variables, direct=kwargs)
        allowed = {_openpgp.normal(one) for one in self.get_option("fingerprints")}
        return [verified_key(url, allowed, self.get_option("timeout")) for url in terms]
