# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""On the healthy clusters of the field cases, with one thing taken away at a time."""

from __future__ import annotations

import copy
import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._lease_proof import after, before

BASE = pathlib.Path(__file__).parents[3] / "field-cases" / "base"
NET_CONF = {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}
Bundle = dict[str, Any]


def bundle(name: str = "cluster") -> Bundle:
    return json.loads((BASE / f"{name}.json").read_text())


def proven(one: Bundle) -> list[str]:
    return after(one["cluster"], one["nodes"], one["intent"], one["taken_at"])


def spoken_against(one: Bundle, conf: dict[str, Any] | None = None, **intent: Any) -> list[str]:
    asked = {**one["intent"], **intent}
    return before(one["cluster"], json.dumps(NET_CONF if conf is None else conf), asked, one["taken_at"])


@pytest.mark.parametrize("name", ["cluster", "cluster-dual"])
def test_healthy_clusters_are_proven(name: str) -> None:
    assert proven(bundle(name)) == []


def node(one: Bundle, name: str = "node2") -> dict[str, Any]:
    return next(item for item in one["cluster"]["nodes"]["items"] if item["metadata"]["name"] == name)


def no_range(one: Bundle) -> None:
    node(one)["spec"].pop("podCIDR")
    node(one)["spec"].pop("podCIDRs", None)


def three_ranges(one: Bundle) -> None:
    node(one)["spec"]["podCIDRs"] = ["10.244.1.0/24", "fd42::/64", "10.244.9.0/24"]


def outside(one: Bundle) -> None:
    node(one)["spec"].update(podCIDR="10.42.1.0/24", podCIDRs=["10.42.1.0/24"])


def shared(one: Bundle) -> None:
    node(one)["spec"].update(podCIDR="10.244.0.0/24", podCIDRs=["10.244.0.0/24"])


def no_lease(one: Bundle) -> None:
    del node(one)["metadata"]["annotations"]["flannel.alpha.coreos.com/kube-subnet-manager"]


def other_backend(one: Bundle) -> None:
    node(one)["metadata"]["annotations"]["flannel.alpha.coreos.com/backend-type"] = "host-gw"


def no_public_ip(one: Bundle) -> None:
    del node(one)["metadata"]["annotations"]["flannel.alpha.coreos.com/public-ip"]


def no_subnet_env(one: Bundle) -> None:
    one["nodes"]["node2"]["subnet_env"] = ""


def stale_subnet_env(one: Bundle) -> None:
    text = one["nodes"]["node2"]["subnet_env"]
    one["nodes"]["node2"]["subnet_env"] = text.replace("10.244.1.1/24", "10.244.7.1/24")


def other_network(one: Bundle) -> None:
    text = one["nodes"]["node2"]["subnet_env"]
    one["nodes"]["node2"]["subnet_env"] = text.replace("10.244.0.0/16", "10.0.0.0/8")


def no_route(one: Bundle) -> None:
    routes = one["nodes"]["node2"]["ip_route"]
    one["nodes"]["node2"]["ip_route"] = [route for route in routes if route["dst"] != "10.244.2.0/24"]


def narrow_network(one: Bundle) -> None:
    one["cluster"]["flannel_config"]["net-conf.json"] = json.dumps({**NET_CONF, "Network": "10.244.0.0/23"})


@pytest.mark.parametrize(
    ("take_away", "says"),
    [
        (no_range, "node node2 has no pod range"),
        (three_ranges, "node node2 has 3 pod ranges"),
        (outside, "does not contain 10.42.1.0/24 of node node2"),
        (shared, "node-cidr-duplicate"),
        (no_lease, "node node2 has no lease"),
        (other_backend, "lease of backend 'host-gw', not vxlan"),
        (no_public_ip, "lease without public-ip"),
        (no_subnet_env, "host node2 has no /run/flannel/subnet.env"),
        (stale_subnet_env, "says FLANNEL_SUBNET=10.244.7.1/24, and its node has 10.244.1.0/24"),
        (other_network, "says FLANNEL_NETWORK=10.0.0.0/8, and flannel is configured for 10.244.0.0/16"),
        (no_route, "host node2 has no route to 10.244.2.0/24, the pod range of node node3"),
        (narrow_network, "does not contain 10.244.2.0/24 of node node3"),
    ],
)
def test_what_is_missing_is_told(take_away: Callable[[Bundle], None], says: str) -> None:
    one = bundle()
    take_away(one)
    assert any(says in sentence for sentence in proven(one)), proven(one)


