# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import at, number, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _xt_conntrack
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._packet import STATES
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN, Unsupported

NONE, UNTRACKED = {"tracking": "none"}, {"tracking": "untracked"}


@pytest.mark.parametrize(
    ("changed", "layer", "found"),
    [
        ({}, "ip", STATES["new"]),
        (NONE, "ip", STATES["invalid"]),
        (UNTRACKED, "ip", STATES["untracked"]),
        ({"tracking": "template"}, "ip", STATES["new"]),
        ({"tracking": UNKNOWN}, "ip", UNKNOWN),
        ({"ctstate": UNKNOWN}, "ip", UNKNOWN),
        ({}, "bridge", UNKNOWN),
    ],
)
def test_the_state_as_the_kernel_answers_it_there(changed: dict[str, Any], layer: str, found: Any) -> None:
    assert _xt_conntrack.conntrack_state(state(changed), at(layer=layer)) == found


Options = list[tuple[bool, str, list[str]]]


def one(name: str, value: str, negated: bool = False) -> Options:
    return [(negated, name, [value])]


DNAT = {"ctstatus": 32}


@pytest.mark.parametrize(
    ("options", "changed", "answer"),
    [
        (one("--ctstate", "NEW"), {}, True),
        (one("--state", "NEW"), {}, True),
        (one("--ctstate", "RELATED,ESTABLISHED"), {}, False),
        (one("--ctstate", "RELATED,ESTABLISHED", True), {}, True),
        (one("--ctstate", "INVALID"), NONE, True),
        (one("--ctstate", "NEW"), NONE, False),
        (one("--ctstate", "UNTRACKED"), UNTRACKED, True),
        (one("--ctstate", "NEW"), {"ctstate": UNKNOWN}, None),
        (one("--ctstate", "DNAT"), DNAT, True),
        (one("--ctstate", "SNAT"), DNAT, False),
        (one("--ctstate", "DNAT"), {"ctstatus": UNKNOWN}, None),
        (one("--ctstate", "DNAT,NEW"), {"ctstatus": UNKNOWN}, True),
        (one("--ctstate", "DNAT"), {**DNAT, **UNTRACKED}, False),
        (one("--ctstatus", "DNAT,SEEN_REPLY"), DNAT, True),
        (one("--ctstatus", "SEEN_REPLY"), DNAT, False),
        (one("--ctstatus", "ASSURED"), {"ctstatus": UNKNOWN}, None),
        (one("--ctdir", "ORIGINAL"), {}, True),
        (one("--ctdir", "REPLY"), {}, False),
        (one("--ctproto", "tcp"), {}, True),
        (one("--ctproto", "17"), {}, False),
        (one("--ctorigdst", "10.244.2.0/24"), {"dst": number("10.244.9.9")}, True),
        (one("--ctorigsrc", "10.244.2.0/24"), {}, False),
        (one("--ctorigdstport", "79:81"), {"dport": 1}, True),
        (one("--ctorigsrcport", "1"), {}, False),
        # Without a connection nothing of it is looked at, whatever is negated.
        (one("--ctdir", "REPLY", True), UNTRACKED, False),
        (one("--ctdir", "REPLY", True), NONE, False),
        ([*one("--ctstate", "INVALID"), *one("--ctdir", "REPLY")], NONE, True),
        ([*one("--ctstate", "NEW"), *one("--ctdir", "ORIGINAL")], NONE, False),
        ([*one("--ctstate", "NEW"), *one("--ctdir", "REPLY")], {}, False),
        # A template is a connection of which only that it is new is known.
        (one("--ctstate", "NEW"), {"tracking": "template"}, True),
        (one("--ctdir", "ORIGINAL"), {"tracking": "template"}, None),
        ([*one("--ctstate", "INVALID"), *one("--ctdir", "ORIGINAL")], {"tracking": "template"}, False),
    ],
)
def test_conntrack(options: Options, changed: dict[str, Any], answer: bool | None) -> None:
    assert _xt_conntrack.conntrack(options, 4)(state(changed), at()) is answer


@pytest.mark.parametrize(
    ("name", "value"),
    [("--ctexpire", "1:2"), ("--ctstate", "NEW,FRESH"), ("--ctstatus", "NONE"), ("--ctproto", "no-such-protocol")],
)
def test_what_cannot_be_read_is_unsupported(name: str, value: str) -> None:
    with pytest.raises(Unsupported):
        _xt_conntrack.conntrack(one(name, value), 4)


@pytest.mark.parametrize(
    ("text", "negated", "mark", "answer"),
    [
        ("0x4000/0x4000", False, 0xC000, True),
        ("0x4000/0x4000", False, 0x8000, False),
        ("0x4000/0x4000", True, 0x8000, True),
        ("0x1", False, 1, True),
        ("1", False, 0x10001, False),
        ("0x1", False, UNKNOWN, None),
    ],
)
def test_marks(text: str, negated: bool, mark: Any, answer: bool | None) -> None:
    options = one("--mark", text, negated)
    assert _xt_conntrack.mark_is("mark")(options, 4)(state({"mark": mark}), at()) is answer
    assert _xt_conntrack.connmark(options, 4)(state({"ctmark": mark}), at()) is answer


@pytest.mark.parametrize("changed", [NONE, UNTRACKED])
@pytest.mark.parametrize("negated", [True, False])
def test_without_a_connection_no_mark_of_it_is_met(changed: dict[str, Any], negated: bool) -> None:
    assert _xt_conntrack.connmark(one("--mark", "0", negated), 4)(state(changed), at()) is False


def test_a_template_may_have_any_mark() -> None:
    assert _xt_conntrack.connmark(one("--mark", "0"), 4)(state({"tracking": "template"}), at()) is None


def test_another_option_of_a_mark_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="--nth"):
        _xt_conntrack.mark_is("mark")(one("--nth", "1"), 4)
