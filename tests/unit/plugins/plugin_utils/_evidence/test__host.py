# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._host import Host, host_names
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed, Missing


def host(name="node2", base="cluster", **changes):
    """A recorded host with keys changed, or taken away where None stands."""
    raw = healthy(base)["nodes"][name] | changes
    return Host({key: value for key, value in raw.items() if value is not None}, name)


def test_what_is_derived_is_made_once_and_so_is_what_was_missed():
    calls = []

    def missing():
        calls.append("missing")
        raise Missing("nodes.n1.swap")

    one = host()
    for _twice in range(2):
        assert one.derived("a", lambda: calls.append("made") or None) is None
        with pytest.raises(Missing) as found:
            one.derived("b", missing)
        assert found.value.key == "nodes.n1.swap"
    assert calls == ["made", "missing"]


def test_links_by_name():
    assert host().link("flannel.1").kind == "vxlan"
    assert host().link("no such") is None
    with pytest.raises(Missing) as found:
        host(ip_address=None).link("lo")
    assert found.value.key == "nodes.node2.ip_address"


@pytest.mark.parametrize(("value", "error"), [(None, Missing), ({}, Malformed), ("x", Malformed)])
def test_objects_as_they_are(value, error):
    assert host(bridge_fdb=[{"mac": 1}, None, "x"]).raw_objects("bridge_fdb") == [{"mac": 1}]
    with pytest.raises(Missing) as found:
        host(bridge_fdb=value).raw_objects("bridge_fdb")
    assert (type(found.value), found.value.key) == (error, "nodes.node2.bridge_fdb")


def test_routes_of_the_main_table_by_destination_as_written():
    extra = [
        {"dst": "10.1.0.0/16", "table": "100"},
        {"dst": "10.2.0.0/16", "type": "blackhole"},
        {"dst": 7},
        {"dev": "eth0"},
        {"dst": "10.3.0.0/16", "table": "main", "type": "unicast", "dev": "x"},
    ]
    one = host()
    known = one.main_by_text()
    one.raw["ip_route"] += extra
    assert one.main_by_text() is known  # made once
    again = Host(one.raw, "node2").main_by_text()
    assert set(again) - set(known) == {"10.3.0.0/16"} and again["10.3.0.0/16"]["dev"] == "x"
    assert known["default"]["gateway"] == "192.168.10.1"
    assert all(":" in dst for dst in one.main_by_text(6))


def test_own_routes_are_those_of_both_families_as_far_as_looked_at():
    both = host(base="cluster-dual")
    assert {one.dst.version for one in both.main_routes() + both.main_routes(6)} == {4, 6}
    assert {one.dst.version for one in host(base="cluster-dual", ip_route=None).own_routes} == {6}
    assert {one.dst.version for one in host(base="cluster-dual", ip6_route=None).own_routes} == {4}
    assert host(ip_route=None, ip6_route=None).own_routes == []
    to_others = {"10.244.0.0/24", "10.244.2.0/24"}
    assert to_others <= {str(one.dst) for one in both.main_routes()}
    assert not to_others & {str(one.dst) for one in both.own_main_routes()}
    assert {one.dst.version for one in both.own_main_routes(6)} == {6}


def test_default_links_are_those_of_any_table():
    one = host()
    one.raw["ip_route"] += [
        {"dst": "default", "dev": "wg0", "table": "51820"},
        {"dst": "10.0.0.0/8", "dev": "eth1", "table": "51820"},
    ]
    assert one.default_links == {"eth0", "wg0"}
    assert not [route for route in one.main_routes() + one.own_main_routes() if route.dev == "wg0"]


def test_addresses_of_one_family_or_of_both():
    every = host(base="cluster-dual").addresses()
    assert ("eth0", "192.168.10.12/24") in [(link.name, str(one)) for link, one in every]
    for version in (4, 6):
        some = host(base="cluster-dual").addresses(version)
        assert some and some == [pair for pair in every if pair[1].version == version]


@pytest.mark.parametrize(
    ("state", "active", "works"),
    [
        ("active", True, True),
        ("reloading", True, True),
        ("activating", True, False),
        ("inactive", False, False),
        ("failed", False, False),
    ],
)
def test_a_unit_that_starts_again_and_again_is_active_and_does_not_work(state, active, works):
    one = host(units={"kubelet": {"active": state}})
    assert (one.unit_active("kubelet"), one.unit_works("kubelet")) == (active, works)
    assert (one.unit_active("other"), one.unit_works("other"), bool(one.unit("other"))) == (False, False, False)