@pytest.mark.parametrize("key", ["nodes", "flannel_config", "kubeadm_config"])
def test_what_was_not_read_is_not_proven(key: str) -> None:
    one = bundle()
    del one["cluster"][key]
    assert proven(one)


def test_a_host_that_was_not_read_is_not_proven() -> None:
    one = bundle()
    del one["nodes"]["node2"]["subnet_env"]
    assert any("subnet_env" in sentence for sentence in proven(one))


def test_a_host_without_a_node_is_not_proven() -> None:
    one = bundle()
    one["cluster"]["nodes"]["items"] = [node(one, "node1"), node(one, "node3")]
    assert "host node2 is no node of the cluster" in proven(one)


def test_nothing_speaks_against_the_healthy_cluster() -> None:
    assert spoken_against(bundle()) == []


def test_before_flannel_a_node_without_a_range_is_waited_for() -> None:
    one = bundle()
    no_range(one)
    node(one)["metadata"]["creationTimestamp"] = one["taken_at"]
    assert spoken_against(one) == []


def test_a_cluster_that_does_not_exist_yet_speaks_against_nothing() -> None:
    one = bundle()
    one["cluster"] = {}
    assert spoken_against(one) == []


@pytest.mark.parametrize("seen", [{}, {"namespace": "kube-flannel"}, {"net-conf.json": ""}])
def test_a_cluster_without_flannel_yet_speaks_against_nothing(seen: Bundle) -> None:
    one = bundle()
    one["cluster"]["flannel_config"] = seen
    assert spoken_against(one) == []


@pytest.mark.parametrize(
    "stored", [("kubeadm_config",), ("kube_proxy_config",), ("kubeadm_config", "kube_proxy_config")]
)
def test_a_kubeadm_init_that_was_broken_off_speaks_against_nothing(stored: list[str]) -> None:
    """Seen when one was killed nine seconds after it began: the node had its range, and there was no kubeadm-config."""
    one = bundle()
    one["cluster"].update(dict.fromkeys(stored, ""), flannel_config={})
    assert spoken_against(one, kube_proxy_mode="nftables" if "kube_proxy_config" in stored else "iptables") == []
    assert proven(one)


def test_a_changed_range_is_refused() -> None:
    said = spoken_against(bundle(), {**NET_CONF, "Network": "10.42.0.0/16"}, pod_cidr="10.42.0.0/16")
    assert any("live-cidr-change" in sentence for sentence in said)


def test_a_changed_mask_is_refused() -> None:
    said = spoken_against(bundle(), node_mask=25)
    assert any("node_mask" in sentence for sentence in said)


def test_a_changed_mode_of_kube_proxy_is_refused() -> None:
    said = spoken_against(bundle(), kube_proxy_mode="nftables")
    assert any("kube-proxy of the running cluster works with iptables" in sentence for sentence in said)


def test_a_changed_backend_is_refused_unless_it_is_accepted() -> None:
    conf = {**NET_CONF, "Backend": {"Type": "host-gw"}}
    assert any("flannel_backend is host-gw" in sentence for sentence in spoken_against(bundle(), conf))
    accepted = {**bundle()["intent"]["flannel"], "change_backend": True}
    assert spoken_against(bundle(), conf, flannel=accepted) == []


def test_a_configuration_that_cannot_be_read_is_in_the_way_of_none() -> None:
    one = bundle()
    one["cluster"]["flannel_config"]["net-conf.json"] = "{ Network: 10.244.0.0/16 }"
    assert spoken_against(one) == []


def test_a_dual_stack_network_that_lacks_the_second_family() -> None:
    one = copy.deepcopy(bundle("cluster-dual"))
    conf = json.loads(one["cluster"]["flannel_config"]["net-conf.json"])
    conf["IPv6Network"] = "fd99::/48"
    assert any("IPv6Network" in sentence for sentence in spoken_against(one, conf))
