# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import api
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.api import Api, NotFound
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing


def answering(*answers: tuple[int, bytes]) -> tuple[Api, list[Any]]:
    asked: list[Any] = []
    left = list(answers)

    def request(method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        asked.append((method, path, body, headers))
        return left.pop(0)

    return Api(request), asked


def test_a_get_answers_what_the_json_says() -> None:
    found, asked = answering((200, b'{"gitVersion": "v1.37.2"}'))
    assert found.get("/version") == {"gitVersion": "v1.37.2"}
    assert asked == [("GET", "/version", None, {"Accept": "application/json"})]


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (403, b'{"message": "nodes is forbidden"}', "/x answered 403: nodes is forbidden"),
        (500, b"[]", "/x answered 500: "),
        (503, b"<html>", "/x answered 503 and no JSON"),
        (200, b"", "/x answered 200 and no JSON"),
        (404, b"<html>", "/x is not there"),
    ],
)
def test_an_answer_that_is_refused_is_missing(status: int, body: bytes, said: str) -> None:
    with pytest.raises(Missing) as missing:
        answering((status, body))[0].get("/x")
    assert str(missing.value) == said and isinstance(missing.value, NotFound) is (status == 404)


def test_a_long_reason_is_cut() -> None:
    with pytest.raises(Missing) as missing:
        answering((500, json.dumps({"message": "x" * 1000}).encode()))[0].get("/x")
    assert len(str(missing.value)) == 400


def test_texts_are_answered_as_they_are() -> None:
    assert answering((200, b"ok \xff"))[0].text("/livez") == "ok \ufffd"
    with pytest.raises(Missing, match="/livez answered 500"):
        answering((500, b"no"))[0].text("/livez")


def test_a_post_sends_json() -> None:
    found, asked = answering((201, b'{"status": {"allowed": true}}'))
    assert found.post("/review", {"a": 1})["status"]["allowed"] is True
    assert asked[0][0] == "POST" and json.loads(asked[0][2]) == {"a": 1}
    assert asked[0][3]["Content-Type"] == "application/json"


def page(items: list[int], token: str = "") -> tuple[int, bytes]:
    return 200, json.dumps({"items": items, "metadata": {"continue": token}}).encode()


@pytest.mark.parametrize(("most", "expected", "asked"), [(0, [2, 4, 6], 2), (2, [2, 4], 1), (3, [2, 4, 6], 2)])
def test_a_list_is_read_page_by_page(most: int, expected: list[int], asked: int) -> None:
    found, requests = answering(page([1, 2], "more"), page([3]))
    assert found.items("/pods", lambda item: item * 2, most, "&x=y") == expected
    assert len(requests) == asked and requests[0][1] == "/pods?limit=500&x=y"
    assert asked == 1 or requests[1][1] == "/pods?limit=500&x=y&continue=more"


def test_a_list_without_items_is_empty_and_one_without_an_end_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answering((200, b'{"items": null, "metadata": null}'))[0].items("/pods", str) == []
    monkeypatch.setattr(api, "LIST_SECONDS", -1.0)
    with pytest.raises(Missing, match="/pods was not read to its end within -1 s"):
        answering(page([1], "more"))[0].items("/pods", str)


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("clusters:\n- cluster:\n    server: https://192.0.2.1:6443\n", "https://192.0.2.1:6443"),
        ("server: 'https://[fd42::1]:6443'\n", "https://[fd42::1]:6443"),
    ],
)
def test_the_server_of_a_kubeconfig(text: str, server: str) -> None:
    assert api.server_of(text) == server


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("server: https://a\nserver: https://b\n", 2), ("server: http://a\n", 0)]
)
def test_a_kubeconfig_of_another_kind_is_missing(text: str, count: int) -> None:
    with pytest.raises(Missing, match=f"names {count} servers"):
        api.server_of(text)


