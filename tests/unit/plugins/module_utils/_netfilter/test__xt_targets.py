# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import at, number, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _xt_targets
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._packet import STATES
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN, Unsupported

Options = list[tuple[bool, str, list[str]]]


def options(text: str) -> Options:
    found: Options = []
    for word in text.split():
        if word.startswith("--"):
            found.append((False, word, []))
        else:
            found[-1][2].append(word)
    return found


def done(name: str, text: str = "", changed: dict[str, Any] | None = None, hook: str = "forward") -> list[Any]:
    return _xt_targets.build(name, options(text), 4)(state(changed), at(hook))


@pytest.mark.parametrize(
    ("name", "text", "actions"),
    [
        ("ACCEPT", "", ["accept"]),
        ("DROP", "", ["drop"]),
        ("REJECT", "--reject-with tcp-reset", ["drop"]),
        ("RETURN", "", ["return"]),
        ("LOG", "--log-prefix x", ["next"]),
        ("TCPMSS", "--clamp-mss-to-pmtu", ["next"]),
        ("NFQUEUE", "--queue-num 0", ["accept", "drop"]),
        ("TPROXY", "--on-port 1", ["local", "drop", "accept"]),
        ("REDIRECT", "--to-ports 1", ["local"]),
        ("SYNPROXY", "", ["next", "accept", "drop"]),
        ("TTL", "--ttl-set 1", ["next", "drop"]),
        ("TTL", "--ttl-set 64", ["next"]),
        ("TTL", "--ttl-dec 1", ["next", "drop"]),
        ("HL", "--hl-inc 1", ["next"]),
        ("NOTRACK", "", ["next"]),
    ],
)
def test_what_a_target_does_to_the_packets_way(name: str, text: str, actions: list[str]) -> None:
    assert [one[0] for one in done(name, text)] == actions


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("--set-mark 0x1", 0xF0, 1),
        ("--set-mark 0x1/0xf", 0xF0, 0xF1),
        ("--set-mark 0x1/0x0", 0xF1, 0xF1),  # bits of the value are cleared before they are set, too
        ("--set-xmark 0x4000/0x4000", 1, 0x4001),
        ("--set-xmark 0x3/0x0", 1, 2),
        ("--set-xmark 0x7", UNKNOWN, 7),
        ("--set-xmark 0x4000/0x4000", UNKNOWN, UNKNOWN),
        ("--and-mark 0xf0", 0xFF, 0xF0),
        ("--or-mark 0xf", 0xF0, 0xFF),
        ("--xor-mark 0xf", 0xFF, 0xF0),
    ],
)
def test_marks_of_packets_and_of_connections(text: str, before: Any, after: Any) -> None:
    ((action, _target, found),) = done("MARK", text, {"mark": before})
    assert (action, found.mark, found.touched) == ("next", after, True)
    assert done("CONNMARK", text, {"ctmark": before})[0][2].ctmark == after


@pytest.mark.parametrize(
    ("text", "changed", "mark", "ctmark"),
    [
        ("--save-mark", {"mark": 5, "ctmark": 9}, 5, 5),
        ("--restore-mark", {"mark": 5, "ctmark": 9}, 9, 9),
        ("--save-mark --nfmask 0x4 --ctmask 0xf", {"mark": 5, "ctmark": 0x19}, 5, 0x14),
        ("--restore-mark --nfmask 0xf --ctmask 0x8", {"mark": 0x15, "ctmark": 9}, 0x18, 9),
        ("--restore-mark --mask 0xf", {"mark": 0x15, "ctmark": 9}, 0x19, 9),
        ("--save-mark --mask 0xf", {"mark": UNKNOWN, "ctmark": 9}, UNKNOWN, UNKNOWN),
        ("--save-mark", {"mark": 5, "ctmark": UNKNOWN}, 5, 5),  # whole words need no former one
        ("--restore-mark", {"tracking": "none", "mark": 5, "ctmark": 9}, 5, 9),
        ("--restore-mark", {"tracking": "untracked", "mark": 5, "ctmark": 9}, 5, 9),
        ("--restore-mark", {"tracking": "template", "mark": 5, "ctmark": 9}, UNKNOWN, 9),
        ("--save-mark", {"tracking": "template", "mark": 5, "ctmark": 9}, 5, 9),
    ],
)
def test_marks_go_between_packet_and_connection(text: str, changed: dict[str, Any], mark: Any, ctmark: Any) -> None:
    ((_action, _target, found),) = done("CONNMARK", text, changed)
    assert (found.mark, found.ctmark) == (mark, ctmark)


