# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters that look odd: whatever a host has beside, nothing is an error, and one warning is the most."""

from __future__ import annotations

import json

import pytest
from host_edits import add_link, kube, link_of, net_conf, nodes, rename_uplink, resize, unit
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

ODDITIES = {}
PREFIX = "flannel.alpha.coreos.com/"


def oddity(base="cluster"):
    def register(function):
        ODDITIES[function.__name__] = (base, function)
        return function

    return register


# Beside the cluster


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
def firewalld_inactive_but_installed(bundle):
    for node in nodes(bundle):
        node["units"]["firewalld"] = {"active": "inactive", "enabled": "disabled", "since": ""}


@oddity()
def firewalld_with_the_clusters_networks_trusted(bundle):
    for node in nodes(bundle):
        unit(node, "firewalld")
        node["firewalld"] = {
            "active": True,
            "zones": "public (active)\n  target: default\n  interfaces: eth0\n  ports: 6443/tcp 10250/tcp 8472/udp\n"
            "trusted (active)\n  target: ACCEPT\n  interfaces: cni0 flannel.1\n  sources: 10.244.0.0/16 10.96.0.0/12\n",
            "policies": "",
        }


@oddity()
def ufw_that_lets_the_cluster_through(bundle):
    for node in nodes(bundle):
        unit(node, "ufw")
        node["ufw"] = (
            "Status: active\nLogging: on (low)\nDefault: deny (incoming), allow (outgoing), allow (routed)\n"
            "22/tcp ALLOW IN Anywhere\n6443/tcp ALLOW IN Anywhere\n"
            "10250/tcp ALLOW IN Anywhere\n8472/udp ALLOW IN Anywhere\n"
        )


@oddity()
def apparmor_denials_of_others(bundle):
    for node in nodes(bundle):
        node["apparmor_denials"] = [
            'audit: type=1400 apparmor="DENIED" operation="open" profile="/usr/sbin/cupsd" name="/etc/x" comm="cupsd"',
            'audit: type=1400 apparmor="DENIED" operation="ptrace" profile="cri-containerd.apparmor.d" comm="ps"',
        ]


@oddity()
def selinux_enforcing_with_denials_of_others(bundle):
    for node in nodes(bundle):
        node["selinux"] = "enforcing"
        node["selinux_denials"] = [
            'type=AVC msg=audit(1.1:1): avc:  denied  { read } for comm="httpd" name="index.html"'
        ]


@oddity()
def a_proxy_that_keeps_off_the_cluster(bundle):
    values = {
        "HTTP_PROXY": "http://proxy:3128",
        "HTTPS_PROXY": "http://proxy:3128",
        "NO_PROXY": "10.96.0.0/12,10.244.0.0/16,192.168.10.0/24,.svc,cluster.local",
    }
    for node in nodes(bundle):
        node["proxy_env"] = {"containerd": values, "kubelet": values, "shell": values}


@oddity()
def a_proxy_for_image_pulls_only(bundle):
    for node in nodes(bundle):
        node["proxy_env"] = {"containerd": {"HTTPS_PROXY": "http://proxy:3128"}, "kubelet": {}, "shell": {}}


@oddity()
def journals_with_everyday_noise(bundle):
    for node in nodes(bundle):
        node["journal"] = {
            "kubelet": 'W1130 15:46:01 watcher.go:93] "Error while processing event" err="no such file or directory"\n'
            'E1130 15:46:05 cri_stats: "Failed to get the info of the filesystem with mountpoint"\n'
            'E1130 15:46:09 "Unable to read config path" err="path does not exist, ignoring"\n',
            "containerd": 'level=error msg="failed to load cni during init" error="no network config found"\n',
            "kernel": "kernel: overlayfs: fs on x does not support file handles\nkernel: cni0: port 1(veth1) entered\n",
        }


@oddity()
def events_of_a_healthy_start(bundle):
    bundle["cluster"]["events"]["items"].append(
        {
            "type": "Warning",
            "reason": "FailedCreatePodSandBox",
            "message": 'plugin type="flannel" failed (add): open /run/flannel/subnet.env: no such file or directory',
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web-5bb4cdcfd-tgnz6"},
            "lastTimestamp": "2026-11-30T15:46:20Z",
            "count": 1,
        }
    )


