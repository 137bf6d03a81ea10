# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._intent import Intent
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed, Missing

FILE = """\
kind: InitConfiguration
---
kind: ClusterConfiguration
networking: {podSubnet: "10.1.0.0/16,fd01::/56", serviceSubnet: 10.2.0.0/16}
"""
NET_CONF = json.dumps({"Network": "10.3.0.0/16"})
MANIFEST = json.dumps({"kind": "ConfigMap", "data": {"net-conf.json": NET_CONF}})


@pytest.mark.parametrize(
    ("raw", "texts"),
    [
        ({"pod_cidr": "10.0.0.0/16"}, ["10.0.0.0/16"]),
        ({"pod_cidr": "10.0.0.0/16, fd00::/56"}, ["10.0.0.0/16", "fd00::/56"]),
        ({"pod_cidr": ["10.0.0.0/16", "x"], "kubeadm_config": FILE}, ["10.0.0.0/16", "x"]),
        ({"kubeadm_config": FILE, "pod_network_cidr_flag": "10.9.0.0/16"}, ["10.1.0.0/16", "fd01::/56"]),
        ({"kubeadm_config": "kind: InitConfiguration", "pod_network_cidr_flag": "10.9.0.0/16"}, ["10.9.0.0/16"]),
        ({}, []),
    ],
)
def test_the_pod_ranges_as_written(raw, texts):
    assert Intent(raw).pod_texts == texts


@pytest.mark.parametrize(
    ("raw", "texts"),
    [
        ({"service_cidr": "10.0.0.0/16", "kubeadm_config": FILE}, ["10.0.0.0/16"]),
        ({"kubeadm_config": FILE}, ["10.2.0.0/16"]),
        ({"pod_cidr": "10.0.0.0/16"}, []),
    ],
)
def test_the_service_ranges_as_written(raw, texts):
    assert Intent(raw).service_texts == texts


@pytest.mark.parametrize("kind", ["pod", "service"])
@pytest.mark.parametrize(("value", "networks"), [("10.0.5.0/16", ["10.0.0.0/16"]), (["x", "fd00::/56"], ["fd00::/56"])])
def test_ranges_that_can_be_read(kind, value, networks):
    intent = Intent({f"{kind}_cidr": value})
    assert [str(one) for one in getattr(intent, f"{kind}_networks")()] == networks


@pytest.mark.parametrize("kind", ["pod", "service"])
@pytest.mark.parametrize(
    ("raw", "error", "why"),
    [
        ({}, Missing, "intent.{}_cidr was not looked at"),
        ({"{}_cidr": ""}, Missing, "intent.{}_cidr was not looked at"),
        ({"{}_cidr": "a, b"}, Malformed, "intent.{}_cidr cannot be read: a, b is no network"),
        ({"{}_cidr": 7}, Malformed, "intent.{}_cidr cannot be read: a text or a list is expected, a int stands there"),
    ],
)
def test_ranges_that_cannot_be_read(kind, raw, error, why):
    intent = Intent({key.format(kind): value for key, value in raw.items()})
    with pytest.raises(Missing) as found:
        getattr(intent, f"{kind}_networks")()
    assert (type(found.value), found.value.why) == (error, why.format(kind))


def test_a_users_kubeadm_file_is_read_and_none_is_empty():
    assert Intent({"kubeadm_config": FILE}).kubeadm.text("kind") == "ClusterConfiguration"
    assert not Intent({}).kubeadm


@pytest.mark.parametrize(
    ("raw", "network"),
    [
        ({"net_conf": '{"network": "10.4.0.0/16"}', "manifest": MANIFEST}, "10.4.0.0/16"),
        ({"manifest": MANIFEST}, "10.3.0.0/16"),
    ],
)
def test_a_users_net_conf_alone_or_in_a_manifest(raw, network):
    intent = Intent(raw)
    assert intent.has_net_conf
    assert [str(one) for one in intent.net_conf.networks] == [network]
    assert json.loads(intent.net_conf_text)


@pytest.mark.parametrize(
    ("raw", "has", "error", "key"),
    [
        ({}, False, Missing, "intent.net_conf"),
        ({"manifest": "kind: Namespace"}, False, Missing, "intent.net_conf"),
        ({"net_conf": "{"}, True, Malformed, "intent.net_conf"),
        ({"manifest": MANIFEST.replace("{\\", "[{\\")}, True, Malformed, "intent.manifest"),
        ({"net_conf": "[]", "manifest": MANIFEST}, True, Malformed, "intent.net_conf"),
    ],
)
def test_a_net_conf_that_cannot_be_read(raw, has, error, key):
    intent = Intent(raw)
    assert intent.has_net_conf is has
    with pytest.raises(Missing) as found:
        _read = intent.net_conf
    assert (type(found.value), found.value.key) == (error, key)


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("node_mask", "24", 24),
        ("node_mask_v6", 64, 64),
        ("max_pods", "x", None),
        ("planned_nodes", -1, None),
        ("cluster_dns", "10.96.0.10,fd00::a", ["10.96.0.10", "fd00::a"]),
        ("kubernetes_version", 1.37, None),
        ("control_plane_endpoint", "api:6443", "api:6443"),
        ("unknown_variables", {"cluster_pod_cdir": "cluster_pod_cidr"}, {"cluster_pod_cdir": "cluster_pod_cidr"}),
    ],
)
def test_a_variable_of_another_type_is_malformed(key, value, read):
    if read is not None:
        assert getattr(Intent({key: value}), key) == read
        return
    with pytest.raises(Malformed) as found:
        getattr(Intent({key: value}), key)
    assert found.value.key == f"intent.{key}"