@pytest.mark.parametrize(
    ("text", "tracking", "after"),
    [
        ("--notrack", "none", "untracked"),
        ("--notrack", "tracked", "tracked"),  # too late
        ("--zone 3", "none", "template"),
        ("--helper ftp", "none", "template"),
        ("--helper ftp", "untracked", "untracked"),
    ],
)
def test_ct_acts_before_connection_tracking(text: str, tracking: str, after: str) -> None:
    ((_action, _target, found),) = done("CT", text, {"tracking": tracking}, "prerouting")
    assert found.tracking == after


@pytest.mark.parametrize(("name", "known"), [("new", True), ("invalid", True), ("established", False)])
def test_in_another_zone_only_a_new_connection_is_surely_new(name: str, known: bool) -> None:
    before = {"tracking": "none", "ctstate": STATES[name], "ctmark": 7}
    found = done("CT", "--zone 3", before, "prerouting")[0][2]
    assert (found.ctstate, found.ctmark) == (STATES[name] if known else UNKNOWN, UNKNOWN)
    late = _xt_targets.set_zone(state({"ctmark": 7}), at())[0][2]
    assert (late.ctmark, late.ctstate) == (7, STATES["new"])


@pytest.mark.parametrize(
    ("name", "text", "hook", "changed"),
    [
        ("DNAT", "--to-destination 10.244.2.9:8080", "prerouting", {"dst": number("10.244.2.9"), "dport": 8080}),
        ("SNAT", "--to-source 192.0.2.5", "postrouting", {"src": number("192.0.2.5"), "sport": UNKNOWN}),
        ("NETMAP", "--to 10.1.0.0/16", "prerouting", {"dst": UNKNOWN}),
        ("NETMAP", "--to 10.1.0.0/16", "postrouting", {"src": UNKNOWN, "dst": number("10.244.2.7")}),
        ("MASQUERADE", "", "postrouting", {"src": UNKNOWN}),
    ],
)
def test_translation(name: str, text: str, hook: str, changed: dict[str, Any]) -> None:
    ((action, _target, found),) = done(name, text, hook=hook)
    assert action == "accept" and {key: getattr(found, key) for key in changed} == changed


def test_a_program_may_have_changed_the_mark() -> None:
    assert done("NFQUEUE")[0][2].mark is UNKNOWN
    assert done("SYNPROXY")[0][2].mark is UNKNOWN and done("SYNPROXY")[2][2].mark == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [("NOSUCH", ""), ("DNAT", "--random"), ("SNAT", ""), ("MARK", "--set-class 1"), ("MARK", ""),
     ("CONNMARK", "--save-mark --left-shift-mark 2"), ("DNAT", "--to-destination pods")],
)  # fmt: skip
def test_what_cannot_be_read_is_unsupported(name: str, text: str) -> None:
    with pytest.raises(Unsupported):
        _xt_targets.build(name, options(text), 4)


@pytest.mark.parametrize(
    ("name", "may"),
    [("DROP", True), ("REJECT", True), ("NFQUEUE", True), ("TTL", True), ("TPROXY", True), ("SYNPROXY", True),
     ("NOSUCH", True), ("ACCEPT", False), ("RETURN", False), ("LOG", False), ("MARK", False), ("DNAT", False)],
)  # fmt: skip
def test_which_targets_may_end_a_packet(name: str, may: bool) -> None:
    assert _xt_targets.may_drop(name) is may


def test_what_changes_packets_for_later_chains_has_effects() -> None:
    assert {"MARK", "CONNMARK", "DNAT", "CT"} <= _xt_targets.EFFECTS
    assert not _xt_targets.EFFECTS & {"ACCEPT", "DROP", "LOG"}
