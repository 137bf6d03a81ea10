# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters on odd hosts: systems, security modules, proxies, swap, names, what manages their links."""

from __future__ import annotations

import json

import pytest
from edits import objects
from host_edits import kube, nodes, unit
from oddities import Oddities

oddity = Oddities()


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


@oddity("host")
def hosts_on_which_nothing_is_installed_yet(bundle):
    for node in nodes(bundle):
        node.update(packages={}, cni_bin=[], runtime={})
        del node["kubelet_version"], node["kubeadm_version"]
        node["units"] = {name: {"active": "inactive", "enabled": "not-found"} for name in node["units"]}


@oddity()
def networkmanager_that_leaves_links_alone(bundle):
    for node in bundle["nodes"].values():
        node["units"]["NetworkManager"] = {"active": "active", "enabled": "enabled"}
        node["network_manager_conf"] = {"NetworkManager.conf": "[main]\nplugins=keyfile\n"}


@oddity()
def networkd_of_netplan(bundle):
    for node in bundle["nodes"].values():
        node["units"]["systemd-networkd"] = {"active": "active", "enabled": "enabled"}
        node["networkd_conf"] = {
            "10-netplan-eth0.network": "[Match]\nName=eth0\n\n[Network]\nAddress=192.168.10.11/24\n"
        }


@oddity()
def dhcpcd_that_leaves_links_alone(bundle):
    for node in bundle["nodes"].values():
        node["units"]["dhcpcd"] = {"active": "active", "enabled": "enabled"}


@oddity()
def a_vrf_for_management(bundle):
    for node in bundle["nodes"].values():
        node["ip_rule"].append({"priority": 1000, "src": "all", "l3mdev": None})
        node["ip_route"].append({"dst": "default", "gateway": "10.200.0.1", "dev": "mgmt", "table": "10", "flags": []})


@pytest.mark.parametrize("name", oddity.changes)
def test_a_healthy_oddity_is_no_fault(name):
    errors, warnings = oddity.judged(name)
    assert errors == []
    assert len(warnings) <= 1, warnings
