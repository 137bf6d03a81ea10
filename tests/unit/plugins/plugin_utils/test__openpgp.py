# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils import _openpgp

# Made for these tests with gpg 2.2.40, whose --fingerprint says the same.
FIXTURES = pathlib.Path(__file__).parent / "fixtures"
FINGERPRINT = "8CB7EA9627A9206F8D18789FE4F6F8C98B41B81E"
ARMORED = (FIXTURES / "signing-key.asc").read_text()
BINARY = (FIXTURES / "signing-key.bin").read_bytes()


def test_the_fingerprint_is_the_one_that_gpg_says() -> None:
    assert _openpgp.fingerprints(ARMORED) == [FINGERPRINT]


def test_a_binary_key_becomes_the_same_text() -> None:
    text = _openpgp.armored(BINARY)
    assert text.startswith(_openpgp.BEGIN) and _openpgp.fingerprints(text) == [FINGERPRINT]


def test_text_around_the_key_and_windows_line_ends_do_not_matter() -> None:
    text = _openpgp.armored(("# a comment\n" + ARMORED + "more\n").replace("\n", "\r\n").encode())
    assert _openpgp.fingerprints(text) == [FINGERPRINT] and "comment" not in text


def test_two_keys_have_two_fingerprints() -> None:
    assert _openpgp.fingerprints(_openpgp.armored(BINARY + BINARY)) == [FINGERPRINT, FINGERPRINT]


@pytest.mark.parametrize(
    "data, said",
    [
        (b"<html>not here</html>", "no OpenPGP public key"),
        (b"", "no OpenPGP public key"),
        (BINARY[:-3], "cut off"),
        (ARMORED[: len(ARMORED) // 2].encode(), "end is missing"),
        (ARMORED.replace("A", "!").encode(), "damaged"),
        (b"\xff\xff\xff", "cut off"),
    ],
)
def test_what_is_no_key_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(_openpgp.KeyDataError, match=said):
        _openpgp.fingerprints(_openpgp.armored(data))


def test_fingerprints_as_people_write_them() -> None:
    grouped = " ".join(FINGERPRINT[i : i + 4].lower() for i in range(0, 40, 4))
    assert _openpgp.normal(grouped) == _openpgp.normal("0x" + FINGERPRINT) == FINGERPRINT
