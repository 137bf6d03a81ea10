# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.podnet.kubeadm.plugins.filter.foreign_members import foreign_members

PKI = "/etc/kubernetes/pki/"


def control_plane(address: str = "10.89.0.11") -> dict[str, Any]:
    files = ["/etc/kubernetes/admin.conf", "/etc/kubernetes/kubelet.conf", PKI + "ca.crt", PKI + "ca.key"]
    return {"kubernetes_files": files, "kubeconfig_servers": servers(address, "admin", "kubelet")}


def servers(address: str, *names: str) -> dict[str, str]:
    return {f"/etc/kubernetes/{name}.conf": f"https://{address}:6443" for name in names}


def worker(address: str = "10.89.0.11") -> dict[str, Any]:
    files = ["/etc/kubernetes/kubelet.conf", PKI + "ca.crt"]
    return {"kubernetes_files": files, "kubeconfig_servers": servers(address, "kubelet")}


FRESH: dict[str, Any] = {"kubernetes_files": [], "kubeconfig_servers": {}}


def test_members_of_the_cluster() -> None:
    assert foreign_members({"n1": control_plane(), "n2": worker(), "n3": FRESH}, ["n1"]) == []


def test_fresh_hosts() -> None:
    assert foreign_members({"n1": FRESH, "n2": FRESH}, ["n1"]) == []


def test_members_of_another_cluster_are_one_sentence() -> None:
    nodes = {"n1": control_plane(), "n2": worker("10.1.1.1"), "n3": worker("10.1.1.1")}
    (said,) = foreign_members(nodes, ["n1"])
    assert said.startswith(
        "n2, n3: member of another cluster, that of 10.1.1.1:6443; the cluster of this inventory is at"
    )


def test_a_member_of_some_cluster_while_this_one_does_not_exist() -> None:
    (said,) = foreign_members({"n1": FRESH, "n2": worker()}, ["n1"])
    assert "n2: member of another cluster" in said and "does not exist yet" in said


def test_a_control_plane_that_is_a_worker_elsewhere() -> None:
    (said,) = foreign_members({"n1": worker("10.1.1.1"), "n2": FRESH}, ["n1"])
    assert said.startswith("n1 shall be the control plane, and is a worker of the cluster at 10.1.1.1:6443")


def test_an_init_that_was_interrupted_is_no_membership() -> None:
    half = {"kubernetes_files": [PKI + "ca.key", "/etc/kubernetes/kubelet.conf"]}
    assert foreign_members({"n1": half, "n2": FRESH}, ["n1"]) == []


def test_an_endpoint_a_local_proxy_and_other_control_planes_are_the_cluster() -> None:
    nodes = {"n1": control_plane("k8s.example"), "n2": worker("k8s.example"), "n3": worker("127.0.0.1")}
    assert foreign_members(nodes, ["n1"], endpoint="k8s.example:6443") == []
    moved = {"n1": {**control_plane(), "ip_address": ADDRESSES}, "n2": worker("10.89.0.21")}
    assert foreign_members(moved, ["n1"]) == []


def test_with_a_limit_the_cluster_itself_tells() -> None:
    cluster = {
        "nodes": {
            "items": [
                {
                    "metadata": {"name": "n1", "labels": {"node-role.kubernetes.io/control-plane": ""}},
                    "status": {"addresses": [{"type": "InternalIP", "address": "10.89.0.11"}]},
                }
            ]
        }
    }
    assert foreign_members({"n3": worker()}, ["n1"], cluster) == []
    assert foreign_members({"n3": worker("10.1.1.1")}, ["n1"], cluster)
    assert foreign_members({"n3": worker("10.1.1.1")}, ["n1"]) == []  # nothing to compare with


ADDRESSES = [
    {"ifname": "eth0", "addr_info": [{"family": "inet", "local": "10.89.0.21", "prefixlen": 24, "scope": "global"}]}
]