# Networks of hosts


@oddity()
def a_bond_as_uplink(bundle):
    for node in nodes(bundle):
        rename_uplink(node, "bond0", "bond", ["eno1", "eno2"])


@oddity()
def a_vlan_as_uplink(bundle):
    for node in nodes(bundle):
        rename_uplink(node, "eno1.100", "vlan", [])
        add_link(node, "eno1")


@oddity()
def a_bridge_as_uplink(bundle):
    for node in nodes(bundle):
        rename_uplink(node, "br0", "bridge", ["eno1"])


@oddity()
def two_cards_and_ansible_over_the_other(bundle):
    for index, node in enumerate(nodes(bundle), 11):
        add_link(node, "eth1", f"172.20.0.{index}/24")
        node["inventory_address"] = f"172.20.0.{index}"


@oddity("host")
def two_cards_and_ansible_over_the_other_before_the_cluster(bundle):
    two_cards_and_ansible_over_the_other(bundle)


@oddity()
def a_storage_network_with_jumbo_frames(bundle):
    for index, node in enumerate(nodes(bundle), 11):
        add_link(node, "eth1", f"172.21.0.{index}/24", mtu=9000)


@oddity()
def an_admin_vpn(bundle):
    for index, node in enumerate(nodes(bundle), 11):
        add_link(node, "wg0", f"10.9.0.{index}/24", "wireguard", 1420, ("POINTOPOINT", "NOARP", "UP", "LOWER_UP"))
        node["modules"].append("wireguard")


@oddity()
def tailscale(bundle):
    for index, node in enumerate(nodes(bundle), 11):
        add_link(node, "tailscale0", f"100.101.7.{index}/32", "tun", 1280, ("POINTOPOINT", "NOARP", "UP", "LOWER_UP"))
        node["ip_rule"] += [
            {"priority": 5210, "src": "all", "fwmark": "0x80000", "fwmask": "0xff0000", "table": "main"},
            {"priority": 5270, "src": "all", "table": "52"},
        ]
        node["ip_route"].append({"dst": "100.100.100.100", "dev": "tailscale0", "table": "52"})


@oddity()
def jumbo_frames_everywhere(bundle):
    for node in nodes(bundle):
        resize(node, 9000, 8950)


@oddity()
def a_cloud_with_small_frames(bundle):
    for node in nodes(bundle):
        resize(node, 1450, 1400)


@oddity()
def nodes_in_networks_that_are_routed(bundle):
    text = json.dumps(bundle)
    for index in (1, 2, 3):
        text = text.replace(f"192.168.10.1{index}", f"192.168.{10 + index}.10")
    bundle.update(json.loads(text))
    for index, (name, node) in enumerate(bundle["nodes"].items(), 1):
        text = json.dumps(node).replace("192.168.10.0/24", f"192.168.{10 + index}.0/24")
        bundle["nodes"][name] = json.loads(text.replace('192.168.10.1"', f'192.168.{10 + index}.1"'))


@oddity()
def a_floating_address_behind_the_nodes_own(bundle):
    node = bundle["nodes"]["node1"]
    link_of(node, "eth0")["addr_info"].insert(
        1, {"family": "inet", "local": "192.168.10.100", "prefixlen": 32, "scope": "global"}
    )


@oddity()
def nodes_behind_nat_that_say_so(bundle):
    for index, name in enumerate(bundle["nodes"], 11):
        kube(bundle, name)["metadata"]["annotations"].update(
            {PREFIX + "public-ip": f"203.0.113.{index}", PREFIX + "public-ip-overwrite": f"203.0.113.{index}"}
        )
    for node in nodes(bundle):
        for entry in node["bridge_fdb"]:
            if entry["ifname"] == "flannel.1":
                entry["dst"] = entry["dst"].replace("192.168.10.", "203.0.113.")


