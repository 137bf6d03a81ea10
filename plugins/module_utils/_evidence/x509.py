# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two facts of an X.509 certificate that rules need, out of its DER (RFC 5280, X.690)."""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Iterator
from datetime import datetime, timezone

_SEQUENCE, _UTC_TIME, _GENERALIZED_TIME, _VERSION, _EXTENSIONS = 0x30, 0x17, 0x18, 0xA0, 0xA3
_SUBJECT_ALT_NAME = bytes.fromhex("0603551d11")
_DNS, _IP = 0x82, 0x87


def facts(pem: str) -> dict[str, object]:
    """`not_after` (UTC, ISO 8601) and `sans` (names and addresses) of the first certificate in PEM.

    :raises ValueError: there is no certificate, or it cannot be understood.
    """
    match = re.search(r"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", pem, re.S)
    if not match:
        raise ValueError("no certificate in it")
    try:
        (_tag, certificate) = next(_parts(base64.b64decode(match.group(1))))
        (_tag, signed) = next(_parts(certificate))
        fields = [part for part in _parts(signed) if part[0] != _VERSION]
        # serialNumber, signature, issuer, validity, subject, subjectPublicKeyInfo, ...
        _before, after = _parts(fields[3][1])
        sans: list[str] = []
        for tag, content in fields[6:]:
            if tag == _EXTENSIONS:
                sans = _alternative_names(content)
        return {"not_after": _time(*after), "sans": sans}
    except (IndexError, StopIteration, UnicodeDecodeError) as error:
        raise ValueError(f"not a certificate: {error}") from None


def pem_of(data: str) -> str:
    """The PEM text in the base64 DATA of a kubeconfig.

    :raises ValueError: it is no base64 of text.
    """
    return base64.b64decode(data, validate=True).decode("ascii")


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and content of each element in DATA."""
    at = 0
    while at < len(data):
        tag, length = data[at], data[at + 1]
        at += 2
        if length & 0x80:
            size = length & 0x7F
            length = int.from_bytes(data[at : at + size], "big")
            at += size
        if at + length > len(data):
            raise ValueError("cut short")
        yield tag, data[at : at + length]
        at += length


def _time(tag: int, content: bytes) -> str:
    text = content.decode("ascii")
    if tag == _UTC_TIME:
        text = ("20" if int(text[:2]) < 50 else "19") + text
    moment = datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _alternative_names(extensions: bytes) -> list[str]:
    names: list[str] = []
    for _tag, extension in _parts(next(_parts(extensions))[1]):
        if not extension.startswith(_SUBJECT_ALT_NAME):
            continue
        value = list(_parts(extension))[-1][1]
        for tag, content in _parts(next(_parts(value))[1]):
            if tag == _DNS:
                names.append(content.decode("ascii"))
            elif tag == _IP:
                names.append(str(ipaddress.ip_address(content)))
    return names
