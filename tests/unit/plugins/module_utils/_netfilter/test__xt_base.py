# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import at, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _xt_base
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import (
    ABSENT,
    UNKNOWN,
    Choice,
    Unsupported,
    equals,
)

PORTS = [{"ifname": "veth1", "master": "cni0"}, {"ifname": "veth2", "master": "cni0"}]


@pytest.mark.parametrize(("value", "answer"), [(7, True), (8, False), (UNKNOWN, None), (ABSENT, False)])
def test_a_field_that_is_absent_is_no_match(value: Any, answer: bool | None) -> None:
    assert _xt_base.field_is("mark", equals(7))(state({"mark": value}), at()) is answer


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (at("forward"), "cni0"),
        (at("prerouting"), "cni0"),
        (at("input"), "cni0"),
        (at("output"), ""),
        (at("postrouting"), "cni0"),
        (at("postrouting", kernel="5.7.0"), "cni0"),
        (at("postrouting", kernel="5.6.19-x"), ""),
        (at("postrouting", bridged=True), ""),
        (at("postrouting", bridged=None), UNKNOWN),
        (at("postrouting", layer="bridge", bridged=True), UNKNOWN),
    ],
)
def test_the_incoming_interface_at_each_hook(place: Any, name: Any) -> None:
    assert _xt_base.in_name(state(), place) == name


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (at("forward"), "flannel.1"),
        (at("postrouting"), "flannel.1"),
        (at("output"), "flannel.1"),
        (at("prerouting"), ""),
        (at("input"), ""),
        (at("ingress", layer="netdev"), ""),
        (at("forward", layer="bridge"), UNKNOWN),
    ],
)
def test_the_outgoing_interface_at_each_hook(place: Any, name: Any) -> None:
    assert _xt_base.out_name(state(), place) == name


def test_at_the_bridges_own_hooks_the_interface_is_a_port() -> None:
    place = at("forward", layer="bridge", ip_address=PORTS)
    assert _xt_base.in_name(state({"physin": "veth9"}), place) == "veth9"
    found = _xt_base.in_name(state(), place)
    assert isinstance(found, Choice) and found.values == ["veth1", "veth2"]
    assert _xt_base.out_name(state({"physout": "veth9"}), place) == "veth9"


@pytest.mark.parametrize(
    ("text", "hits", "misses"),
    [
        ("80", [80], [79, 81]),
        ("http", [80], [8080]),
        ("79:81", [79, 81], [78, 82]),
        (":1023", [0, 1023], [1024]),
        ("1024:", [1024, 65535], [1023]),
    ],
)
def test_ranges_of_ports(text: str, hits: list[int], misses: list[int]) -> None:
    match = _xt_base.port_range(text)
    assert all(match(one) for one in hits) and not any(match(one) for one in misses)


@pytest.mark.parametrize("text", ["no-such-port", "1:no-such-port"])
def test_a_port_that_no_one_knows_is_unsupported(text: str) -> None:
    with pytest.raises(Unsupported, match="no-such-port"):
        _xt_base.port_range(text)


@pytest.mark.parametrize(
    ("answers", "whole"),
    [
        ([(False, True), (True, False)], True),
        ([(False, True), (True, True)], False),
        ([(True, None), (False, True)], None),
        ([(True, None), (False, False)], False),
        ([], True),
    ],
)
def test_every_test_has_to_hold_those_that_are_negated_not(
    answers: list[tuple[bool, bool | None]], whole: bool | None
) -> None:
    tests = [(negated, lambda state, at, answer=answer: answer) for negated, answer in answers]
    assert _xt_base.every(tests)(state(), at()) is whole
