# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters on other systems, clouds, runtimes and add-ons: no error, and one warning is the most."""

from __future__ import annotations

import copy
import json

import pytest
from edits import daemonset, event, flannel_pod, kube_node, log, objects, pods, remove_pods
from host_edits import add_link, link_of, nodes, resize, unit
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

ODDITIES = {}


def oddity(base="cluster"):
    def register(function):
        ODDITIES[function.__name__] = (base, function)
        return function

    return register


def runtime(bundle, name, socket, service, **more):
    """Another runtime than containerd serves the kubelet."""
    bundle["intent"]["cri_socket"] = socket
    for node in nodes(bundle):
        node["runtime"].update(name=name, socket=socket, sockets=[socket], **more)
        unit(node, service)
        old = "unix:///run/containerd/containerd.sock"
        node["kubelet_config"] = node["kubelet_config"].replace(old, socket)


# Systems and clouds


@oddity()
def red_hat_with_networkmanager_and_selinux(bundle):
    for node in nodes(bundle):
        node["os_release"] = {"ID": "rhel", "VERSION_ID": "9.4", "PRETTY_NAME": "Red Hat Enterprise Linux 9.4"}
        node.update(kernel="5.14.0-427.el9.x86_64", selinux="enforcing")
        unit(node, "NetworkManager")
        unmanaged = "[keyfile]\nunmanaged-devices=interface-name:cni*;interface-name:flannel*;interface-name:veth*\n"
        node["network_manager_conf"] = {"podnet.conf": unmanaged}
        node["packages"] = {"kubelet": {"version": "1.37.2-150500.1.1", "held": None}}
        node["package_sources"] = ["https://pkgs.k8s.io/core:/stable:/v1.37/rpm/"]
        node["selinux_denials"] = [
            'type=AVC msg=audit(1.1:1): avc:  denied  { read } for pid=1 comm="node_exporter" name="hwmon" permissive=0'
        ]


@oddity()
def ubuntu_with_netplan_and_a_ufw_that_is_off(bundle):
    for node in nodes(bundle):
        node["os_release"] = {"ID": "ubuntu", "VERSION_ID": "24.04", "PRETTY_NAME": "Ubuntu 24.04.1 LTS"}
        for name in ("systemd-networkd", "systemd-resolved", "ufw"):
            unit(node, name)
        node["ufw"] = "Status: inactive\n"
        node["networkd_conf"] = {"10-netplan-eth0.network": "[Match]\nName=eth0\n\n[Network]\nDHCP=ipv4\n"}


@oddity()
def flatcar_without_packages(bundle):
    for node in nodes(bundle):
        node["os_release"] = {"ID": "flatcar", "VERSION_ID": "3975.2.0", "NAME": "Flatcar"}
        unit(node, "systemd-networkd")
        node["packages"] = {}


@oddity()
def arm_everywhere(bundle):
    for node in nodes(bundle):
        node["architecture"] = "aarch64"
    for one in objects(bundle, "nodes"):
        one["status"]["nodeInfo"]["architecture"] = "arm64"
        one["metadata"]["labels"].update({"kubernetes.io/arch": "arm64", "beta.kubernetes.io/arch": "arm64"})


@oddity()
def a_cloud_whose_gateway_is_on_another_network(bundle):
    for node in nodes(bundle):
        for one in node["ip_route"]:
            if one["dst"] == "default":
                one.update(gateway="172.31.1.1", flags=["onlink"], protocol="dhcp")
        node["ip_route"].append({"dst": "172.31.1.1", "dev": "eth0", "scope": "link", "protocol": "dhcp", "flags": []})


@oddity()
def a_cloud_that_gives_single_addresses(bundle):
    for node in nodes(bundle):
        link_of(node, "eth0")["addr_info"][0]["prefixlen"] = 32
        node["ip_route"] = [one for one in node["ip_route"] if one["dst"] != "192.168.10.0/24"]
        node["ip_route"] += [
            {"dst": "192.168.10.0/24", "gateway": "192.168.10.1", "dev": "eth0", "protocol": "dhcp", "flags": []},
            {"dst": "192.168.10.1", "dev": "eth0", "scope": "link", "protocol": "dhcp", "flags": []},
        ]
        resize(node, 1460, 1410)


@oddity()
def a_metadata_service_and_a_link_local_resolver(bundle):
    for node in nodes(bundle):
        node["ip_route"].append({"dst": "169.254.169.254", "gateway": "192.168.10.1", "dev": "eth0", "flags": []})
        node["resolv_conf"] = "nameserver 169.254.169.253\nsearch eu-west-1.compute.internal\n"


