# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The answering end of a probe: says who it is, over TCP and UDP, to those who know this run's word.

PRIVATE to the collection. Standard library only. One request is one line C(podnet WORD QUESTION):

- C(who) is answered with C(podnet WORD NAME);
- C(bulk N), over TCP, is followed by N bytes, and answered with their SHA-256 and then the same N bytes.

Whoever does not know the word gets no answer, so that nothing else in the cluster can use it or be taken for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import socket
import threading
import time

from ansible_collections.podnet.kubeadm.plugins.module_utils import _detached

GREETING = "podnet"
MAX_BULK = 16 * 1024 * 1024
PATIENCE = 15.0


def listen(port: int, kind: socket.SocketKind) -> socket.socket:
    """A socket on *port* for both families, or for IPv4 where the namespace has no IPv6."""
    try:
        sock = socket.socket(socket.AF_INET6, kind)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("::", port))
    except OSError:
        sock = socket.socket(socket.AF_INET, kind)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("0.0.0.0", port))
    if kind == socket.SOCK_STREAM:
        sock.listen(128)
    return sock


def question(line: bytes, word: str) -> list[str]:
    """The words after the greeting, or nothing for a line that is not ours."""
    words = line.decode("ascii", "replace").split()
    return words[2:] if words[:2] == [GREETING, word] else []


def answer(word: str, name: str) -> bytes:
    return f"{GREETING} {word} {name}\n".encode()


def serve_connection(connection: socket.socket, word: str, name: str) -> None:
    connection.settimeout(PATIENCE)
    with contextlib.suppress(OSError, ValueError), connection, connection.makefile("rwb") as stream:
        asked = question(stream.readline(200), word)
        if asked == ["who"]:
            stream.write(answer(word, name))
        elif len(asked) == 2 and asked[0] == "bulk" and int(asked[1]) <= MAX_BULK:
            body = stream.read(int(asked[1]))
            stream.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        stream.flush()


def serve_tcp(sock: socket.socket, word: str, name: str) -> None:
    while True:
        connection, _peer = sock.accept()
        threading.Thread(target=serve_connection, args=(connection, word, name), daemon=True).start()


def serve_udp(sock: socket.socket, word: str, name: str) -> None:
    while True:
        data, peer = sock.recvfrom(2048)
        if question(data, word) == ["who"]:
            with contextlib.suppress(OSError):
                sock.sendto(answer(word, name), peer)


def serve(port: int, word: str, name: str) -> None:
    """Bind both sockets and start to answer; returns at once. Raises OSError where the port is taken."""
    tcp, udp = listen(port, socket.SOCK_STREAM), listen(port, socket.SOCK_DGRAM)
    for target, sock in ((serve_tcp, tcp), (serve_udp, udp)):
        threading.Thread(target=target, args=(sock, word, name), daemon=True).start()


def stay(pid: int, life: float) -> None:
    """Return when process *pid* (the pod's sandbox) is gone, or after *life* seconds."""
    end = time.monotonic() + life
    while time.monotonic() < end and os.path.exists(f"/proc/{pid}"):
        time.sleep(0.5)


def stop_others(netns: str) -> None:
    """End the answering ends that an interrupted run left in the namespace at *netns*: they hold the port."""
    wanted = os.stat(netns)
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{entry}/comm", encoding="ascii", errors="replace") as handle:
                if handle.read().strip() != _detached.COMM:
                    continue
            theirs = os.stat(f"/proc/{entry}/ns/net")
            if (theirs.st_dev, theirs.st_ino) == (wanted.st_dev, wanted.st_ino):
                os.kill(int(entry), signal.SIGKILL)