@oddity()
def ipv6_off_on_an_ipv4_cluster(bundle):
    for node in nodes(bundle):
        node["sysctl"] = {key: value for key, value in node["sysctl"].items() if "ipv6" not in key}
        node["ip6_route"] = []
        node["ip6tables"] = {"nft": "", "legacy": "", "selected": "none"}
        for link in node["ip_address"]:
            link["addr_info"] = [one for one in link["addr_info"] if one["family"] == "inet"]


@oddity()
def a_node_without_pods_yet(bundle):
    node = bundle["nodes"]["node3"]
    node["ip_address"] = [link for link in node["ip_address"] if not link["ifname"].startswith(("cni0", "veth"))]
    node["ip_route"] = [route for route in node["ip_route"] if route.get("dev") != "cni0"]
    node["sandboxes"] = [one for one in node["sandboxes"] if not one["ip"]]
    node["cni_ipam"] = {}
    bundle["cluster"]["pods"]["items"] = [
        pod
        for pod in bundle["cluster"]["pods"]["items"]
        if pod["spec"].get("nodeName") != "node3" or pod["spec"].get("hostNetwork")
    ]


# Hosts themselves


@oddity()
def swap_that_the_kubelet_bears(bundle):
    for node in nodes(bundle):
        node["swap"] = "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0\tpartition\t1\t0\t100\n"
        node["fstab_swap"] = ["/swap.img none swap sw 0 0"]
        node["kubelet_config"] += "failSwapOn: false\n"


@oddity()
def control_groups_of_version_1_that_the_kubelet_bears(bundle):
    for node in nodes(bundle):
        node["cgroup"] = {"version": 1, "hybrid": True}
        node["kubelet_config"] += "failCgroupV1: false\n"


@oddity()
def the_default_number_of_inotify_instances(bundle):
    for node in nodes(bundle):
        node["inotify"]["max_user_instances"] = 128


@oddity()
def a_stub_resolver_that_the_kubelet_passes_by(bundle):
    for node in nodes(bundle):
        unit(node, "systemd-resolved")
        node["kubelet_config"] += "resolvConf: /run/systemd/resolve/resolv.conf\n"


@oddity()
def containers_as_nodes(bundle):
    """As in kind and in this collection's lab: no modules, no DMI, one kernel, hybrid control groups."""
    for node in nodes(bundle):
        node["virtualization"] = "podman"
        node["boot_id"] = "the same kernel"
        node["modules_available"] = []
        node["modules_persistent"] = []
        node["cgroup"] = {"version": 1, "hybrid": True}
        node["kubelet_config"] += "failCgroupV1: false\nfailSwapOn: false\n"
        node["swap"] = "Filename\tType\n/dev/vda2\tpartition\n"
        del node["product_uuid"], node["memory_mib"]


@oddity()
def machines_with_one_product_uuid(bundle):
    for node in nodes(bundle):
        node["product_uuid"] = "03000200-0400-0500-0006-000700080009"


@oddity()
def fully_qualified_names(bundle):
    for name in list(bundle["nodes"]):
        bundle["nodes"][name]["hostname"] = f"{name}.example.com"
        text = json.dumps(bundle["cluster"])
        for key in ("name", "nodeName", "kubernetes.io/hostname", "host"):
            text = text.replace(f'"{key}": "{name}"', f'"{key}": "{name}.example.com"')
        bundle["cluster"] = json.loads(text)


@oddity()
def clocks_a_second_apart(bundle):
    for index, node in enumerate(nodes(bundle)):
        node["clock"] = node["controller_clock"] + index * 1.4


@oddity()
def legacy_tables_that_are_empty(bundle):
    for node in nodes(bundle):
        node["iptables"]["legacy"] = (
            "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
        )


@oddity()
def a_few_leases_without_a_pod(bundle):
    for node in nodes(bundle):
        range_ = next(iter(node["cni_ipam"]["cbr0"])).rpartition(".")[0]
        node["cni_ipam"]["cbr0"].update({f"{range_}.{last}": f"{last:064x}" for last in range(100, 104)})


