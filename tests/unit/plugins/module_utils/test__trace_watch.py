# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real packets between two network namespaces that play a pod and another host's, and a VXLAN link between them."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _netns, _trace_filter, _trace_watch
from ansible_collections.podnet.kubeadm.plugins.module_utils._trace_watch import WatchError

PORT, VXLAN_PORT = 23456, 18472
OUTCOMES = ["connected", "answered", "refused", "no answer"]
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("ip"), reason="network namespaces are made by root only, with iproute2"
)


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, timeout=10, capture_output=True, text=True).stdout


@pytest.fixture
def pair() -> Iterator[tuple[str, str]]:
    """Two namespaces: 192.0.2.1 and .2 on a veth pair, 198.51.100.1 and .2 within VXLAN."""
    word = secrets.token_hex(3)
    names = f"podnet-{word}a", f"podnet-{word}b"
    try:
        for name in names:
            ip("netns", "add", name)
        ip("-n", names[0], "link", "add", "under", "type", "veth", "peer", "name", "under", "netns", names[1])
        for number, name in enumerate(names, 1):
            ip("-n", name, "address", "add", f"192.0.2.{number}/24", "dev", "under")
            remote = ["local", f"192.0.2.{number}", "remote", f"192.0.2.{3 - number}"]
            ip("-n", name, "link", "add", "over", "type", "vxlan", "id", "7", *remote, "dstport", str(VXLAN_PORT))
            ip("-n", name, "address", "add", f"198.51.100.{number}/24", "dev", "over")
            ip("-n", name, "address", "add", f"fd42::{number}/64", "dev", "over", "nodad")
            for link in ("lo", "under", "over"):
                ip("-n", name, "link", "set", link, "up")
        yield names[0], names[1]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, timeout=10)


def watched(
    pair: tuple[str, str], address: str, port: int, connections: int = 1, udp: bool = False, number: int | None = None
) -> tuple[str, dict[str, Any]]:
    """How a connection from the first namespace ended, and what a watch over both saw."""
    word = secrets.token_hex(4)
    version = 6 if ":" in address else 4
    protocol = _trace_filter.UDP if udp else _trace_filter.TCP
    wanted = _trace_filter.patterns(version, PORT, [(address, port)], VXLAN_PORT, protocol)
    paths = {name: f"/run/netns/{name}" for name in pair}
    _trace_watch.start(word, wanted, VXLAN_PORT, paths, 20)
    outcome = ""
    for _number in range(connections):
        child = os.fork()  # there is no way back from the namespace
        if child == 0:
            answer = _trace_watch.connect(paths[pair[0]], PORT, address, port, 1.5, number, udp)
            os._exit(OUTCOMES.index(answer["outcome"]) if answer["outcome"] in OUTCOMES else 99)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        outcome = OUTCOMES[code] if code < len(OUTCOMES) else "other"
    return outcome, _trace_watch.collect(word, 5)


def ways(answer: dict[str, Any], flags: str) -> list[tuple[str, str, bool]]:
    return [(one["place"][-1], one["link"], one["out"]) for one in answer["packets"] if one.get("flags") == flags]


@needs_root
@pytest.mark.parametrize("address", ["198.51.100.2", "fd42::2"])
def test_a_refusal_is_seen_on_every_link_and_within_vxlan(pair: tuple[str, str], address: str) -> None:
    outcome, answer = watched(pair, address, 81)
    assert outcome == "refused"
    there = [("a", "over", True), ("a", "under", True), ("b", "under", False), ("b", "over", False)]
    assert sorted(ways(answer, "S")) == sorted(there)
    assert sorted(ways(answer, "RA")) == sorted((place, link, not out) for place, link, out in there)
    wrapped = next(one for one in answer["packets"] if one["link"] == "under" and one["flags"] == "S")
    assert (wrapped["outer_source"], wrapped["outer_destination"], wrapped["vni"]) == ("192.0.2.1", "192.0.2.2", 7)
    assert (wrapped["destination"], wrapped["source_port"], wrapped["destination_port"]) == (address, PORT, 81)
    assert answer["cut"] is False


@needs_root
def test_what_is_lost_is_seen_up_to_there(pair: tuple[str, str]) -> None:
    mac = json.loads(ip("-j", "-n", pair[1], "link", "show", "over"))[0]["address"]
    ip("-n", pair[0], "neigh", "replace", "198.51.100.2", "lladdr", mac, "dev", "over", "nud", "permanent")
    ip("-n", pair[1], "link", "set", "over", "down")
    outcome, answer = watched(pair, "198.51.100.2", 81)
    assert outcome == "no answer"
    assert set(ways(answer, "S")) == {("a", "over", True), ("a", "under", True), ("b", "under", False)}


