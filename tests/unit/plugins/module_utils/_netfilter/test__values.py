# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _values
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import ABSENT, UNKNOWN, Unsupported


@pytest.mark.parametrize(
    ("name", "number"), [("tcp", 6), ("UDP", 17), ("17", 17), (58, 58), ("ipv6-icmp", 58), ("ip", 0), ("sctp", 132)]
)
def test_protocols_by_name_or_number(name: object, number: int) -> None:
    assert _values.protocol_number(name) == number


@pytest.mark.parametrize(("name", "number"), [("80", 80), ("https", 443), ("domain", 53)])
def test_ports_by_name_or_number(name: str, number: int) -> None:
    assert _values.port_number(name) == number


def test_addresses_are_numbers() -> None:
    assert _values.address("10.244.0.1") == (10 << 24) + (244 << 16) + 1
    assert _values.address("::ffff") == 0xFFFF


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (_values.protocol_number, "no-such-protocol"),
        (_values.port_number, "no-such-port"),
        (_values.port_number, "-1"),
        (_values.address, "10.244.0"),
        (_values.address, "n1"),
    ],
)
def test_what_no_one_knows_is_unsupported_and_named(read: object, text: str) -> None:
    with pytest.raises(Unsupported, match=text):
        read(text)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "family", "base", "mask"),
    [
        ("10.244.1.5", 4, "10.244.1.5", "255.255.255.255"),
        ("10.244.1.5/16", 4, "10.244.0.0", "255.255.0.0"),
        ("10.244.1.5/0", 4, "0.0.0.0", "0.0.0.0"),
        ("10.244.1.5/32", 4, "10.244.1.5", "255.255.255.255"),
        ("10.244.0.5/255.255.0.255", 4, "10.244.0.5", "255.255.0.255"),  # with a hole
        ("fd42::5/64", 6, "fd42::", "ffff:ffff:ffff:ffff::"),
        ("fd42::5/ffff::ffff", 6, "fd42::5", "ffff::ffff"),
    ],
)
def test_networks_are_a_base_and_a_mask(text: str, family: int, base: str, mask: str) -> None:
    assert _values.network(text, family) == (_values.address(base), _values.address(mask))


@pytest.mark.parametrize(
    ("answers", "any_of", "all_of", "same"),
    [
        ([], False, True, None),
        ([True], True, True, True),
        ([False, False], False, False, False),
        ([None], None, None, None),
        ([True, False], True, False, None),
        ([True, None], True, None, None),
        ([None, False], None, False, None),
        ([None, True, False], True, False, None),
    ],
)
def test_three_valued_logic(answers: list[bool | None], any_of: object, all_of: object, same: object) -> None:
    assert (_values.any_of(answers), _values.all_of(answers), _values.same(answers)) == (any_of, all_of, same)
    assert _values.negate(_values.any_of(answers)) == _values.all_of(_values.negate(one) for one in answers)


@pytest.mark.parametrize(
    ("matcher", "hits", "misses"),
    [
        (_values.equals(6), [6], [7, ABSENT]),
        (_values.within(30000, 32767), [30000, 32767, 31000], [29999, 32768]),
        (_values.within(5, 4), [], [4, 5]),
        (_values.masked(0x4000, 0x4000), [0x4000, 0xFFFF], [0, 0x8000]),
        (_values.masked(4, 0), [], [0, 4]),
        (_values.starts_with("cali"), ["cali1", "cali"], ["cal", "xcali"]),
        (_values.interface("cni+", "+"), ["cni0", "cni"], ["eth0"]),
        (_values.interface("+", "+"), ["", "eth0"], []),
        (_values.interface("cni*", "+"), ["cni*"], ["cni0"]),
        (_values.interface("cni*", "*"), ["cni0"], ["eth0"]),
    ],
)
def test_matchers_tell_what_is_known(matcher: _values.Matcher, hits: list[object], misses: list[object]) -> None:
    assert [matcher(one) for one in hits] == [True] * len(hits)
    assert [matcher(one) for one in misses] == [False] * len(misses)
    assert matcher(UNKNOWN) is None


def test_anything_is_matched_without_being_known() -> None:
    assert _values.anything(UNKNOWN) is True


def test_a_token_says_its_name() -> None:
    assert (repr(UNKNOWN), repr(ABSENT)) == ("unknown", "absent") and UNKNOWN != ABSENT