@oddity()
def a_worker_of_another_architecture(bundle):
    bundle["nodes"]["node3"]["architecture"] = "aarch64"
    labels = kube(bundle, "node3")["metadata"]["labels"]
    labels["kubernetes.io/arch"] = labels["beta.kubernetes.io/arch"] = "arm64"
    kube(bundle, "node3")["status"]["nodeInfo"]["architecture"] = "arm64"


# Clusters that others built


@oddity()
def binaries_without_packages(bundle):
    for node in nodes(bundle):
        node["packages"] = {}
        node["package_sources"] = ["deb http://deb.debian.org/debian trixie main"]


@oddity()
def packages_that_are_not_held(bundle):
    for node in nodes(bundle):
        for package in node["packages"].values():
            package["held"] = False


@oddity()
def no_inventory_variables_at_all(bundle):
    del bundle["intent"]


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
def a_vni_and_a_port_of_ones_own(bundle):
    net_conf(bundle, VNI=4096, Port=4789)
    text = json.dumps(bundle["nodes"]).replace('flannel.1"', 'flannel.4096"').replace("flannel/1.", "flannel/4096.")
    text = text.replace('"id": 1,', '"id": 4096,').replace("8472", "4789")
    bundle["nodes"] = json.loads(text)
    for name in bundle["nodes"]:
        annotations = kube(bundle, name)["metadata"]["annotations"]
        annotations[PREFIX + "backend-data"] = annotations[PREFIX + "backend-data"].replace('"VNI":1', '"VNI":4096')


@oddity()
def host_gw_on_one_link(bundle):
    net_conf(bundle, Type="host-gw")
    peers = {f"10.244.{index}.0/24": f"192.168.10.{11 + index}" for index in range(3)}
    for name, node in bundle["nodes"].items():
        annotations = kube(bundle, name)["metadata"]["annotations"]
        annotations.update({PREFIX + "backend-type": "host-gw", PREFIX + "backend-data": "null"})
        node["ip_address"] = [link for link in node["ip_address"] if link["ifname"] != "flannel.1"]
        node["ip_route"] = [
            {"dst": route["dst"], "gateway": peers[route["dst"]], "dev": "eth0"}
            if route.get("dev") == "flannel.1" and route["dst"] in peers
            else route
            for route in node["ip_route"]
            if route.get("dev") != "flannel.1" or route["dst"] in peers
        ]
        node["bridge_fdb"] = [one for one in node["bridge_fdb"] if one["ifname"] != "flannel.1"]
        node["ip_neigh"] = [one for one in node["ip_neigh"] if one["dev"] != "flannel.1"]
        node["listening"] = [line for line in node["listening"] if ":8472" not in line]
        for link in node["ip_address"]:
            if link["ifname"] != "lo":
                link["mtu"] = 1500
        node["subnet_env"] = node["subnet_env"].replace("FLANNEL_MTU=1450", "FLANNEL_MTU=1500")
        node["probes"] = [one for one in node["probes"] if "8472" not in one["what"]]


@oddity()
def evidence_of_one_host_only(bundle):
    bundle["nodes"] = {"node2": bundle["nodes"]["node2"]}


@oddity()
def no_host_at_hand(bundle):
    bundle["nodes"] = {}


@oddity()
def a_balancer_in_the_inventory(bundle):
    """A host that is in no cluster and need not be."""
    host = healthy("host")["nodes"]["node3"]
    text = json.dumps(host).replace("192.168.10.13", "192.168.10.50").replace('"node3"', '"balancer"')
    balancer = json.loads(text)
    balancer.update(machine_id="f" * 32, product_uuid="other", boot_id="other", roles=[], cni_bin=[], packages={})
    balancer["listening"].append("tcp LISTEN 0 4096 *:6443 *:*")
    bundle["nodes"]["balancer"] = balancer


@oddity("host")
def kubeadm_images_pulled_and_nothing_else(bundle):
    for node in nodes(bundle):
        node["kubernetes_files"] = ["/etc/kubernetes", "/etc/kubernetes/manifests", "/var/lib/kubelet", "/var/lib/etcd"]


@oddity("host")
def members_whose_api_server_is_away(bundle):
    bundle["nodes"] = healthy()["nodes"]


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


def test_there_are_forty():
    assert len(ODDITIES) >= 40
