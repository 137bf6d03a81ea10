# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import PACKET, SIX, number

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import PacketError
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._packet import describe, state_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import ABSENT, UNKNOWN


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # The first packet of a TCP connection, unless it is said what it is.
        ({}, {"family": 4, "proto": 6, "sport": 40000, "dport": 80, "tcp_flags": 2, "ctstate": 8, "mark": 0,
              "iif": "cni0", "oif": "flannel.1", "physin": UNKNOWN, "icmp_type": ABSENT, "tracking": "none",
              "orig_dst": number("10.244.2.7"), "orig_dport": 80, "nat_dst": False, "touched": False}),
        ({"in": "", "out": None}, {"iif": UNKNOWN, "oif": UNKNOWN}),
        (SIX, {"family": 6, "src": number("fd42::5")}),
        ({"protocol": "udp", "destination_port": "8472"}, {"proto": 17, "dport": 8472, "tcp_flags": ABSENT}),
        ({"protocol": "icmp"}, {"proto": 1, "dport": ABSENT, "icmp_type": 8, "icmp_code": 0}),
        ({**SIX, "protocol": "icmp"}, {"proto": 58, "icmp_type": 128}),
        ({"protocol": "icmp", "icmp_type": 3, "icmp_code": 4}, {"icmp_type": 3, "icmp_code": 4}),
        ({"protocol": 50}, {"proto": 50, "dport": ABSENT, "icmp_type": ABSENT}),
        ({"mark": "0x4000", "connmark": 7}, {"mark": 0x4000, "ctmark": 7}),
        ({"tcp_flags": "syn,ack"}, {"tcp_flags": 18}),
        ({"tcp_flags": ["rst"]}, {"tcp_flags": 4}),
        # Of a connection that is there already less is known.
        ({"state": "established"}, {"ctstate": 2, "tcp_flags": UNKNOWN, "ctmark": UNKNOWN, "ctdir": UNKNOWN,
                                    "ctstatus": UNKNOWN, "orig_dst": UNKNOWN, "nat_dst": True}),
        ({"state": "ESTABLISHED", "direction": "original"}, {"ctdir": 0, "orig_dst": number("10.244.2.7")}),
        ({"state": "established", "direction": "reply"}, {"ctdir": 1, "orig_dst": UNKNOWN}),
        # What came to another address was translated.
        ({"original_destination": "10.96.0.10", "original_destination_port": 53},
         {"orig_dst": number("10.96.0.10"), "orig_dport": 53, "nat_dst": True, "ctstatus": 32}),
        ({"original_destination": "10.96.0.10"}, {"orig_dport": UNKNOWN, "dport": 80}),
        ({"physdev_in": "veth1"}, {"physin": "veth1", "physout": UNKNOWN}),
    ],
)  # fmt: skip
def test_what_a_description_says(given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = state_of({**PACKET, **given})
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"source": "10.244.1"}, "source is '10.244.1', which is not an IP address"),
        ({"source": None}, "source is missing"),
        ({"destination": ""}, "destination is missing"),
        ({"destination": "fd00::1"}, "different address families"),
        ({"state": "fresh"}, "state is 'fresh'; known are invalid, established"),
        ({"inn": "eth0", "at": 1}, "unknown key at, inn; known are in, out"),
        ({"protocol": "tpc"}, "protocol is 'tpc'"),
        ({"destination_port": "http"}, "destination_port is 'http', which is not a number"),
        ({"destination_port": 65536}, "destination_port is 65536; ports are numbers from 0"),
        ({"source_port": -1}, "source_port is -1"),
        ({"mark": "blue"}, "mark is 'blue'"),
        ({"tcp_flags": "syn,fyn"}, "tcp_flags has 'fyn'; known are fin"),
        ({"tcp_flags": 2}, "tcp_flags is 2; give a list"),
        ({"original_destination": "x"}, "original_destination is 'x'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(PacketError, match=words):
        state_of({**PACKET, **wrong})


def test_a_copy_is_another_state_with_the_changes() -> None:
    one = state_of(PACKET)
    other = one.copy(mark=7)
    assert (one.mark, other.mark, other.src) == (0, 7, one.src)
    assert one.key() != other.key() and one.key() == one.copy().key()


def test_joined_states_say_what_both_say() -> None:
    one = state_of(PACKET)
    both = one.join(one.copy(mark=7, dst=1))
    assert (both.mark, both.dst, both.src) == (UNKNOWN, UNKNOWN, one.src)
    assert one.join(one.copy()).key() == one.key()


@pytest.mark.parametrize(
    ("value", "family", "text"),
    [(number("10.244.1.5"), 4, "10.244.1.5"), (5, 6, "::5"), (UNKNOWN, 4, "unknown"), (ABSENT, 6, "absent")],
)
def test_addresses_as_text(value: Any, family: int, text: str) -> None:
    assert describe(value, family) == text
