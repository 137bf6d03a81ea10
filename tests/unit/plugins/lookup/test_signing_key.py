# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import http.server
import pathlib
import threading
from collections.abc import Iterator

import pytest
from ansible import constants
from ansible.errors import AnsibleLookupError

from ansible_collections.podnet.kubeadm.plugins.lookup import signing_key

FIXTURES = pathlib.Path(__file__).parents[1] / "plugin_utils" / "fixtures"
FINGERPRINT = "8CB7EA9627A9206F8D18789FE4F6F8C98B41B81E"


@contextlib.contextmanager
def served(asked: list[str]) -> Iterator[str]:
    """A web server on loopback that has the key and notes what it is asked for."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(FIXTURES))  # type: ignore[arg-type]

        def log_message(self, form: str, *args: object) -> None:
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def temporary(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))


def look(url: str, fingerprint: str = FINGERPRINT) -> str:
    return signing_key.verified_key(url, {fingerprint}, timeout=2)


def test_a_key_is_fetched_once_and_answered_armored() -> None:
    asked: list[str] = []
    with served(asked) as url:
        assert look(f"{url}/signing-key.asc") == look(f"{url}/signing-key.asc")
        assert look(f"{url}/signing-key.bin").startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----")
    assert asked == ["/signing-key.asc", "/signing-key.bin"]


def test_another_key_is_refused() -> None:
    with served([]) as url, pytest.raises(AnsibleLookupError) as error:
        look(f"{url}/signing-key.asc", "0" * 40)
    assert FINGERPRINT in str(error.value) and "0" * 40 in str(error.value) and url in str(error.value)


def test_what_is_no_key_is_refused() -> None:
    with served([]) as url, pytest.raises(AnsibleLookupError, match="no OpenPGP public key"):
        look(f"{url}/")


def test_a_mirror_that_does_not_answer_is_a_sentence() -> None:
    with served([]) as url:
        pass
    with pytest.raises(AnsibleLookupError) as error:
        look(f"{url}/signing-key.asc")
    assert url in str(error.value) and "refused" in str(error.value) and "Nothing was changed" in str(error.value)
    with served([]) as url, pytest.raises(AnsibleLookupError, match="404"):
        look(f"{url}/nothing")
