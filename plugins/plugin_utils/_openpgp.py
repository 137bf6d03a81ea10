# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fingerprints of OpenPGP public keys (RFC 4880 and 9580), so that no gnupg is needed to tell whose key it is."""

from __future__ import annotations

import base64
import binascii
import hashlib
import textwrap
from collections.abc import Iterator

BEGIN = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
END = "-----END PGP PUBLIC KEY BLOCK-----"
PUBLIC_KEY = 6  # packet tag of a primary key; subkeys have 14


class KeyDataError(ValueError):
    """What was given is no OpenPGP public key."""


def armored(data: bytes) -> str:
    """The key as text, whether it came as text or in binary form.

    :raises KeyDataError: where it is neither.
    """
    text = data.decode("utf-8", errors="ignore")
    if BEGIN in text:
        start, end = text.index(BEGIN), text.find(END)
        if end == -1:
            raise KeyDataError("the key's end is missing")
        return text[start : end + len(END)] + "\n"
    if data[:1] and data[0] & 0x80 and list(_packets(data)):
        lines = textwrap.wrap(base64.b64encode(data).decode(), 64)
        return "\n".join([BEGIN, "", *lines, END, ""])
    raise KeyDataError("there is no OpenPGP public key in it")


def fingerprints(armored_key: str) -> list[str]:
    """Fingerprints of the primary keys of an armored text, upper case without blanks.

    :raises KeyDataError: where the text is damaged or holds no public key.
    """
    found = [_fingerprint(body) for tag, body in _packets(_dearmored(armored_key)) if tag == PUBLIC_KEY]
    if not found:
        raise KeyDataError("there is no OpenPGP public key in it")
    return found


def normal(fingerprint: str) -> str:
    """A fingerprint as people write it, upper case without blanks and colons."""
    return "".join(fingerprint.split()).replace(":", "").removeprefix("0x").upper()


def _dearmored(text: str) -> bytes:
    try:
        body = text[text.index(BEGIN) + len(BEGIN) : text.index(END)]
    except ValueError as error:
        raise KeyDataError("there is no armored OpenPGP public key in it") from error
    lines = body.strip("\r\n").splitlines()
    # Header lines end at the first empty line; the line that starts with = is a checksum.
    blank = next((number for number, line in enumerate(lines) if not line.strip()), -1)
    data = [line.strip() for line in lines[blank + 1 :] if not line.startswith("=")]
    try:
        return base64.b64decode("".join(data), validate=True)
    except binascii.Error as error:
        raise KeyDataError(f"the key's text is damaged ({error})") from error


def _packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and body of each packet (RFC 4880, section 4.2)."""
    position = 0
    while position < len(data):
        head = data[position]
        if not head & 0x80:
            raise KeyDataError("it is no sequence of OpenPGP packets")
        if head & 0x40:
            tag, (length, used) = head & 0x3F, _new_length(data[position + 1 : position + 6])
        else:
            tag, used = (head >> 2) & 0x0F, (1, 2, 4, 0)[head & 3]
            length = (
                int.from_bytes(data[position + 1 : position + 1 + used], "big") if used else len(data) - position - 1
            )
        start = position + 1 + used
        position = start + length
        if position > len(data):
            raise KeyDataError("the key is cut off")
        yield tag, data[start:position]


def _new_length(data: bytes) -> tuple[int, int]:
    """Length of a packet of the new format, and how many bytes say so (RFC 4880, section 4.2.2)."""
    first = data[0] if data else 0
    if first < 192:
        return first, 1
    if first < 224:
        return ((first - 192) << 8) + int.from_bytes(data[1:2], "big") + 192, 2
    if first == 255:
        return int.from_bytes(data[1:5], "big"), 5
    raise KeyDataError("a key packet of unknown length")


def _fingerprint(body: bytes) -> str:
    version = body[0] if body else 0
    if version == 4:
        return hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body).hexdigest().upper()  # noqa: S324
    if version == 6:
        return hashlib.sha256(b"\x9b" + len(body).to_bytes(4, "big") + body).hexdigest().upper()
    raise KeyDataError(f"a public key of version {version} is not known")
