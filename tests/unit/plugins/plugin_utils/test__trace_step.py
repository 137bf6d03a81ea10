# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from traces import followed, recorded

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace import Hop
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace_step import Step


def step(one: dict[str, Any] | str) -> Step:
    return Step(*followed(recorded(one) if isinstance(one, str) else one))


def of(hop: Hop | None) -> str:
    return f"{hop.host} {hop.kind}" if hop else ""


@pytest.mark.parametrize(
    ("name", "before", "after", "turned", "host"),
    [
        ("forward", "n1 bridge", "n1 tunnel", False, "n1"),
        ("vxlan", "n2 nic", "n2 tunnel", False, "n2"),
        ("drop2", "n2 tunnel", "n2 bridge", False, "n2"),
        ("vxlanback", "n1 nic", "n1 tunnel", False, "n1"),
        ("podsilent", "n2 pod", "", True, "n2"),
    ],
)
def test_the_step_lies_between_who_saw_it_last_and_who_did_not(
    name: str, before: str, after: str, turned: bool, host: str
) -> None:
    found = step(name)
    assert (of(found.before), of(found.after), found.turned, found.host) == (before, after, turned, host)


def test_where_nothing_was_seen_the_step_is_before_the_first_hop() -> None:
    one = recorded("healthy")
    one["seen"] = {host: {"packets": [], "drops": {}} for host in one["seen"]}
    found = step({**one, "client": {"outcome": "no answer", "ms": 3000.0}})
    assert (of(found.before), of(found.after), found.host) == ("", "n1 pod", "n1")


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("forward", ("10.244.0.6", "10.244.1.3", 25346, 8080)),
        ("vxlanback", ("10.244.1.3", "10.244.0.6", 8080, 25346)),
    ],
)
def test_ends_are_those_of_the_way_on_which_it_was_lost(name: str, ends: tuple[str, str, int, int]) -> None:
    one = recorded(name)
    port = one["plan"]["source"]["port"]
    assert step(one).ends == tuple(port if end == 25346 else end for end in ends)
    assert step(one).version == 4


@pytest.mark.parametrize(("address", "node"), [("10.244.1.3", "n2"), ("10.244.0.6", "n1"), ("192.0.2.1", None)])
def test_the_lease_that_an_address_belongs_to(address: str, node: str | None) -> None:
    lease = step("forward").lease(address)
    assert (lease and lease.node) == node
    one = recorded("forward")
    del one["cluster"]["nodes"]
    assert step(one).lease(address) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"flags": ["BROADCAST"]}, ["flannel.1 of n1 is down"]),
        ({"flags": None}, ["flannel.1 of n1 is down"]),
        ({"ifname": "flannel.7"}, ["n1 has no link flannel.1"]),
    ],
)
def test_a_link_that_is_down_or_not_there(change: dict[str, Any], said: list[str]) -> None:
    one = recorded("forward")
    next(link for link in one["nodes"]["n1"]["ip_address"] if link["ifname"] == "flannel.1").update(change)
    assert list(step(one).down("flannel.1")) == said
    assert list(step(one).down("")) == []
    del one["nodes"]["n1"]["ip_address"]
    assert list(step(one).down("flannel.1")) == []


def test_a_hop_is_named_as_it_was_seen_else_by_its_kind() -> None:
    found = step("forward")
    names = {one.hop.kind: found.named(one.hop) for one in found.trace.hops if one.hop.host == "n2"}
    assert names == {"nic": "", "tunnel": "flannel.1", "bridge": "cni0", "veth": "", "pod": ""}
    first = found.trace.hops[1]
    assert found.named(first.hop) == first.link and first.link.startswith("veth")


def test_packets_of_a_hop_are_those_of_the_way() -> None:
    there, back = step("forward"), step("vxlanback")
    assert there.before and {one.destination for one in there.packets(there.before)} == {"10.244.1.3"}
    assert back.before and {one.source for one in back.packets(back.before)} == {"10.244.1.3"}
    assert there.after and there.packets(there.after) == there.packets(Hop("n9", "nic", True)) == []


PACKET = {
    "source": "10.244.0.6",
    "destination": "10.244.1.3",
    "source_port": 25346,
    "destination_port": 8080,
    "in": "cni0",
    "out": "flannel.1",
    "protocol": "tcp",
}
DROP = "-A FORWARD -p tcp --dport 8080 -j DROP"


def walked(change: Any) -> list[str]:
    one = recorded("healthy")
    change(one["nodes"]["n1"])
    return list(step(one).walked(PACKET, ("forward",)))


def insert(rule: str) -> Any:
    def change(node: dict[str, Any]) -> None:
        before, head, after = node["iptables"]["nft"].partition("-A FORWARD")
        node["iptables"]["nft"] = f"{before}{rule}\n{head}{after}"

    return change


def test_a_rule_that_drops_is_told_with_its_place() -> None:
    (said,) = walked(insert(DROP))
    assert said == f"a rule of n1 drops it at the forward hook: {DROP} (table ip filter, chain FORWARD)"


def test_a_rule_that_may_drop_is_not_said_to_do_it() -> None:
    (said,) = walked(insert("-A FORWARD -m u32 --u32 0=1 -j DROP"))
    assert said.startswith("whether a rule of n1 drops it at the forward hook is not known: -A FORWARD -m u32")


@pytest.mark.parametrize(
    "change", [lambda node: None, lambda node: [node.pop(key, None) for key in ("iptables", "nft")]]
)
def test_rules_that_accept_and_rules_that_were_not_looked_at_say_nothing(change: Any) -> None:
    assert walked(change) == []


def test_rules_that_cannot_be_read_are_told() -> None:
    (said,) = walked(lambda node: node.update(nft={"x": 1}))
    assert said.startswith("the rules of n1 cannot be read: ")


@pytest.mark.parametrize(
    ("change", "mac"),
    [
        ({}, None),
        ({"lladdr": "00:00:00:00:00:01"}, "00:00:00:00:00:01"),
        ({"dev": "flannel.7"}, "missing"),
        ({"dst": "10.244.7.0"}, "missing"),
        ({"lladdr": None}, "missing"),
    ],
)
def test_a_neighbour_entry_is_held_against_the_lease(change: dict[str, Any], mac: str | None) -> None:
    one = recorded("healthy")
    entry = next(entry for entry in one["nodes"]["n1"]["ip_neigh"] if entry["dev"] == "flannel.1")
    entry.update(change)
    found = step(one)
    said = [f"the neighbour entry of 10.244.1.0 on flannel.1 of n1 is {mac}; the lease of n2 says ae:75:3d:a9:3b:0a"]
    assert list(found.neighbour(found.lease("10.244.1.3"), "flannel.1")) == (said if mac else [])
    assert list(found.neighbour(None, "flannel.1")) == []


def test_a_host_of_which_nothing_is_known_has_no_evidence() -> None:
    found = step("forward")
    assert found.raw("n9") == {} and found.raw("n2")["hostname"] == "n2" and found.raw() == found.raw("n1")
    assert found.link("cni0") and found.link("no such") is None
