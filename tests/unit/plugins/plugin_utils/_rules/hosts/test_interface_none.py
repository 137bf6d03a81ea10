# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import flannel_pod, log, waits
from rules import findings, healthy, undetermined


def without_route(base="host"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    node["ip_route"] = [route for route in node["ip_route"] if route["dst"] != "default"]
    return bundle, node


def told(**flannel):
    bundle = healthy("host")
    bundle["intent"]["flannel"].update(flannel)
    return bundle


def test_no_default_route():
    bundle, _node = without_route()
    (found,) = findings("interface-none", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_an_interface_that_is_given_needs_no_route():
    bundle, _node = without_route()
    bundle["intent"]["flannel"]["interface"] = "eth0"
    assert findings("interface-none", bundle) == []


def test_a_flannel_that_runs_fails_only_at_its_next_start():
    bundle, _node = without_route("cluster")
    assert [found.severity for found in findings("interface-none", bundle)] == ["warning"]


def test_a_card_without_an_address():
    bundle = healthy("host")
    for link in bundle["nodes"]["node2"]["ip_address"]:
        if link["ifname"] == "eth0":
            link["addr_info"] = [one for one in link["addr_info"] if one["family"] != "inet"]
    (found,) = findings("interface-none", bundle)
    assert "has no IPv4 address" in found.summary


@pytest.mark.parametrize("flannel", [{"interface": "eth.*"}, {"interface": "ens3"}, {"interface_regex": "^ens"}])
def test_a_name_or_pattern_that_matches_nothing(flannel):
    (found,) = findings("interface-none", told(**flannel))
    assert found.where == ["node1", "node2", "node3"]


@pytest.mark.parametrize(
    "flannel",
    [
        {"interface": "eth0"},
        {"interface_regex": "^eth"},
        {"interface_regex": r"192\.168\.10\..*"},
        {"interface": ["ens3", "eth0"]},
    ],
)
def test_what_matches(flannel):
    assert findings("interface-none", told(**flannel)) == []


def test_an_address_is_on_one_host_only():
    (found,) = findings("interface-none", told(interface="192.168.10.11"))
    assert found.where == ["node2", "node3"]


def test_a_default_route_of_ipv6_alone_is_none_of_ipv4():
    bundle = healthy("host")
    for node in bundle["nodes"].values():
        default = next(one for one in node["ip_route"] if one["dst"] == "default")
        default.update(gateway="fd00:192:168:10::1", metric=1024, pref="medium")
    (found,) = findings("interface-none", bundle)
    assert found.severity == "error" and "no IPv4 default route" in found.summary


def test_dual_stack_that_runs_without_an_ipv6_default_route_is_information():
    bundle = healthy("cluster-dual")
    assert findings("interface-none", bundle) == []
    for node in bundle["nodes"].values():
        node["ip6_route"] = [route for route in node["ip6_route"] if route["dst"] != "default"]
    assert [found.severity for found in findings("interface-none", bundle)] == ["info"]


def test_a_pattern_that_cannot_be_read_is_no_finding():
    bundle = told(interface_regex="(")
    assert all(found.severity != "error" for found in findings("interface-none", bundle))


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["ip_route"]
    assert [missed.key for missed in undetermined("interface-none", bundle)] == ["nodes.*.ip_route"]


@pytest.mark.parametrize(
    "words",
    [
        "Could not find valid interface matching eth1: error looking up interface eth1: no such network interface",
        "Could not match pattern ^192 to any of the available network interfaces (lo:[127.0.0.1], ens18:[])",
        "failed to find IPv4 address for interface wlan0",
        "no interface with given IP found",
        "failed to get ifcanreach based interface: network is unreachable",
    ],
)
def test_flannels_words(words):
    bundle = healthy()
    pod = flannel_pod(bundle)
    log(bundle, pod, f"E1130 15:49:32 1 main.go:267] {words}")
    assert findings("interface-none", bundle) == []
    waits(pod, "CrashLoopBackOff")
    assert [found.where for found in findings("interface-none", bundle)] == [["node2"]]


def test_words_of_a_node_whose_host_was_not_looked_at():
    bundle = healthy()
    pod = flannel_pod(bundle)
    log(
        bundle,
        pod,
        "Failed to find any valid interface to use: failed to get default interface: Unable to find default route",
    )
    waits(pod, "CrashLoopBackOff")
    assert [found.where for found in findings("interface-none", bundle)] == [["node2"]]
    del bundle["nodes"]["node2"]
    assert [found.where for found in findings("interface-none", bundle)] == [["node2"]]


def test_a_flanneld_that_never_started_stands_for_another_reason():
    bundle, _node = without_route("cluster")
    pod = flannel_pod(bundle)
    for one in pod["status"]["containerStatuses"]:
        one.pop("restartCount", None)
    status = waits(pod, "PodInitializing")
    assert [one.severity for one in findings("interface-none", bundle)] == ["warning"]
    status["restartCount"] = 3
    assert [one.severity for one in findings("interface-none", bundle)] == ["error"]


def test_ipv6_where_flannel_found_its_interface_before():
    bundle = healthy("cluster-dual")
    pod = flannel_pod(bundle)
    waits(pod, "CrashLoopBackOff")["restartCount"] = 3
    assert {one.severity for one in findings("interface-none", bundle)} <= {"info"}