class Authority:
    """A certificate authority, as kubeadm makes one."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
        self.pem = self.issue(self.key, self.name, x509.BasicConstraints(ca=True, path_length=None))

    def issue(self, key: Any, name: x509.Name, extension: x509.ExtensionType) -> bytes:
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(self.name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).add_extension(extension, critical=False)
        builder = builder.not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def pair(self, common: str, *names: str) -> tuple[bytes, bytes]:
        key = ec.generate_private_key(ec.SECP256R1())
        general: list[x509.GeneralName] = [
            x509.IPAddress(ipaddress.ip_address(one)) if one[0].isdigit() else x509.DNSName(one) for one in names
        ]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
        form, no_password = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        certificate = self.issue(key, subject, x509.SubjectAlternativeName(general or [x509.DNSName(common)]))
        return certificate, key.private_bytes(serialization.Encoding.PEM, form, no_password)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()
        self.wfile.write(b'{"path": "' + self.path.encode() + b'"}')

    def log_message(self, *arguments: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def server(authority: Authority, tmp_path: Path) -> Iterator[Any]:
    """An API server on loopback, whose certificate is for `kubernetes` and that asks for one of its clients."""
    certificate, key = authority.pair("kube-apiserver", "kubernetes")
    (tmp_path / "server.pem").write_bytes(certificate + key)
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    context.load_verify_locations(tmp_path / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    found: Any = HTTPServer(("127.0.0.1", 0), Handler)
    found.status = 200
    found.socket = context.wrap_socket(found.socket, server_side=True)
    found.url = f"https://127.0.0.1:{found.server_port}"
    thread = threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()


def kubeconfig(authority: Authority, client: tuple[bytes, bytes], **more: str) -> str:
    data = {"certificate-authority": authority.pem, "client-certificate": client[0], "client-key": client[1]}
    lines = {f"{name}-data": base64.b64encode(one).decode() for name, one in data.items()}
    return "".join(f"    {name}: {one}\n" for name, one in {**lines, **more}.items() if one)


def closed_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_the_first_server_that_answers_is_asked(authority: Authority, server: Any) -> None:
    text = kubeconfig(authority, authority.pair("kubernetes-admin"))
    found = api.connect(text, [f"https://127.0.0.1:{closed_port()}", server.url])
    assert found.get("/api/v1/nodes") == {"path": "/api/v1/nodes"}


def test_files_that_a_kubeconfig_names_are_read(authority: Authority, server: Any, tmp_path: Path) -> None:
    client = authority.pair("system:node:n1")
    (tmp_path / "client.pem").write_bytes(client[0] + client[1])
    file = str(tmp_path / "client.pem")
    no_data = {"client-certificate-data": "", "client-key-data": "", "client-certificate": file, "client-key": file}
    assert api.connect(kubeconfig(authority, client, **no_data), [server.url]).get("/x") == {"path": "/x"}


def test_a_server_that_does_not_accept_the_certificate_is_named(authority: Authority, server: Any) -> None:
    server.status = 401
    nobody = f"https://127.0.0.1:{closed_port()}"
    with pytest.raises(Missing, match="no API server answers: .*refused; .*does not accept the certificate.*401"):
        api.connect(kubeconfig(authority, authority.pair("old")), [nobody, server.url])


def test_a_server_of_another_authority_is_not_trusted(authority: Authority, server: Any) -> None:
    other = Authority()
    with pytest.raises(Missing, match=f"{server.url}: "):
        api.connect(kubeconfig(other, other.pair("x")), [server.url])


def test_a_server_under_another_name_is_not_trusted(authority: Authority, server: Any) -> None:
    context = api.client_context(authority.pem, *authority.pair("x"))
    with pytest.raises(Missing, match="(?i)localhost|hostname"):
        api.requester(context, server.url.replace("127.0.0.1", "localhost"))("GET", "/", None, {})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"client-key-data": ""}, "the kubeconfig has no client-key"),
        ({"client-key-data": "%%%"}, "client-key of the kubeconfig cannot be read"),
        (
            {"certificate-authority-data": "", "certificate-authority": "/no/such/ca.crt"},
            "certificate-authority of the",
        ),
        ({"client-certificate-data": base64.b64encode(b"no PEM").decode()}, "client certificate cannot be used"),
        ({"certificate-authority-data": base64.b64encode(b"\xff").decode()}, "client certificate cannot be used"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_says_why(authority: Authority, change: dict[str, str], said: str) -> None:
    with pytest.raises(Missing, match=said):
        api.connect(kubeconfig(authority, authority.pair("x"), **change), [])


def test_no_server_at_all(authority: Authority) -> None:
    with pytest.raises(Missing, match="no API server answers"):
        api.connect(kubeconfig(authority, authority.pair("x")), [])