@oddity()
def two_gateways_at_once(bundle):
    for node in nodes(bundle):
        default = next(one for one in node["ip_route"] if one["dst"] == "default")
        del default["gateway"], default["dev"]
        default["nexthops"] = [{"gateway": f"192.168.10.{last}", "dev": "eth0", "flags": []} for last in (1, 2)]


@oddity()
def a_wireless_card_as_second_way_out(bundle):
    for index, node in enumerate(nodes(bundle), 11):
        add_link(node, "wlan0", f"192.168.77.{index}/24")
        route = {"dst": "default", "gateway": "192.168.77.1", "dev": "wlan0", "metric": 600, "flags": []}
        node["ip_route"].append(route)


@oddity()
def a_route_to_the_companys_networks(bundle):
    for node in nodes(bundle):
        node["ip_route"].append({"dst": "10.0.0.0/8", "gateway": "192.168.10.254", "dev": "eth0", "flags": []})


@oddity()
def private_space_that_is_thrown_away(bundle):
    for node in nodes(bundle):
        node["ip_route"].append({"type": "blackhole", "dst": "10.0.0.0/8", "metric": 4278198272, "flags": []})


@oddity()
def hosts_behind_other_addresses_for_ansible(bundle):
    for index, node in enumerate(nodes(bundle), 1):
        node["inventory_address"] = f"203.0.113.{index}"


@oddity("host")
def hosts_behind_other_addresses_before_the_cluster(bundle):
    hosts_behind_other_addresses_for_ansible(bundle)


@oddity("host")
def hosts_on_which_nothing_is_installed_yet(bundle):
    for node in nodes(bundle):
        node.update(packages={}, cni_bin=[], runtime={})
        del node["kubelet_version"], node["kubeadm_version"]
        node["units"] = {name: {"active": "inactive", "enabled": "not-found"} for name in node["units"]}


# Runtimes and CNI


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
def a_hardened_image_of_flannel(bundle):
    for spec in [daemonset(bundle)["spec"]["template"]["spec"], *(one["spec"] for one in pods(bundle, "kube-flannel"))]:
        spec["containers"][0]["image"] = "docker.io/rancher/hardened-flannel:v0.28.6-build20260101"


# Add-ons and other networks beside


@oddity()
def dns_on_every_node(bundle):
    for node in nodes(bundle):
        add_link(node, "nodelocaldns", "169.254.20.10/32", "dummy", flags=("BROADCAST", "NOARP"))
        node["kubelet_config"] = node["kubelet_config"].replace("- 10.96.0.10", "- 169.254.20.10")
        node["listening"].append("udp UNCONN 0 0 169.254.20.10:53 0.0.0.0:*")


@oddity()
def a_balancer_that_announces_addresses(bundle):
    own = {"family": "inet", "local": "192.168.10.240", "prefixlen": 32, "scope": "global"}
    link_of(bundle["nodes"]["node1"], "eth0")["addr_info"].append(own)


@oddity()
def services_by_ipvs(bundle):
    bundle["intent"]["kube_proxy_mode"] = "ipvs"
    text = bundle["cluster"]["kube_proxy_config"]
    bundle["cluster"]["kube_proxy_config"] = text.replace("mode: iptables", "mode: ipvs")
    for node in nodes(bundle):
        add_link(node, "kube-ipvs0", "10.96.0.1/32", "dummy", flags=("BROADCAST", "NOARP"))
        node["modules"] += ["ip_vs", "ip_vs_rr", "ip_vs_wrr", "ip_vs_sh"]


@oddity()
def the_legacy_backend_everywhere(bundle):
    for node in nodes(bundle):
        for table in ("iptables", "ip6tables"):
            node[table] = {"nft": "", "legacy": node[table]["nft"], "selected": "legacy"}
        node["nft"] = {"nftables": []}
        node["modules"] += ["ip_tables", "iptable_filter", "iptable_nat"]


@oddity()
def marks_of_the_kubelet_in_the_other_backend(bundle):
    for node in nodes(bundle):
        node["iptables"]["legacy"] = (
            "*mangle\n:PREROUTING ACCEPT [0:0]\n:KUBE-IPTABLES-HINT - [0:0]\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n"
        )


@oddity()
def open_vswitch_and_another_vxlan(bundle):
    for node in nodes(bundle):
        add_link(node, "ovs-system", "", "openvswitch", flags=("BROADCAST",))
        for name, data in (("vxlan_sys_4789", {"external": True, "port": 4789}), ("vx100", {"id": 100, "port": 8472})):
            add_link(node, name, "", "vxlan")
            link_of(node, name)["linkinfo"]["info_data"] = data


