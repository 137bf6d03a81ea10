# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters whose traffic or whose cluster looks odd: no error, and one warning is the most."""

from __future__ import annotations

import copy
import json

import pytest
from edits import daemonset, flannel_pod, kube_node, link, nft_table, objects, pods, remove_pods, route, rules, waits
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

ODDITIES = {}
CHAINS = ":KUBE-SERVICES - [0:0]\n"  # the last chain of the filter table; what follows is in front of all rules
FORWARD = {"name": "forward", "type": "filter", "hook": "forward", "prio": 0, "policy": "accept"}
TAILSCALE = [
    {"priority": 5210, "src": "all", "fwmark": "0x80000", "fwmask": "0xff0000", "table": "main"},
    {"priority": 5250, "src": "all", "fwmark": "0x80000", "fwmask": "0xff0000", "action": "unreachable"},
    {"priority": 5270, "src": "all", "table": "52"},
]


def oddity(base="cluster"):
    def register(function):
        ODDITIES[function.__name__] = (base, function)
        return function

    return register


def in_front(bundle, lines, nodes=("node1", "node2", "node3")):
    """Lines of iptables-save (chains and rules) in front of the filter table's own rules."""
    for name in nodes:
        rules(bundle, name, CHAINS, CHAINS + lines)


def meta(key, value):
    return {"match": {"op": "==", "left": {"meta": {"key": key}}, "right": value}}


def net_conf(bundle, **backend):
    conf = json.loads(bundle["cluster"]["flannel_config"]["net-conf.json"])
    conf["Backend"] = {"Type": "vxlan", **backend}
    bundle["cluster"]["flannel_config"]["net-conf.json"] = json.dumps(conf)
    bundle["intent"]["flannel"]["backend"] = conf["Backend"]["Type"]


# Rules


@oddity()
def firewalld_with_pods_in_the_zone_trusted(bundle):
    for name, node in bundle["nodes"].items():
        node["units"]["firewalld"] = {"active": "active", "enabled": "enabled"}
        node["firewalld"] = {"active": True, "zones": "trusted (active)\n  sources: 10.244.0.0/16\n", "policies": ""}
        chain = {**FORWARD, "name": "filter_FORWARD", "prio": 10}
        source = {"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}}}
        source["match"]["right"] = {"prefix": {"addr": "10.244.0.0", "len": 16}}
        target = copy.deepcopy(source)
        target["match"]["left"]["payload"]["field"] = "daddr"
        reject = {"reject": {"type": "icmpx", "expr": "admin-prohibited"}}
        nft_table(
            bundle, name, "inet", "firewalld", chain, [source, {"accept": None}], [target, {"accept": None}], [reject]
        )


@oddity()
def the_empty_table_of_debians_nftables(bundle):
    for name in bundle["nodes"]:
        nft_table(bundle, name, "inet", "filter", FORWARD)


@oddity()
def crowdsec_and_fail2ban(bundle):
    for name in bundle["nodes"]:
        chain = {"name": "crowdsec-chain-input", "type": "filter", "hook": "input", "prio": -10, "policy": "accept"}
        saddr = {
            "match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": "198.51.100.7"}
        }
        nft_table(bundle, name, "ip", "crowdsec", chain, [saddr, {"drop": None}])
    in_front(bundle, ":f2b-sshd - [0:0]\n-A INPUT -p tcp -m multiport --dports 22 -j f2b-sshd\n-A f2b-sshd -j RETURN\n")


@oddity()
def logs_limits_and_bridged_packets(bundle):
    in_front(
        bundle,
        '-A FORWARD -m limit --limit 5/min -j LOG --log-prefix "FWD "\n'
        "-A FORWARD -m physdev --physdev-is-bridged -j ACCEPT\n"
        "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n",
    )


