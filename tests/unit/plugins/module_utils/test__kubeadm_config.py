# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubeadm_config

CA = (pathlib.Path(__file__).parent / "fixtures" / "ca.crt").read_text()
# openssl x509 -pubkey -noout -in ca.crt | openssl pkey -pubin -outform der | sha256sum
CA_HASH = "sha256:86f2c81bab6f8548df6772a5b2b08785b1448f9f1f054c169892aa16e636e5c4"


def test_hash_is_that_of_openssl() -> None:
    assert _kubeadm_config.ca_cert_hash(CA) == CA_HASH


def test_hash_of_something_else_is_an_error() -> None:
    with pytest.raises(ValueError, match="no PEM certificate"):
        _kubeadm_config.ca_cert_hash("nothing")


def test_server_of() -> None:
    assert (
        _kubeadm_config.server_of("clusters:\n- cluster:\n    server: https://10.89.0.11:6443\n") == "10.89.0.11:6443"
    )
    assert _kubeadm_config.server_of("nothing") == ""


def test_documents_are_apart() -> None:
    assert _kubeadm_config.render([{"kind": "A"}, {"kind": "B"}]).count("\n---\n") == 1


# As kubeadm v1.37.2 keeps it in the ConfigMap kubeadm-config.
RUNNING: dict[str, Any] = {
    "apiServer": {},
    "apiVersion": "kubeadm.k8s.io/v1beta4",
    "certificateValidityPeriod": "8760h0m0s",
    "controllerManager": {"extraArgs": [{"name": "node-cidr-mask-size-ipv4", "value": "24"}]},
    "kind": "ClusterConfiguration",
    "kubernetesVersion": "v1.37.2",
    "networking": {"dnsDomain": "cluster.local", "podSubnet": "10.244.0.0/16", "serviceSubnet": "10.96.0.0/12"},
}


def test_a_configuration_is_like_what_kubeadm_made_of_it() -> None:
    wanted = {
        "kind": "ClusterConfiguration",
        "controlPlaneEndpoint": "",
        "apiServer": {"certSANs": []},
        "controllerManager": {"extraArgs": [{"value": "24", "name": "node-cidr-mask-size-ipv4"}]},
        "networking": {"podSubnet": "10.244.0.0/16"},
    }
    assert _kubeadm_config.unlike(wanted, RUNNING) == []


def test_fields_that_differ_are_named() -> None:
    wanted = {
        "apiServer": {"certSANs": ["k8s.example.org"]},
        "controllerManager": {"extraArgs": [{"name": "node-cidr-mask-size-ipv4", "value": "25"}]},
        "networking": {"dnsDomain": "example.org"},
        "etcd": {"local": {"dataDir": "/srv/etcd"}},
    }
    assert _kubeadm_config.unlike(wanted, RUNNING) == [
        "apiServer.certSANs",
        "controllerManager.extraArgs",
        "etcd.local.dataDir",
        "networking.dnsDomain",
    ]


def test_the_order_of_a_list_is_no_difference() -> None:
    assert _kubeadm_config.unlike({"certSANs": ["a", "b"]}, {"certSANs": ["b", "a"]}) == []


@pytest.mark.parametrize(
    ("etcd", "folder"),
    [
        ({"local": {"dataDir": "/srv/etcd"}}, "/srv/etcd"),
        ({"local": {}}, "/var/lib/etcd"),
        ({"external": {"endpoints": []}}, "/var/lib/etcd"),
        (None, "/var/lib/etcd"),
    ],
)
def test_where_etcd_keeps_its_data(etcd: Any, folder: str) -> None:
    assert _kubeadm_config.etcd_dir([{"kind": "InitConfiguration"}, {"etcd": etcd}]) == folder


@pytest.mark.parametrize(
    ("document", "control_plane"),
    [
        ({"controlPlane": {"localAPIEndpoint": {}}}, True),
        ({"controlPlane": {}}, True),
        ({"controlPlane": None}, False),
        ({}, False),
    ],
)
def test_who_joins_as_a_control_plane(document: dict[str, Any], control_plane: bool) -> None:
    assert _kubeadm_config.is_control_plane([{"kind": "KubeletConfiguration"}, document]) is control_plane


def test_discovery_is_pinned_in_a_copy() -> None:
    documents = [{"kind": "JoinConfiguration", "discovery": {"timeout": "5m"}}, {"kind": "KubeletConfiguration"}]
    found = _kubeadm_config.with_discovery(documents, "10.89.0.11:6443", "sha256:00", "abcdef.0")
    token = {"apiServerEndpoint": "10.89.0.11:6443", "caCertHashes": ["sha256:00"], "token": "abcdef.0"}
    assert found[0]["discovery"] == {"timeout": "5m", "bootstrapToken": token}
    assert found[1] == documents[1] and documents[0]["discovery"] == {"timeout": "5m"}