@pytest.mark.parametrize(
    ("inotify", "sysctl", "limit"),
    [
        ({"max_user_instances": 1}, {"fs.inotify.max_user_instances": "2"}, 1),
        (None, {"fs.inotify.max_user_instances": "2"}, 2),
        (None, {}, None),
        ({}, None, None),
    ],
)
def test_inotify_limits_by_themselves_or_as_kernel_values(inotify, sysctl, limit):
    assert host(inotify=inotify, sysctl=sysctl).inotify_limits.number("max_user_instances") == limit


def test_inotify_limits_that_were_not_looked_at_are_missing():
    with pytest.raises(Missing) as found:
        _read = host(inotify=None, sysctl=None).inotify_limits
    assert found.value.key == "nodes.node2.inotify"


def test_probes_by_what_they_asked():
    probes = [{"what": what} for what in ("udp/8472", "udp/84", "icmp-host/1472", "icmp")]
    one = host(probes=probes)
    assert [each.text("what") for each in one.probe("udp/84")] == ["udp/84"]
    assert [each.text("what") for each in one.probe("udp/")] == ["udp/8472", "udp/84"]
    assert one.probe("icmp-host") == []


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "node2"),
        ({"hostname": "Node2.Example\n"}, "node2.example"),
        ({"hostname": None}, "node2"),
        ({"kubelet_flags": 'KUBELET_EXTRA_ARGS="--hostname-override=Other"'}, "Other"),
        ({"kubelet_flags": 7}, "node2"),
    ],
)
def test_the_name_that_the_kubelet_registers(changes, name):
    one = host(**changes)
    assert one.node_name == name
    assert one.hostname_override == ("Other" if name == "Other" else "")


def test_ids_of_sandboxes():
    assert host(sandboxes=[{"id": "a"}, {"id": "b", "pod": "x"}]).sandbox_ids == {"a", "b"}


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("cni_ipam", {"cbr0": {"10.244.1.2": "a", "10.244.1.3": None}, "x": 7}, {"cbr0": {"10.244.1.2": "a"}}),
        ("proxy_env", {"shell": {"no_proxy": "x", "a": []}, "y": "z"}, {"shell": {"no_proxy": "x"}}),
        ("link_offload", {"eth0": {"tx": True, "rx": "on"}, "x": None}, {"eth0": {"tx": True}}),
    ],
)
def test_maps_of_maps_without_what_is_none(key, value, read):
    assert getattr(host(**{key: value}), key) == read
    with pytest.raises(Malformed):
        getattr(host(**{key: []}), key)


@pytest.mark.parametrize(("raw", "names"), [({"a": 1, 7: 2}, ["a"]), (["a", "b"], ["a", "b"]), ("a", []), (None, [])])
def test_names_of_hosts(raw, names):
    assert host_names(raw) == names


def probed(what, ok, **more):
    return {"from": "node1", "to": "node2", "what": what, "ok": ok, "ms": 1.0 if ok else None, **more}


FOUR = [probed("tcp/pod", False), probed("udp/dns", False), probed("icmp/1422", False)]
SIX = [probed("tcp/pod", True, family=6), probed("udp/dns", True, family=6), probed("icmp/1402", True, family=6)]


def test_probes_that_are_held_against_each_other_are_of_one_family():
    node = host("node1", probes=[*SIX, *FOUR])
    assert [one.flag("ok") for one in node.probe("tcp/pod") + node.probe("icmp/")] == [False, False]
    node = host("node1", probes=SIX)
    assert [one.flag("ok") for one in node.probe("tcp/pod") + node.probe("icmp/")] == [True, True]


def test_a_route_of_one_family_that_is_missing_is_neither_an_mtu_nor_a_checksum():
    """As it was seen: IPv4 between two nodes was dead, and IPv6 was well."""
    bundle = healthy()
    bundle["nodes"]["node1"]["probes"] = [*SIX, *FOUR]
    assert findings("mtu-mismatch", bundle) == findings("checksum-offload", bundle) == []