@oddity()
def a_reject_behind_flannels_accept(bundle):
    for name in bundle["nodes"]:
        text = bundle["nodes"][name]["iptables"]["nft"]
        last = next(line for line in text.splitlines() if "-A FORWARD" in line and "FLANNEL-FWD" in line)
        rules(bundle, name, last, f"{last}\n[0:0] -A FORWARD -j REJECT --reject-with icmp-host-prohibited")


@oddity()
def libvirts_own_rejects(bundle):
    in_front(
        bundle,
        ":LIBVIRT_FWI - [0:0]\n-A FORWARD -j LIBVIRT_FWI\n"
        "-A LIBVIRT_FWI -o virbr0 -j REJECT --reject-with icmp-port-unreachable\n",
    )


@oddity()
def calico_that_enforces_policies_beside_flannel(bundle):
    containers = daemonset(bundle)["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "calico-node", "image": "docker.io/calico/node:v3.31.0"})
    in_front(
        bundle,
        ":cali-FORWARD - [0:0]\n:cali-from-wl-dispatch - [0:0]\n-A FORWARD -j cali-FORWARD\n"
        "-A cali-FORWARD -i cali+ -j cali-from-wl-dispatch\n-A cali-from-wl-dispatch -j DROP\n",
    )


@oddity()
def kube_router_that_enforces_policies(bundle):
    in_front(
        bundle,
        ":KUBE-ROUTER-FORWARD - [0:0]\n:KUBE-POD-FW-AAAA - [0:0]\n-A FORWARD -j KUBE-ROUTER-FORWARD\n"
        "-A KUBE-ROUTER-FORWARD -d 10.244.1.2/32 -j KUBE-POD-FW-AAAA\n-A KUBE-POD-FW-AAAA -j REJECT\n",
        ("node2",),
    )


@oddity()
def docker_with_its_raw_table(bundle):
    rule = "-A PREROUTING -d 172.17.0.2/32 ! -i docker0 -j DROP"
    for node in bundle["nodes"].values():
        raw = f"*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n{rule}\nCOMMIT\n"
        node["iptables"]["nft"] = raw + node["iptables"]["nft"]
        node.pop("nft")


@oddity()
def input_closed_but_for_the_cluster(bundle):
    for name in bundle["nodes"]:
        rules(bundle, name, "*filter\n:INPUT ACCEPT", "*filter\n:INPUT DROP")
    in_front(
        bundle,
        "-A INPUT -i lo -j ACCEPT\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
        "-A INPUT -i cni0 -j ACCEPT\n"
        "-A INPUT -s 192.168.10.0/24 -j ACCEPT\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n",
    )


@oddity()
def the_api_server_closed_to_strangers(bundle):
    in_front(bundle, "-A INPUT ! -s 192.168.10.0/24 -i eth0 -p tcp -m tcp --dport 6443 -j DROP\n", ("node1",))


@oddity()
def martians_dropped_at_the_door(bundle):
    in_front(
        bundle,
        "-A FORWARD -s 127.0.0.0/8 -j DROP\n-A FORWARD -s 224.0.0.0/4 -j DROP\n"
        "-A FORWARD -m conntrack --ctstate INVALID -j DROP\n",
    )


@oddity()
def nftables_mode_of_kube_proxy_and_flannel(bundle):
    bundle["intent"]["kube_proxy_mode"] = "nftables"
    text = bundle["cluster"]["kube_proxy_config"]
    bundle["cluster"]["kube_proxy_config"] = text.replace("mode: iptables", "mode: nftables")
    conf = json.loads(bundle["cluster"]["flannel_config"]["net-conf.json"])
    bundle["cluster"]["flannel_config"]["net-conf.json"] = json.dumps({**conf, "EnableNFTables": True})
    for name, node in bundle["nodes"].items():
        kept = ":KUBE-IPTABLES-HINT - [0:0]\n:KUBE-KUBELET-CANARY - [0:0]\n"
        node["iptables"]["nft"] = (
            f"*mangle\n:FORWARD ACCEPT [0:0]\n{kept}COMMIT\n*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n"
        )
        node["ip6tables"]["nft"] = ""
        node["nft"] = {"nftables": [{"metainfo": {"version": "1.1.3"}}]}
        nft_table(bundle, name, "ip", "kube-proxy", {**FORWARD, "name": "filter-forward"})
        nft_table(bundle, name, "ip", "flannel-ipv4", FORWARD)
        nft_table(bundle, name, "ip6", "flannel-ipv6", FORWARD)


# Backends, routes, links


@oddity()
def wireguard_with_one_route(bundle):
    net_conf(bundle, Type="wireguard")
    for name, node in bundle["nodes"].items():
        own = int(name[-1]) - 1
        tunnel = link(bundle, name, "flannel.1")
        tunnel.update(ifname="flannel-wg", mtu=1420, flags=["POINTOPOINT", "NOARP", "UP", "LOWER_UP"])
        tunnel["linkinfo"] = {"info_kind": "wireguard"}
        tunnel.pop("address", None)
        for peer in {0, 1, 2} - {own}:
            node["ip_route"].remove(route(bundle, name, f"10.244.{peer}.0/24"))
        node["ip_route"].append({"dst": "10.244.0.0/16", "dev": "flannel-wg", "scope": "link", "flags": []})
        node["bridge_fdb"] = [one for one in node["bridge_fdb"] if one["ifname"] != "flannel.1"]
        node["ip_neigh"] = [one for one in node["ip_neigh"] if one["dev"] != "flannel.1"]
        node["subnet_env"] = node["subnet_env"].replace("MTU=1450", "MTU=1420")
        node["listening"] = [one.replace(":8472", ":51820") for one in node["listening"]]
        node["probes"] = [one for one in node["probes"] if "/" not in one["what"] or "icmp" not in one["what"]]
        node["modules"].append("wireguard")
        node["link_offload"].pop("flannel.1")
        for one in node["ip_address"]:
            if one["ifname"] in ("cni0",) or one["ifname"].startswith("veth"):
                one["mtu"] = 1420
        annotations = kube_node(bundle, name)["metadata"]["annotations"]
        annotations["flannel.alpha.coreos.com/backend-type"] = "wireguard"
        annotations["flannel.alpha.coreos.com/backend-data"] = '{"PublicKey": "x' + name + '="}'


@oddity()
def direct_routing_on_one_link(bundle):
    net_conf(bundle, DirectRouting=True)
    for name, node in bundle["nodes"].items():
        for peer in {0, 1, 2} - {int(name[-1]) - 1}:
            direct = route(bundle, name, f"10.244.{peer}.0/24")
            direct.update(dev="eth0", gateway=f"192.168.10.1{peer + 1}", flags=[])
        node["bridge_fdb"] = [one for one in node["bridge_fdb"] if not (one["ifname"] == "flannel.1" and "dst" in one)]
        node["ip_neigh"] = [one for one in node["ip_neigh"] if one["dev"] != "flannel.1"]


@oddity()
def routes_that_are_not_flannels(bundle):
    for node in bundle["nodes"].values():
        node["ip_route"] += [
            {"dst": "172.20.0.0/16", "gateway": "192.168.10.250", "dev": "eth0", "protocol": "static", "flags": []},
            {"dst": "10.8.0.0/24", "gateway": "192.168.10.251", "dev": "eth0", "protocol": "bgp", "flags": []},
            {"dst": "192.0.2.0/24", "type": "blackhole", "flags": []},
        ]


@oddity()
def strict_reverse_paths_everywhere(bundle):
    for node in bundle["nodes"].values():
        for key in node["sysctl"]:
            if key.endswith("rp_filter"):
                node["sysctl"][key] = "1"


@oddity()
def a_full_tunnel_of_wg_quick(bundle):
    for node in bundle["nodes"].values():
        node["ip_rule"] += [
            {"priority": 32764, "src": "all", "table": "main", "suppress_prefixlen": 0},
            {"priority": 32765, "not": None, "src": "all", "fwmark": "0xca6c", "table": "51820"},
        ]
        node["ip_route"].append({"dst": "default", "dev": "wg0", "table": "51820", "scope": "link", "flags": []})


@oddity()
def tailscale_with_a_subnet_router(bundle):
    for node in bundle["nodes"].values():
        node["ip_rule"] += TAILSCALE
        node["ip_route"] += [
            {"dst": "100.100.100.100", "dev": "tailscale0", "table": "52", "flags": []},
            {"dst": "172.31.0.0/16", "dev": "tailscale0", "table": "52", "flags": []},
        ]


@oddity()
def rules_for_the_addresses_of_a_second_card(bundle):
    for node in bundle["nodes"].values():
        node["ip_rule"].append({"priority": 1000, "src": "192.168.20.11", "table": "eth1"})
        node["ip_route"].append(
            {"dst": "default", "gateway": "192.168.20.1", "dev": "eth1", "table": "eth1", "flags": []}
        )


@oddity()
def a_vrf_for_management(bundle):
    for node in bundle["nodes"].values():
        node["ip_rule"].append({"priority": 1000, "src": "all", "l3mdev": None})
        node["ip_route"].append({"dst": "default", "gateway": "10.200.0.1", "dev": "mgmt", "table": "10", "flags": []})


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
def probes_that_were_not_run(bundle):
    for node in bundle["nodes"].values():
        del node["probes"]


@oddity()
def offload_that_is_off_by_hand(bundle):
    for node in bundle["nodes"].values():
        node["link_offload"]["flannel.1"]["tx-checksum-ip-generic"] = False


# The cluster's objects


@oddity()
def flannel_of_last_year_in_kube_system(bundle):
    flannel = daemonset(bundle)
    for one in [flannel, *pods(bundle, "kube-flannel-ds-")]:
        one["metadata"]["namespace"] = "kube-system"
        spec = one["spec"].get("template", one)["spec"]
        spec["containers"][0]["image"] = "docker.io/flannel/flannel:v0.26.7"
        spec["initContainers"][1].update(image="docker.io/flannel/flannel:v0.26.7", command=["cp"])
    bundle["cluster"]["flannel_config"]["namespace"] = "kube-system"
    access = bundle["cluster"]["access"]
    access["system:serviceaccount:kube-system:flannel"] = access.pop("system:serviceaccount:kube-flannel:flannel")
    bundle["intent"]["flannel"].pop("version")


@oddity()
def a_daemonset_for_each_architecture_and_for_windows(bundle):
    for name, selector in (
        ("kube-flannel-ds-arm64", {"kubernetes.io/arch": "arm64"}),
        ("kube-flannel-ds-windows-amd64", {"kubernetes.io/os": "windows"}),
    ):
        other = copy.deepcopy(daemonset(bundle))
        other["metadata"]["name"] = name
        spec = other["spec"]["template"]["spec"]
        spec.pop("affinity")
        spec["nodeSelector"] = selector
        objects(bundle, "daemonsets").append(other)


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
def a_flannel_that_was_restarted_long_ago(bundle):
    status = flannel_pod(bundle)["status"]["containerStatuses"][0]
    state = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-10-01T00:00:00Z"}}
    status.update(restartCount=4, lastState=state)


@oddity()
def a_flannel_that_was_killed_once(bundle):
    status = flannel_pod(bundle)["status"]["containerStatuses"][0]
    status.update(restartCount=1, lastState={"terminated": {"exitCode": 137, "reason": "OOMKilled"}})


@oddity()
def updates_by_hand_that_are_done(bundle):
    daemonset(bundle)["spec"]["updateStrategy"] = {"type": "OnDelete"}


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


@oddity()
def node_cidr_of_kube_proxy_by_node(bundle):
    text = bundle["cluster"]["kube_proxy_config"].replace("clusterCIDR: 10.244.0.0/16", 'clusterCIDR: ""')
    bundle["cluster"]["kube_proxy_config"] = text.replace('detectLocalMode: ""', "detectLocalMode: NodeCIDR")


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
