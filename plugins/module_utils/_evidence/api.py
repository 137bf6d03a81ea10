# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read from the API server over HTTPS, with the certificate of a kubeconfig.

kubectl costs a tenth of a second of processor time a call, and a host may have none. One kind of kubeconfig is
understood, the one that kubeadm writes: one cluster, one user. The key never touches a disk: OpenSSL gets it by memfd.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import socket
import ssl
import time
from typing import Any, Callable
from urllib.parse import urlsplit

from .source import Missing

SECONDS = 5.0
PAGE = 500
LIST_SECONDS = 60.0

# method, path with query, body, headers -> status, body
Request = Callable[[str, str, "bytes | None", "dict[str, str]"], "tuple[int, bytes]"]


class Api:
    """Requests to an API server; REQUEST sends one (tests answer recorded bodies)."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def get(self, path: str, accept: str = "application/json") -> Any:
        """The parsed answer to a GET.

        :raises Missing: no answer, or none with a status of 200; `NotFound` for 404.
        """
        return self._json(path, *self._request("GET", path, None, {"Accept": accept}))

    def text(self, path: str) -> str:
        """The answer to a GET as text."""
        status, body = self._request("GET", path, None, {"Accept": "*/*"})
        if status != 200:
            raise Missing(f"{path} answered {status}")
        return body.decode("utf-8", "replace")

    def post(self, path: str, value: Any) -> Any:
        """The parsed answer to a POST of a JSON value (a review, which is stored nowhere)."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return self._json(path, *self._request("POST", path, json.dumps(value).encode(), headers))

    @staticmethod
    def _json(path: str, status: int, body: bytes) -> Any:
        if status == 404:
            raise NotFound(f"{path} is not there")
        try:
            value = json.loads(body)
        except ValueError:
            raise Missing(f"{path} answered {status} and no JSON") from None
        if not 200 <= status < 300:
            message = value.get("message", "") if isinstance(value, dict) else ""
            raise Missing(f"{path} answered {status}: {message}"[:400])
        return value

    def items(
        self, path: str, copy: Callable[[Any], Any], most: int = 0, query: str = "", accept: str = "application/json"
    ) -> list[Any]:
        """COPY of each item of a list, page by page, at most MOST of them (0: all)."""
        found: list[Any] = []
        token = ""
        until = time.monotonic() + LIST_SECONDS
        while True:
            more = f"&continue={token}" if token else ""
            page = self.get(f"{path}?limit={PAGE}{query}{more}", accept)
            found += [copy(item) for item in page.get("items") or []]
            token = (page.get("metadata") or {}).get("continue") or ""
            if not token or (most and len(found) >= most):
                return found[:most] if most else found
            if time.monotonic() > until:
                raise Missing(f"{path} was not read to its end within {LIST_SECONDS:g} s")


class NotFound(Missing):
    """The object is not there; what should be in it is empty."""


def connect(kubeconfig: str, servers: list[str]) -> Api:
    """An API that asks the first of SERVERS that answers, with the certificate in the text of a KUBECONFIG.

    :param servers: URLs; one on a loopback address is checked against the name `kubernetes`, which every
        certificate that kubeadm makes for the API server has.
    :raises Missing: the kubeconfig is of another kind, or no server answers; the reason of each is named.
    """
    context = client_context(
        _entry(kubeconfig, "certificate-authority"),
        _entry(kubeconfig, "client-certificate"),
        _entry(kubeconfig, "client-key"),
    )
    reasons = []
    for server in servers:
        request = requester(context, server)
        try:
            status, _body = request("GET", "/version", None, {})
        except Missing as reason:
            reasons.append(str(reason))
            continue
        if status == 401:
            reasons.append(f"{server} does not accept the certificate of the kubeconfig (401); it may have expired")
            continue
        return Api(request)
    raise Missing("no API server answers: " + "; ".join(reasons))


def server_of(kubeconfig: str) -> str:
    """The server that a kubeconfig names.

    :raises Missing: it names none, or several.
    """
    servers = re.findall(r"(?m)^\s*server:\s*[\"']?(https://[^\s\"']+)", kubeconfig)
    if len(servers) != 1:
        raise Missing(f"the kubeconfig names {len(servers)} servers; one as kubeadm writes it is understood")
    return str(servers[0])


def _entry(kubeconfig: str, name: str) -> bytes:
    match = re.search(rf"(?m)^\s*{name}(-data)?:\s*[\"']?([^\s\"']+)", kubeconfig)
    if not match:
        raise Missing(f"the kubeconfig has no {name}; one with a client certificate is understood")
    try:
        if match.group(1):
            return base64.b64decode(match.group(2), validate=True)
        with open(match.group(2), "rb") as file:
            return file.read(1024 * 1024)
    except (OSError, ValueError) as error:
        raise Missing(f"{name} of the kubeconfig cannot be read: {error}") from None


def client_context(authority: bytes, certificate: bytes, key: bytes) -> ssl.SSLContext:
    """A TLS client that trusts AUTHORITY only and shows CERTIFICATE (all PEM)."""
    try:
        context = ssl.create_default_context(cadata=authority.decode("ascii"))
        # Python 3.13 asks for extensions that older certificate authorities of kubeadm's do not have.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        descriptor = os.memfd_create("client")
        try:
            os.write(descriptor, certificate + b"\n" + key)
            context.load_cert_chain(f"/proc/self/fd/{descriptor}")
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise Missing(f"the client certificate cannot be used: {error}") from None
    return context


def requester(context: ssl.SSLContext, server: str) -> Request:
    """What sends one request to SERVER over a connection of its own."""
    place = urlsplit(server)
    host, port = place.hostname or "", place.port or 443
    name = "kubernetes" if host in ("127.0.0.1", "::1") and place.path != "/etcd" else host

    def request(method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
        try:
            plain = socket.create_connection((host, port), SECONDS)
            connection.sock = context.wrap_socket(plain, server_hostname=name)
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except ssl.SSLCertVerificationError as error:
            raise Missing(f"{server}: {error.verify_message}") from None
        except (OSError, http.client.HTTPException) as error:
            raise Missing(f"{server}: {error}") from None
        finally:
            connection.close()

    return request
