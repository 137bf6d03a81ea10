# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from moments import at, number, state

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import _bridge
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._facts import Facts
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._values import UNKNOWN, Unsupported

LINKS = [
    {"ifname": "cni0", "linkinfo": {"info_kind": "bridge"}},
    {"ifname": "veth1", "master": "cni0", "linkinfo": {"info_kind": "veth"}},
    {"ifname": "eth0", "linkinfo": {"info_kind": "veth"}},
]
ROUTES = [
    {"dst": "10.244.1.0/24", "dev": "cni0"},
    {"dst": "10.244.2.0/24", "gateway": "10.244.2.0", "dev": "flannel.1"},
]
NODE: dict[str, Any] = {"ip_address": LINKS, "ip_route": ROUTES, "ip_rule": []}
ON = {**NODE, "sysctl": {"net.bridge.bridge-nf-call-iptables": "1"}}
OFF = {**NODE, "sysctl": {"net.bridge.bridge-nf-call-iptables": "0"}}
ON_BRIDGE = {"out": "cni0", "destination": "10.244.1.6"}


@pytest.mark.parametrize(
    ("packet", "node", "answer"),
    [
        ({}, ON, True),
        ({}, OFF, False),
        ({}, NODE, None),
        ({"in": "eth0"}, ON, False),
        ({"in": "eth0"}, NODE, False),
        ({"in": "br7"}, ON, None),
        ({"physdev_in": "veth1"}, OFF, True),
    ],
)
def test_whether_a_port_is_shown_to_the_ip_hooks(packet: dict[str, Any], node: dict[str, Any], answer: Any) -> None:
    assert _bridge.came_by_bridge(state(**packet), at(**node)) is answer


def test_ipv6_has_a_switch_of_its_own() -> None:
    six = {"source": "fd42::5", "destination": "fd42::6"}
    assert _bridge.came_by_bridge(state(**six), at(**ON)) is None
    switches = {"net.bridge.bridge-nf-call-ip6tables": "1", "net.bridge.bridge-nf-call-iptables": "0"}
    assert _bridge.came_by_bridge(state(**six), at(**{**NODE, "sysctl": switches})) is True


@pytest.mark.parametrize(
    ("packet", "node", "answer"),
    [
        (ON_BRIDGE, NODE, True),
        ({}, NODE, False),  # out by another link
        ({"in": "eth0", "out": "eth0"}, NODE, False),
        ({**ON_BRIDGE, "source": "10.244.2.5"}, NODE, None),
        ({"in": "br7", "out": "br7"}, NODE, None),
        ({**ON_BRIDGE, "original_destination": "10.96.0.10"}, NODE, False),  # sent to what only the host answers for
        ({**ON_BRIDGE, "out": ""}, NODE, None),
        ({"out": ""}, NODE, False),
        ({"in": "", "out": "eth0"}, NODE, False),
        ({"in": "", "out": ""}, NODE, False),
    ],
)
def test_whether_a_packet_stays_on_one_bridge(packet: dict[str, Any], node: dict[str, Any], answer: Any) -> None:
    assert _bridge.stays(state(**packet), Facts(node)) is answer


@pytest.mark.parametrize(
    ("hook", "packet", "node", "answer"),
    [
        ("forward", ON_BRIDGE, ON, True),
        ("postrouting", ON_BRIDGE, ON, True),
        ("prerouting", ON_BRIDGE, ON, False),
        ("input", ON_BRIDGE, ON, False),
        ("forward", ON_BRIDGE, OFF, False),
        ("forward", ON_BRIDGE, NODE, None),
        ("forward", {}, ON, False),
    ],
)
def test_is_bridged(hook: str, packet: dict[str, Any], node: dict[str, Any], answer: Any) -> None:
    assert _bridge.is_bridged(state(**packet), at(hook, **node)) is answer
    for option in ("--physdev-is-bridged", "--physdev-is-out"):
        assert _bridge.physdev(option, [], False)(state(**packet), at(hook, **node)) is answer


@pytest.mark.parametrize(
    ("name", "packet", "node", "answer"),
    [
        ("veth1", {"physdev_in": "veth1"}, ON, True),
        ("veth+", {"physdev_in": "veth9"}, ON, True),
        ("veth2", {"physdev_in": "veth1"}, ON, False),
        ("veth1", {}, ON, True),  # the bridge has one port only
        ("veth2", {}, ON, False),
        ("veth1", {}, OFF, False),
        ("veth1", {}, NODE, None),
        ("veth1", {"in": "eth0"}, ON, False),
    ],
)
def test_the_port_that_a_packet_came_by(name: str, packet: dict[str, Any], node: dict[str, Any], answer: Any) -> None:
    assert _bridge.physdev("--physdev-in", [name], False)(state(**packet), at(**node)) is answer
    negated = _bridge.physdev("--physdev-in", [name], True)(state(**packet), at(**node))
    assert negated is (None if answer is None else not answer)


@pytest.mark.parametrize(
    ("name", "negated", "packet", "node", "answer"),
    [
        ("veth1", False, {"in": "eth0"}, ON, False),
        ("veth1", True, {"in": "eth0"}, ON, True),  # came by no bridge at all
        ("veth1", False, {}, ON, False),
        ("veth1", True, {}, ON, False),  # came by a bridge and leaves by none: fulfils neither
        ("veth1", False, ON_BRIDGE, ON, True),
        ("veth2", False, ON_BRIDGE, ON, False),
        ("veth2", True, ON_BRIDGE, ON, True),
        ("veth1", False, {**ON_BRIDGE, "physdev_out": "veth1"}, ON, True),
        ("veth1", True, {**ON_BRIDGE, "physdev_out": "veth1"}, ON, False),
    ],
)
def test_the_port_that_a_packet_leaves_by(
    name: str, negated: bool, packet: dict[str, Any], node: dict[str, Any], answer: Any
) -> None:
    assert _bridge.physdev("--physdev-out", [name], negated)(state(**packet), at(**node)) is answer


def test_an_option_that_is_not_known_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="--physdev-new"):
        _bridge.physdev("--physdev-new", ["x"], False)


def test_a_source_that_is_not_known_leaves_it_open() -> None:
    assert _bridge.stays(state({"src": UNKNOWN, "oif": "cni0", "dst": number("10.244.1.6"),
                                "orig_dst": UNKNOWN}), Facts(NODE)) is None  # fmt: skip
