# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import SIX, at, number, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _nat
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import ABSENT, UNKNOWN, Unsupported

POD, OTHER = number("10.244.2.7"), number("10.244.2.9")


@pytest.mark.parametrize(
    ("addresses", "ports", "changed", "dst", "dport", "status"),
    [
        (OTHER, None, {}, OTHER, 80, 32),
        (OTHER, 8080, {}, OTHER, 8080, 32),
        (None, 8080, {}, POD, 8080, 32),
        (POD, None, {}, POD, 80, 0),  # to where it goes anyway
        (UNKNOWN, None, {}, UNKNOWN, 80, UNKNOWN),
        (OTHER, UNKNOWN, {}, OTHER, UNKNOWN, UNKNOWN),
        (OTHER, None, {"ctstatus": UNKNOWN}, OTHER, 80, UNKNOWN),
        (OTHER, 8080, {"dport": ABSENT}, OTHER, ABSENT, 32),
    ],
)
def test_a_destination_is_changed(
    addresses: Any, ports: Any, changed: dict[str, Any], dst: Any, dport: Any, status: Any
) -> None:
    ((action, target, found),) = _nat.destination(state(changed), at("prerouting"), addresses, ports)
    assert (action, target, found.dst, found.dport, found.ctstatus) == ("accept", None, dst, dport, status)
    assert found.nat_dst is True and found.touched is True and found.orig_dst == POD


def test_a_choice_of_destinations_is_an_alternative_for_each() -> None:
    found = _nat.destination(state(), at("prerouting"), [OTHER, POD])
    assert [one.dst for _action, _target, one in found] == [OTHER, POD]


@pytest.mark.parametrize(("address", "status"), [(OTHER, 16), (number("10.244.1.5"), UNKNOWN), (UNKNOWN, UNKNOWN)])
def test_a_source_is_changed_and_its_port_is_the_kernels_to_choose(address: Any, status: Any) -> None:
    ((action, _target, found),) = _nat.source(state(), at("postrouting"), address)
    assert (action, found.src, found.sport, found.ctstatus, found.nat_src) == ("accept", address, UNKNOWN, status, True)
    assert _nat.source(state(), at("postrouting"), address, 7)[0][2].sport == 7
    assert _nat.source(state(protocol="icmp"), at("postrouting"), address)[0][2].sport is ABSENT


def links(*addresses: str) -> dict[str, Any]:
    return {"ip_address": [{"ifname": "flannel.1", "addr_info": [{"local": one} for one in addresses]}]}


@pytest.mark.parametrize(
    ("node", "packet", "action", "source"),
    [
        (links("10.244.1.0"), {}, "accept", number("10.244.1.0")),
        (links("10.244.1.0", "10.244.1.1"), {}, "accept", UNKNOWN),
        (links(), {}, "drop", number("10.244.1.5")),
        (links("fd42::1"), {}, "drop", number("10.244.1.5")),
        (links("10.244.1.0"), {"out": ""}, "accept", UNKNOWN),
        (links("10.244.1.0"), {"out": "eth9"}, "accept", UNKNOWN),  # not listed
        ({}, {}, "accept", UNKNOWN),
        (links("fd42::1"), SIX, "accept", UNKNOWN),
        (links(), SIX, "accept", UNKNOWN),
    ],
)
def test_masquerading(node: dict[str, Any], packet: dict[str, Any], action: str, source: Any) -> None:
    ((done, _target, found),) = _nat.masquerade(state(**packet), at("postrouting", **node))
    assert (done, found.src) == (action, source)


def test_a_redirected_packet_is_the_hosts() -> None:
    assert [one[0] for one in _nat.redirect(state(), at("prerouting"))] == ["local"]


@pytest.mark.parametrize(
    ("text", "addresses", "ports"),
    [
        ("10.244.2.9", OTHER, None),
        ("10.244.2.9:8080", OTHER, 8080),
        ("10.244.2.9:8080-8090", OTHER, UNKNOWN),
        ("10.244.2.9-10.244.2.9", OTHER, None),
        ("10.244.2.8-10.244.2.9:53", UNKNOWN, 53),
        (":8080", None, 8080),
        ("fd42::9", number("fd42::9"), None),
        ("[fd42::9]:53", number("fd42::9"), 53),
        ("[fd42::9]", number("fd42::9"), None),
        ("[fd42::8-fd42::9]:53", UNKNOWN, 53),
    ],
)
def test_targets_as_iptables_save_writes_them(text: str, addresses: Any, ports: Any) -> None:
    assert _nat.parse_target(text) == (addresses, ports)


def test_a_target_that_is_no_address_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="pods"):
        _nat.parse_target("pods")