@oddity()
def a_node_of_windows(bundle):
    other = copy.deepcopy(kube_node(bundle, "node3"))
    other["metadata"].update(name="win1", annotations={}, labels={"kubernetes.io/os": "windows"})
    other["spec"] = {"podCIDR": "10.244.3.0/24", "podCIDRs": ["10.244.3.0/24"]}
    other["status"]["addresses"] = [{"type": "InternalIP", "address": "192.168.10.14"}]
    other["status"]["nodeInfo"]["operatingSystem"] = "windows"
    objects(bundle, "nodes").append(other)


@oddity()
def a_node_that_is_taken_away(bundle):
    taint = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule", "value": "1"}
    kube_node(bundle, "node3")["spec"].update(unschedulable=True, taints=[taint])


@oddity()
def jobs_that_are_done(bundle):
    done = copy.deepcopy(pods(bundle, "web-")[0])
    done["metadata"]["name"] = "job-1"
    done["status"].update(phase="Succeeded", podIP="10.244.1.77", podIPs=[{"ip": "10.244.1.77"}])
    objects(bundle, "pods").append(done)


@oddity()
def no_kube_proxy_on_purpose(bundle):
    remove_pods(bundle, "kube-proxy")
    kept = [one for one in objects(bundle, "daemonsets") if one["metadata"]["name"] != "kube-proxy"]
    bundle["cluster"]["daemonsets"]["items"] = kept
    del bundle["cluster"]["kube_proxy_config"]
    for node in nodes(bundle):
        lines = node["iptables"]["nft"].splitlines()
        words = ("KUBE-S", "KUBE-NODEPORT", "KUBE-EXT", "KUBE-PROXY")
        node["iptables"]["nft"] = "\n".join(one for one in lines if not any(word in one for word in words))
        del node["nft"]


# What is said


@oddity()
def everything_restarted_with_the_machine(bundle):
    ended = {"terminated": {"exitCode": 255, "reason": "Unknown", "finishedAt": "2026-11-30T15:45:00Z"}}
    for pod in objects(bundle, "pods"):
        for status in pod["status"]["containerStatuses"]:
            status.update(restartCount=9, lastState=ended)


@oddity()
def events_of_yesterday(bundle):
    words = "0/3 nodes are available: 3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }"
    event(bundle, "web-5bb4cdcfd-tgnz6", words, last="2026-11-29T13:00:00Z")


@oddity()
def a_flannel_that_waited_for_the_api_server(bundle):
    for name in bundle["nodes"]:
        refused = "dial tcp 10.96.0.1:443: connect: connection refused"
        log(
            bundle, flannel_pod(bundle, name), f'Failed to watch *v1.Node: Get "https://10.96.0.1:443/api": {refused}\n'
        )


@oddity()
def kernels_that_talk(bundle):
    for node in nodes(bundle):
        node["journal"]["kernel"] = (
            "kernel: TCP: request_sock_TCP: Possible SYN flooding on port 80. Sending cookies.\n"
            "kernel: device veth686474a5 left promiscuous mode\nkernel: connection1:0: detected conn error (1020)\n"
        )


@oddity()
def dns_that_asks_in_vain_now_and_then(bundle):
    pod = pods(bundle, "coredns")[0]
    words = "[ERROR] plugin/errors: 2 example.com. AAAA: read udp 10.244.0.2:44322->192.168.10.1:53: i/o timeout\n"
    log(bundle, pod, words, "coredns")


@oddity()
def a_network_that_contains_the_clusters(bundle):
    for node in nodes(bundle):
        node["subnet_env"] = node["subnet_env"].replace("10.244.0.0/16", "10.0.0.0/8")
    config = bundle["cluster"]["flannel_config"]
    config["net-conf.json"] = config["net-conf.json"].replace("10.244.0.0/16", "10.0.0.0/8")


@oddity("cluster-dual")
def an_inventory_that_names_only_the_pod_ranges(bundle):
    bundle["intent"] = {"pod_cidr": bundle["intent"]["pod_cidr"]}


@pytest.mark.parametrize("name", ODDITIES)
def test_a_healthy_oddity_is_no_fault(name):
    base, change = ODDITIES[name]
    bundle = healthy(base)
    change(bundle)
    found = list(judge(View(bundle), strict=True).all())
    errors = [f"{one.code} at {one.where}: {one.summary}" for one in found if one.severity == "error"]
    warnings = [f"{one.code} at {one.where}: {one.summary}" for one in found if one.severity == "warning"]
    assert errors == []
    assert len(warnings) <= 1, warnings
