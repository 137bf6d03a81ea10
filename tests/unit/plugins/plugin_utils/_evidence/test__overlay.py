# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import kube_node
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._flannel import NetConf
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._kube import KubeNode
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._overlay import (
    backend_data,
    in_use,
    is_flannel_link,
    leases,
    overlay,
    vtep_mac,
)

ANNOTATION = "flannel.alpha.coreos.com/"


def node2(base="cluster", **annotations):
    """The recorded node with some of flannel's annotations (``_`` for ``-``) in place of its own."""
    raw = kube_node(healthy(base), "node2")
    raw["metadata"]["annotations"] |= {ANNOTATION + key.replace("_", "-"): value for key, value in annotations.items()}
    return KubeNode(raw)


def conf(**backend):
    return overlay(NetConf({"Network": "10.244.0.0/16", "EnableIPv6": True, "Backend": backend}))


def test_the_leases_of_a_node_of_both_families():
    shown = [(one.node, str(one.network), one.base, one.public_ip, one.mac) for one in leases(node2("cluster-dual"))]
    assert shown == [
        ("node2", "10.244.1.0/24", "10.244.1.0", "192.168.10.12", "5e:39:90:9d:83:12"),
        ("node2", "fd00:10:244:1::/64", "fd00:10:244:1::", "fd00:192:168:10::12", "7a:0c:61:5e:02:11"),
    ]


def test_a_node_on_which_flannel_never_ran_has_none():
    assert leases(node2(kube_subnet_manager="false")) == []


def test_a_node_with_more_ranges_than_flannel_takes_has_none():
    node = node2("cluster-dual")
    node.raw["spec"]["podCIDRs"].append("10.244.9.0/24")
    assert leases(node) == []


@pytest.mark.parametrize("data", ["", "null", "[]", "{", '{"VtepMAC": 7}'])
def test_what_cannot_be_read_of_a_lease_is_empty(data):
    (lease,) = leases(node2(backend_data=data, public_ip="x"))
    assert (lease.public_ip, lease.mac) == ("", "")


def test_data_of_a_family_and_its_mac_in_lower_case():
    node = node2("cluster-dual", backend_v6_data='{"VNI": 7, "VtepMAC": "AA:BB:CC:00:11:22"}')
    assert (backend_data(node, 4).number("VNI"), backend_data(node, 6).number("VNI")) == (1, 7)
    assert vtep_mac(node, 6) == "aa:bb:cc:00:11:22"


@pytest.mark.parametrize(
    ("backend", "tunnels", "port"),
    [
        ({"Type": "vxlan"}, {4: "flannel.1", 6: "flannel-v6.1"}, 8472),
        ({"Type": "VXLAN", "VNI": 4096, "Port": 4789}, {4: "flannel.4096", 6: "flannel-v6.4096"}, 4789),
        ({"Type": "vxlan", "VNI": 0, "ListenPort": 1}, {4: "flannel.0", 6: "flannel-v6.0"}, 8472),
        ({"Type": "wireguard"}, {4: "flannel-wg", 6: "flannel-wg-v6"}, 51820),
        ({"Type": "wireguard", "Mode": "Separate"}, {4: "flannel-wg", 6: "flannel-wg-v6"}, 51820),
        ({"Type": "wireguard", "Mode": "ipv4", "ListenPort": 7, "Port": 8}, {4: "flannel-wg", 6: "flannel-wg"}, 7),
        ({"Type": "ipip"}, {4: "flannel.ipip"}, None),
        ({}, {4: "flannel0"}, 8285),
        ({"Type": "host-gw"}, {}, None),
    ],
)
def test_the_links_and_the_port_of_a_backend(backend, tunnels, port):
    assert (conf(**backend).tunnels, conf(**backend).port) == (tunnels, port)


def test_families_that_are_off_have_no_link():
    assert overlay(NetConf({"Backend": {"Type": "vxlan"}})).tunnels == {4: "flannel.1"}
    only6 = {"EnableIPv4": False, "EnableIPv6": True, "Backend": {"Type": "vxlan"}}
    assert overlay(NetConf(only6)).tunnels == {6: "flannel-v6.1"}


def test_direct_routing_is_off_unless_it_is_true():
    assert [conf(Type="vxlan", **one).direct for one in ({}, {"DirectRouting": 1}, {"DirectRouting": True})] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("annotations", "backend", "vni", "port"),
    [
        ({}, "vxlan", 1, 8472),
        ({"backend_data": '{"VNI": 9}'}, "vxlan", 9, 8472),
        ({"backend_data": "null", "backend_v6_data": '{"VNI": 8}'}, "vxlan", 8, 8472),
        ({"backend_data": '{"VNI": 0}', "backend_v6_data": '{"VNI": 8}'}, "vxlan", 0, 8472),
        ({"backend_data": "null", "backend_type": "Host-GW"}, "host-gw", 5, None),
        ({"backend_type": "wireguard"}, "wireguard", 1, 7),
        ({"backend_type": ""}, "wireguard", 5, 7),
        ({"kube_subnet_manager": "false"}, "wireguard", 5, 7),
    ],
)
def test_what_is_in_use_is_what_the_lease_says(annotations, backend, vni, port):
    used = in_use(conf(Type="wireguard", VNI=5, ListenPort=7), node2(**annotations))
    assert (used.backend, used.vni, used.port) == (backend, vni, port)


@pytest.mark.parametrize(
    ("name", "flannels"),
    [
        ("flannel.1", True),
        ("flannel-v6.4096", True),
        ("flannel-wg-v6", True),
        ("flannel0", True),
        ("flannel00", False),
        ("cni0", False),
        ("my-flannel.1", False),
    ],
)
def test_names_of_flannels_links(name, flannels):
    assert is_flannel_link(name) is flannels
