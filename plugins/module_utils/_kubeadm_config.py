# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubeadm's configuration documents and what a kubeconfig and a CA say of the cluster.

PRIVATE to the collection. Standard library only.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from typing import Any


def render(documents: list[dict[str, Any]]) -> str:
    """kubeadm's file of several documents. JSON is YAML, and needs nothing beside the standard library."""
    return "\n---\n".join(json.dumps(document, indent=2, sort_keys=True) for document in documents) + "\n"


def etcd_dir(documents: list[dict[str, Any]]) -> str:
    """Where etcd shall keep its data: as a document says, or kubeadm's own place."""
    for document in documents:
        local = (document.get("etcd") or {}).get("local") or {}
        if local.get("dataDir"):
            return str(local["dataDir"])
    return "/var/lib/etcd"


def is_control_plane(documents: list[dict[str, Any]]) -> bool:
    """Whether a JoinConfiguration makes the host a control plane: it names one, however empty."""
    return any(document.get("controlPlane") is not None for document in documents)


def with_discovery(
    documents: list[dict[str, Any]], api_server: str, ca_cert_hash: str, token: str
) -> list[dict[str, Any]]:
    """The documents with the discovery of their JoinConfiguration: that API server, by that token, its CA pinned."""
    documents = copy.deepcopy(documents)
    for document in documents:
        if document.get("kind") == "JoinConfiguration":
            document.setdefault("discovery", {})["bootstrapToken"] = {
                "apiServerEndpoint": api_server,
                "caCertHashes": [ca_cert_hash],
                "token": token,
            }
    return documents


def unlike(wanted: Any, running: Any, path: str = "") -> list[str]:
    """Dotted paths of the fields that *wanted* sets and *running* has otherwise.

    What only *running* has is kubeadm's own default. Lists are compared without their order: none of kubeadm's has one.
    """
    if isinstance(wanted, dict):
        other = running if isinstance(running, dict) else {}
        return [
            found
            for key, value in sorted(wanted.items())
            for found in unlike(value, other.get(key), f"{path}.{key}" if path else key)
        ]
    return [] if _plain(wanted) == _plain(running) else [path]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return sorted(json.dumps(one, sort_keys=True) for one in value)
    return value or []


def server_of(kubeconfig: str) -> str:
    """C(HOST:PORT) that the text of a kubeconfig names, or an empty string."""
    match = re.search(r"^\s*server:\s*[\"']?https://([^\s\"'/]+)", kubeconfig, re.M)
    return match.group(1) if match else ""


def ca_cert_hash(pem: str) -> str:
    """The hash that C(caCertHashes) wants of a PEM certificate: C(sha256:) and the SHA-256 of its public key info.

    The public key info is the seventh field of the certificate's body, or the sixth where the version is left out
    (RFC 5280 4.1). Raises ValueError when *pem* holds no certificate.
    """
    match = re.search("-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", pem, re.S)
    if not match:
        raise ValueError("there is no PEM certificate in it")
    data = base64.b64decode("".join(match.group(1).split()))
    body, _end, _tag = _der(data, 0)
    at, _end, _tag = _der(data, body)
    skip = 6 if data[at] == 0xA0 else 5
    for _field in range(skip):
        _start, at, _tag = _der(data, at)
    _start, end, _tag = _der(data, at)
    return "sha256:" + hashlib.sha256(data[at:end]).hexdigest()


def _der(data: bytes, at: int) -> tuple[int, int, int]:
    """Start of the content, its end and the tag of the DER element at *at* (X.690 8.1)."""
    tag, length, start = data[at], data[at + 1], at + 2
    if length & 0x80:
        size = length & 0x7F
        length = int.from_bytes(data[start : start + size], "big")
        start += size
    return start, start + length, tag