@needs_root
def test_an_icmp_error_is_seen_with_what_it_quotes(pair: tuple[str, str]) -> None:
    ip("-n", pair[1], "route", "add", "prohibit", "203.0.113.0/24")
    ip("netns", "exec", pair[1], "sysctl", "-qw", "net.ipv4.ip_forward=1")
    ip("-n", pair[0], "route", "add", "203.0.113.0/24", "via", "192.0.2.2")
    _outcome, answer = watched(pair, "203.0.113.1", 80)
    errors = [one for one in answer["packets"] if one.get("error")]
    assert {(one["reporter"], *one["error"]) for one in errors} == {("192.0.2.2", 3, 13)}
    assert {(one["source"], one["destination"], one["source_port"]) for one in errors} == {
        ("192.0.2.1", "203.0.113.1", PORT)
    }


@needs_root
def test_a_connection_begins_with_the_number_it_is_given(pair: tuple[str, str]) -> None:
    outcome, answer = watched(pair, "192.0.2.2", 81, number=0xFEDCBA98)
    assert outcome == "refused"
    assert {one["sequence"] for one in answer["packets"] if one["flags"] == "S"} == {0xFEDCBA98}


@needs_root
@pytest.mark.parametrize("address", ["198.51.100.2", "fd42::2"])
def test_a_datagram_to_a_closed_port(pair: tuple[str, str], address: str) -> None:
    outcome, answer = watched(pair, address, 53, udp=True, number=0x1234)
    assert outcome == "refused"
    sent = [one for one in answer["packets"] if not one.get("error")]
    assert {(one["link"], one["sequence"], one["destination_port"]) for one in sent} == {
        ("over", 0x1234, 53),
        ("under", 0x1234, 53),
    }
    words = {(one["link"], one["reporter"], one["sequence"]) for one in answer["packets"] if one.get("error")}
    assert words == {("over", address, 0x1234), ("under", address, 0x1234)}


@needs_root
def test_a_datagram_is_sent_again_and_its_answer_seen(pair: tuple[str, str]) -> None:
    reader, writer = os.pipe()
    server = os.fork()
    if server == 0:  # answers the second datagram only
        _netns.enter(f"/run/netns/{pair[1]}")
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.settimeout(10)
        sock.bind(("192.0.2.2", 53))
        os.write(writer, b"!")
        sock.recvfrom(100)
        data, peer = sock.recvfrom(100)
        sock.sendto(data[:2] + b"yes", peer)
        os._exit(0)
    os.read(reader, 1)
    outcome, answer = watched(pair, "192.0.2.2", 53, udp=True, number=7)
    os.waitpid(server, 0)
    assert outcome == "answered"
    out = [one["source_port"] for one in answer["packets"] if one["place"] == pair[0]]
    assert out == [PORT, PORT, 53]
    assert {one["sequence"] for one in answer["packets"]} == {7}


@needs_root
def test_other_traffic_is_not_looked_at(pair: tuple[str, str]) -> None:
    word = secrets.token_hex(4)
    paths = {name: f"/run/netns/{name}" for name in pair}
    _trace_watch.start(word, _trace_filter.patterns(4, PORT, [], 0), 0, paths, 20)
    subprocess.run(
        ["ip", "netns", "exec", pair[0], "ping", "-c", "1", "-W", "1", "192.0.2.2"],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    assert _trace_watch.collect(word, 5)["packets"] == []


@needs_root
def test_a_watch_is_asked_once(pair: tuple[str, str]) -> None:
    word = secrets.token_hex(4)
    _trace_watch.start(word, _trace_filter.patterns(4, PORT, [], 0), 0, {}, 20)
    _trace_watch.collect(word, 5)
    with pytest.raises(WatchError, match="does not answer"):
        _trace_watch.collect(word, 5)


@needs_root
def test_a_namespace_that_is_gone_is_told() -> None:
    with pytest.raises(WatchError, match="/run/netns/nowhere cannot be opened"):
        _trace_watch.start(
            secrets.token_hex(4), _trace_filter.patterns(4, PORT, [], 0), 0, {"x": "/run/netns/nowhere"}, 5
        )


def test_the_watch_of_another_trace_is_not_there() -> None:
    with pytest.raises(WatchError, match="the watch nobody"):
        _trace_watch.collect("nobody", 1)
