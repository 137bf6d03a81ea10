# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters with odd runtimes and CNI configurations, and with container engines beside."""

from __future__ import annotations

import json

import pytest
from edits import daemonset, pods
from host_edits import add_link, link_of, nodes, unit
from oddities import Oddities

oddity = Oddities()


def runtime(bundle, name, socket, service, **more):
    """Another runtime than containerd serves the kubelet."""
    bundle["intent"]["cri_socket"] = socket
    for node in nodes(bundle):
        node["runtime"].update(name=name, socket=socket, sockets=[socket], **more)
        unit(node, service)
        old = "unix:///run/containerd/containerd.sock"
        node["kubelet_config"] = node["kubelet_config"].replace(old, socket)


@oddity("cluster-docker")
def docker_beside(bundle):
    for node in nodes(bundle):
        node["runtime"]["sockets"].append("unix:///run/docker.sock")


@oddity()
def podman_with_cni_beside(bundle):
    for node in nodes(bundle):
        add_link(node, "cni-podman0", "10.88.0.1/16", "bridge")
        node["cni_config"]["87-podman-bridge.conflist"] = json.dumps(
            {"cniVersion": "0.4.0", "name": "podman", "plugins": [{"type": "bridge", "bridge": "cni-podman0"}]}
        )
        node["cni_ipam"]["podman"] = {"10.88.0.2": "a" * 64}
        node["packages"]["podman"] = {"version": "4.3.1", "held": False}


@oddity()
def podman_with_netavark_beside(bundle):
    for node in nodes(bundle):
        add_link(node, "podman0", "10.88.0.1/16", "bridge")


@oddity()
def libvirt_and_lxd_beside(bundle):
    for node in nodes(bundle):
        add_link(node, "virbr0", "192.168.122.1/24", "bridge", flags=("BROADCAST", "UP"))
        add_link(node, "lxdbr0", "10.160.3.1/24", "bridge")


@oddity()
def cri_o_with_its_own_file_behind_flannels(bundle):
    for node in nodes(bundle):
        node["runtime"].update(
            name="cri-o",
            version="1.37.0",
            socket="unix:///var/run/crio/crio.sock",
            sockets=["unix:///var/run/crio/crio.sock"],
        )
        node["kubelet_config"] = node["kubelet_config"].replace(
            "unix:///run/containerd/containerd.sock", "unix:///var/run/crio/crio.sock"
        )
        unit(node, "crio")
        node["units"]["containerd"] = {"active": "inactive", "enabled": "not-found", "since": ""}
        node["cni_config"]["100-crio-bridge.conflist"] = json.dumps(
            {"cniVersion": "1.0.0", "name": "crio", "plugins": [{"type": "bridge", "bridge": "cni0"}]}
        )


@oddity()
def containerd_1_with_the_distributions_sandbox_image(bundle):
    for node in nodes(bundle):
        node["runtime"].update(version="1.7.24", sandbox_image="registry.k8s.io/pause:3.8")


@oddity()
def multus_in_front(bundle):
    for node in nodes(bundle):
        flannel = json.loads(node["cni_config"]["10-flannel.conflist"])
        node["cni_config"]["00-multus.conf"] = json.dumps(
            {"cniVersion": "0.3.1", "name": "multus", "type": "multus", "delegates": [flannel]}
        )
        node["cni_bin"].append("multus")


@oddity()
def cri_o_with_two_folders_of_plugins(bundle):
    runtime(bundle, "cri-o", "unix:///var/run/crio/crio.sock", "crio", bin_dir="/opt/cni/bin/,/usr/libexec/cni")
    bridge = {"type": "bridge", "bridge": "cni0", "ipam": {"type": "host-local"}}
    for node in nodes(bundle):
        node["cni_config"]["11-crio-ipv4-bridge.conflist"] = json.dumps(
            {"cniVersion": "1.0.0", "name": "crio", "plugins": [bridge]}
        )


@oddity()
def docker_behind_cri_dockerd(bundle):
    runtime(bundle, "docker", "unix:///run/cri-dockerd.sock", "docker")
    for node in nodes(bundle):
        node["runtime"]["sockets"].append("unix:///run/containerd/containerd.sock")
        add_link(node, "docker0", "172.17.0.1/16", "bridge", flags=("BROADCAST", "UP"))


@oddity()
def multus_that_names_flannels_file(bundle):
    config = {
        "cniVersion": "0.3.1",
        "name": "multus-cni-network",
        "type": "multus-shim",
        "clusterNetwork": "/host/etc/cni/net.d/10-flannel.conflist",
    }
    for node in nodes(bundle):
        node["cni_config"]["00-multus.conf"] = json.dumps(config)
        node["cni_bin"].append("multus-shim")


@oddity()
def canal(bundle):
    """Calico's links and policies over flannel's ranges and tunnels, in one DaemonSet."""
    bundle["intent"] = {}
    calico = {"name": "calico-node", "image": "docker.io/calico/node:v3.28.0"}
    daemonset(bundle)["spec"]["template"]["spec"]["containers"].insert(0, calico)
    for pod in pods(bundle, "kube-flannel-ds-"):
        pod["spec"]["containers"].insert(0, calico)
    plugin = {"type": "calico", "ipam": {"type": "host-local", "subnet": "usePodCidr"}, "policy": {"type": "k8s"}}
    config = {"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": [plugin, {"type": "portmap"}]}
    for node in nodes(bundle):
        node["cni_config"] = {"10-canal.conflist": json.dumps(config)}
        node["cni_bin"] += ["calico", "calico-ipam"]
        node["cni_ipam"] = {"k8s-pod-network": node["cni_ipam"].get("cbr0", {})}
        node["ip_address"] = [one for one in node["ip_address"] if one["ifname"] != "cni0"]
        node["ip_route"] = [one for one in node["ip_route"] if one.get("dev") != "cni0"]
        for index, one in enumerate(node["ip_address"]):
            if one.pop("master", "") == "cni0":
                one["ifname"] = f"cali{index:011x}"


@oddity()
def files_that_no_runtime_reads(bundle):
    for node in nodes(bundle):
        names = ("10-calico.conflist.bak", "87-podman-bridge.conflist.disabled", ".kubernetes-cni-keep", "kubeconfig")
        node["cni_config"].update(dict.fromkeys(names, "x"))


@oddity()
def a_sandbox_image_of_ones_own_registry(bundle):
    for node in nodes(bundle):
        node["runtime"]["sandbox_image"] = "harbor.example.com:5000/k8s/pause:3.10.2@sha256:0123"


@oddity()
def open_vswitch_and_another_vxlan(bundle):
    for node in nodes(bundle):
        add_link(node, "ovs-system", "", "openvswitch", flags=("BROADCAST",))
        for name, data in (("vxlan_sys_4789", {"external": True, "port": 4789}), ("vx100", {"id": 100, "port": 8472})):
            add_link(node, name, "", "vxlan")
            link_of(node, name)["linkinfo"]["info_data"] = data


@pytest.mark.parametrize("name", oddity.changes)
def test_a_healthy_oddity_is_no_fault(name):
    errors, warnings = oddity.judged(name)
    assert errors == []
    assert len(warnings) <= 1, warnings
