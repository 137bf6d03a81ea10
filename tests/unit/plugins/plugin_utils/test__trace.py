# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from traces import judged, last, recorded

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace_tell import report


@pytest.mark.parametrize(
    "name, hops",
    [
        ("healthy", 10),
        ("service", 10),
        ("near", 4),
        ("api", 5),
        ("refused", 10),
        ("node", 5),
        ("hostgw", 8),
        ("hairpin", 4),
        ("udp", 4),
        ("udprefused", 10),
        ("udpnode", 5),
        ("fromnode", 7),
    ],
)
def test_what_arrives_is_seen_on_every_hop_both_ways(name: str, hops: int) -> None:
    found, why = judged(recorded(name))
    assert len(found.hops) == hops
    assert [one.hop for one in found.hops if not one.there or not one.back] == []
    assert (last(found), why, found.answered) == ("there and back", [], True)


def test_a_datagram_that_is_masqueraded_is_known_by_what_it_says() -> None:
    one = recorded("udpnode")
    sent = [packet for packet in one["seen"]["n2"]["packets"] if not packet.get("error")]
    assert sent and all(packet["source_port"] != one["plan"]["source"]["port"] for packet in sent)
    one["plan"]["sequence"] += 99
    found, _why = judged(one)
    assert not found.hops[-1].there


def test_a_node_is_known_by_the_number_it_began_with() -> None:
    one = recorded("fromnode")
    assert {packet["source_port"] for packet in one["seen"]["n2"]["packets"]} - {one["plan"]["source"]["port"]}
    found, why = judged(one)
    assert report(found, why)[0].startswith("node n1 (fd42::) to service shop/web6 (fd43::7:9160, TCP port 80): conn")
    one["plan"]["sequence"] += 99
    found, _why = judged(one)
    assert not found.hops[0].there
