# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters that look odd to the API server, or of which little is known."""

from __future__ import annotations

import copy
import json

import pytest
from edits import daemonset, event, kube_node, log, objects, pods, remove_pods, waits
from host_edits import add_link, link_of, nodes
from oddities import Oddities
from rules import healthy

oddity = Oddities()


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


@oddity("cluster-dual")
def an_inventory_that_names_only_the_pod_ranges(bundle):
    bundle["intent"] = {"pod_cidr": bundle["intent"]["pod_cidr"]}


@oddity()
def applications_that_fail_by_themselves(bundle):
    for pod, reason in zip(
        pods(bundle, "web-"), ("ImagePullBackOff", "CrashLoopBackOff", "ErrImagePull", "CreateContainerError")
    ):
        waits(pod, reason, "it is the application's")


@oddity()
def policies_that_nobody_enforces(bundle):
    spec = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    objects(bundle, "network_policies").append({"metadata": {"name": "deny", "namespace": "default"}, "spec": spec})


@oddity()
def policies_that_are_enforced(bundle):
    containers = daemonset(bundle)["spec"]["template"]["spec"]["containers"]
    image = "registry.k8s.io/networking/kube-network-policies:v1.0.0"
    containers.append({"name": "kube-network-policies", "image": image})
    spec = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    objects(bundle, "network_policies").append({"metadata": {"name": "deny", "namespace": "default"}, "spec": spec})


@oddity()
def an_upgrade_under_way(bundle):
    for name in ("node2", "node3"):
        kube_node(bundle, name)["status"]["nodeInfo"]["kubeletVersion"] = "v1.35.9"
        bundle["nodes"][name]["kubelet_version"] = "v1.35.9"
        bundle["nodes"][name]["packages"]["kubelet"]["version"] = "1.35.9-1.1"


@oddity()
def a_kubeadm_one_ahead(bundle):
    bundle["nodes"]["node1"]["kubeadm_version"] = "v1.38.0"


@oddity()
def a_vendors_version(bundle):
    bundle["cluster"]["version"]["serverVersion"]["gitVersion"] = "v1.37.2-eks-3025e55"
    for name in ("node1", "node2", "node3"):
        kube_node(bundle, name)["status"]["nodeInfo"]["kubeletVersion"] = "v1.37.1-eks-1a2b3c"


@oddity()
def a_name_as_endpoint_and_local_kubelets(bundle):
    bundle["intent"]["control_plane_endpoint"] = "k8s.example.com:6443"
    text = bundle["cluster"]["kubeadm_config"]
    bundle["cluster"]["kubeadm_config"] = text.replace("192.168.10.11:6443", "k8s.example.com:6443")
    bundle["nodes"]["node1"]["certificates"]["/etc/kubernetes/pki/apiserver.crt"]["sans"].append("k8s.example.com")
    for name, node in bundle["nodes"].items():
        for file in node["kubeconfig_servers"]:
            local = name == "node1" and "admin" not in file
            node["kubeconfig_servers"][file] = f"https://{'192.168.10.11' if local else 'k8s.example.com'}:6443"


@oddity()
def a_proxy_on_localhost_of_every_worker(bundle):
    bundle["nodes"]["node1"]["certificates"]["/etc/kubernetes/pki/apiserver.crt"]["sans"] += ["localhost", "127.0.0.1"]
    for name in ("node2", "node3"):
        files = bundle["nodes"][name]["kubeconfig_servers"]
        bundle["nodes"][name]["kubeconfig_servers"] = dict.fromkeys(files, "https://localhost:6443")


@oddity()
def etcd_that_is_external(bundle):
    bundle["cluster"]["kubeadm_config"] = bundle["cluster"]["kubeadm_config"].replace(
        "etcd:\n  local:\n    dataDir: /var/lib/etcd\n", "etcd:\n  external:\n    endpoints: [https://10.9.9.9:2379]\n"
    )
    bundle["cluster"]["etcd_members"]["members"] = [{"ID": 5, "name": "etcd-a", "peerURLs": ["https://10.9.9.9:2380"]}]


@oddity()
def a_certificate_that_ends_next_week(bundle):
    certificate = bundle["nodes"]["node1"]["certificates"]["/etc/kubernetes/pki/apiserver.crt"]
    certificate["not_after"] = "2026-12-07T00:00:00Z"


@oddity()
def a_cordoned_node_and_a_gpu_node(bundle):
    kube_node(bundle, "node2")["spec"].update(
        unschedulable=True, taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    )
    kube_node(bundle, "node3")["spec"]["taints"] = [{"key": "nvidia.com/gpu", "value": "x", "effect": "NoSchedule"}]


@oddity()
def a_cluster_of_k3s(bundle):
    objects(bundle, "daemonsets").clear()
    remove_pods(bundle, "kube-flannel-ds-")
    for prefix in ("kube-proxy-", "kube-apiserver-", "kube-controller-manager-", "kube-scheduler-", "etcd-"):
        remove_pods(bundle, prefix)
    bundle["cluster"]["manifests"] = {}
    for key in ("flannel_config", "kubeadm_config", "kube_proxy_config", "access", "etcd_members"):
        del bundle["cluster"][key]
    bundle["intent"] = {}
    bundle["cluster"]["version"]["serverVersion"]["gitVersion"] = "v1.36.2+k3s1"
    for node in objects(bundle, "nodes"):
        node["status"]["nodeInfo"]["kubeletVersion"] = "v1.36.2+k3s1"


@oddity()
def a_join_that_was_refused_before_it_worked(bundle):
    words = 'could not find a JWS signature in the cluster-info ConfigMap for token ID "abcdef"'
    bundle["nodes"]["node3"]["kubeadm_output"] = f"error execution phase preflight: {words}\n"


@oddity()
def fully_qualified_names_in_the_inventory(bundle):
    bundle["nodes"] = {f"{name}.example.com": node for name, node in bundle["nodes"].items()}
    for node in bundle["nodes"].values():
        for one in node["probes"]:
            one.update({"from": f"{one['from']}.example.com", "to": f"{one['to']}.example.com"})


@pytest.mark.parametrize("name", oddity.changes)
def test_a_healthy_oddity_is_no_fault(name):
    errors, warnings = oddity.judged(name)
    assert errors == []
    assert len(warnings) <= 1, warnings
