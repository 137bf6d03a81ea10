# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from traces import judged, recorded

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace_tell import NEXT, report, sentence


def test_a_closed_port_is_an_answer_in_the_words_of_icmp() -> None:
    found, why = judged(recorded("udprefused"))
    assert (found.outcome, found.answered, why) == ("refused", True, [])
    assert "ICMP" in report(found, why)[-1]


def test_the_service_is_followed_to_its_pod() -> None:
    found, _why = judged(recorded("service"))
    assert (found.end["pod"], found.translated) == ("shop/web", True)
    assert any("became shop/web (10.244.1.3 port 8080, n2)" in line for line in report(found, []))


def test_a_host_that_is_not_watched_is_said_not_to_be() -> None:
    one = recorded("healthy")
    del one["seen"]["n2"], one["nodes"]["n2"]
    one["plan"]["ends"][0]["host"] = ""
    found, _why = judged(one)
    lines = report(found, [])
    assert found.unwatched == ["n2"] and any(line.startswith("n2 ") and line.endswith("?") for line in lines)
    assert found.way is None
    assert "? not watched, for not in the play or not reached: n2" in lines


def test_the_table_is_for_a_terminal() -> None:
    one = recorded("vxlan")
    lines = report(*judged(one))
    assert lines[1].split() == ["host", "hop", "there", "back"]
    assert any(line.startswith("n2    eth0, in UDP 8472") and "SYN 0.00 ms" in line for line in lines)
    assert "Last seen on the way there at eth0, in UDP 8472 of n2:" in lines
    assert max(map(len, lines[1:12])) <= 80


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("healthy", "The other end answered."),
        ("refused", "The other end answered."),
        ("forward", "Last seen on the way there at cni0 of n1: the reason"),
        ("podsilent", "Nothing came back; it was last seen at eth0 in shop/web of n2: the reason"),
        ("vxlanback", "Last seen on the way back at eth0, in UDP 8472 of n1: the reason"),
    ],
)
def test_how_it_ended_in_one_sentence(name: str, told: str) -> None:
    found, _why = judged(recorded(name))
    assert sentence(found, ["the reason", "another"]) == told
    assert sentence(found, []) == told.replace(": the reason", ".")


def test_what_was_not_seen_anywhere_and_what_was_not_taken() -> None:
    one = recorded("healthy")
    lost = {**one, "client": {"outcome": "no answer", "ms": 3000.0}}
    assert sentence(judged(lost)[0], ["the reason"]) == "No answer was taken: the reason"
    lost["seen"] = {host: {"packets": [], "drops": {}} for host in one["seen"]}
    assert sentence(judged(lost)[0], []) == "It was seen nowhere."


def test_reasons_and_the_next_step_stand_below() -> None:
    found, _why = judged(recorded("forward"))
    assert report(found, ["one", "two", "three"])[-4:] == ["because one", "also two", "also three", NEXT]
    assert NEXT not in report(judged(recorded("healthy"))[0], [])


def test_what_came_by_other_links_is_said_with_them() -> None:
    one = recorded("healthy")
    answer = one["seen"]["n1"]
    answer["packets"] = [packet for packet in answer["packets"] if packet["place"] == "host"]
    for packet in answer["packets"]:
        packet["link"] = packet["link"] if not packet["link"].startswith("veth") else "wg0"
    found, why = judged(one)
    assert (found.came, why) == (True, [])
    assert "It came there and back by other links than these: wg0 of n1." in report(found, [])


def test_what_a_host_said_is_harmless_on_a_terminal() -> None:
    one = recorded("forward")
    one["plan"]["note"] = "a\x1b[2Jb\nc"
    found, _why = judged(one)
    lines = report(found, ["\x1b[31mred"])
    assert "a\\x1b[2Jb\\nc" in lines and "because \\x1b[31mred" in lines
    assert "\x1b" not in sentence(found, ["\x1b[31mred"])
