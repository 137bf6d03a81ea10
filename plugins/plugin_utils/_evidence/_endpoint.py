# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How hosts of endpoints, URLs and certificates are compared."""

from __future__ import annotations

from urllib.parse import urlsplit

from ._net import address


def server_host(url: str) -> str:
    """The host of ``https://HOST:PORT``, ``HOST:PORT`` or ``HOST``, in lower case, without brackets; "" for none."""
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""
    parsed = address(host)
    return str(parsed) if parsed else host.rstrip(".")


def same_host(host: str, name: str) -> bool:
    """Whether a certificate's name covers the host: the same address or name, or a wildcard of one label."""
    name = server_host(f"[{name}]" if ":" in name else name) if address(name) else name.lower().rstrip(".")
    if name.startswith("*."):
        return host.partition(".")[2] == name[2:] and not address(host)
    return host == name


LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Servers that a local proxy answers."""
