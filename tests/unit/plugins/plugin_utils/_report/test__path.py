# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from reports import finding

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import load_rules
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._facts import ClusterFacts, HostFacts
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._path import STATION_OF, path
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._svg import way

HOSTS = [HostFacts("n1", node="n1"), HostFacts("n2", node="k2"), HostFacts("n3", node="n3")]
VXLAN = ClusterFacts(backend="vxlan", port=8472)


def broken(one):
    return one["hops"][one["broken"]]


def test_the_first_breaking_error_picks_the_host_and_the_hop():
    found = [
        finding("package-not-held", "error", ["n1"], "x"),
        finding("ip-forward-off", "error", ["n2"], "x"),
    ]
    seen = path(VXLAN, HOSTS, found)
    assert (seen["from"], seen["to"]) == ("n2", "n1")
    assert (broken(seen)["station"], broken(seen)["node"], broken(seen)["codes"]) == (
        "forward",
        "n2",
        ["ip-forward-off"],
    )
    assert "stops at forwarding on n2 (ip-forward-off)" in way(seen)


def test_a_node_is_known_by_its_name_in_kubernetes():
    seen = path(VXLAN, HOSTS, [finding("stale-link", "error", ["k2"], "x")])
    assert (seen["from"], broken(seen)["node"], broken(seen)["station"]) == ("n2", "n2", "bridge")


def test_the_other_end_is_a_host_without_the_fault():
    assert path(VXLAN, HOSTS, [finding("stale-link", "error", ["n1", "n2"], "x")])["to"] == "n3"


def test_a_fault_of_the_whole_cluster_breaks_the_first_side():
    seen = path(VXLAN, HOSTS, [finding("flannel-network-mismatch", "error", ["cluster"], "x")])
    assert seen["broken"] == 0 and broken(seen)["station"] == "pod"


def test_a_warning_marks_its_hop_and_breaks_nothing():
    seen = path(VXLAN, HOSTS, [finding("mtu-mismatch", "warning", ["n1"], "x")])
    assert seen["broken"] is None
    assert [hop["node"] for hop in seen["hops"] if hop["codes"]] == ["n1"]


def test_a_consequence_is_seen_too():
    cause = finding(
        "package-source-dead", "error", ["n3"], "x", consequences=[finding("route-missing", "error", ["n3"], "x")]
    )
    assert broken(path(VXLAN, HOSTS, [cause]))["station"] == "route"


def test_the_blocked_port_lies_between_the_nodes():
    seen = path(VXLAN, HOSTS, [finding("vxlan-port-blocked", "error", ["n1"], "x")])
    assert (broken(seen)["station"], broken(seen)["detail"]) == ("network", "UDP port 8472")


def test_host_gw_has_no_tunnel():
    seen = path(ClusterFacts(backend="host-gw"), HOSTS, [])
    assert "tunnel" not in [hop["station"] for hop in seen["hops"]] and len(seen["hops"]) == 11
    assert "no finding breaks its way" in way(seen)


def test_one_host_has_no_way():
    assert path(VXLAN, HOSTS[:1], [])["hops"] == [] and way(path(VXLAN, HOSTS[:1], [])) == ""


def test_codes_are_spelt_as_rules_are():
    assert set(STATION_OF) - set(load_rules()) == set()
