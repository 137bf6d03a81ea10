# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters with an odd flannel or kube-proxy: backends, images, restarts, modes."""

from __future__ import annotations

import copy
import json

import pytest
from edits import FORWARD, daemonset, flannel_pod, kube_node, link, log, nft_table, objects, pods, remove_pods, route
from host_edits import add_link, kube, net_conf, nodes
from oddities import Oddities

oddity = Oddities()
PREFIX = "flannel.alpha.coreos.com/"


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
        for one in node["ip_address"]:
            if one["ifname"] != "lo":
                one["mtu"] = 1500
        node["subnet_env"] = node["subnet_env"].replace("FLANNEL_MTU=1450", "FLANNEL_MTU=1500")
        node["probes"] = [one for one in node["probes"] if "8472" not in one["what"]]


@oddity()
def a_hardened_image_of_flannel(bundle):
    for spec in [daemonset(bundle)["spec"]["template"]["spec"], *(one["spec"] for one in pods(bundle, "kube-flannel"))]:
        spec["containers"][0]["image"] = "docker.io/rancher/hardened-flannel:v0.28.6-build20260101"


@oddity()
def services_by_ipvs(bundle):
    bundle["intent"]["kube_proxy_mode"] = "ipvs"
    text = bundle["cluster"]["kube_proxy_config"]
    bundle["cluster"]["kube_proxy_config"] = text.replace("mode: iptables", "mode: ipvs")
    for node in nodes(bundle):
        add_link(node, "kube-ipvs0", "10.96.0.1/32", "dummy", flags=("BROADCAST", "NOARP"))
        node["modules"] += ["ip_vs", "ip_vs_rr", "ip_vs_wrr", "ip_vs_sh"]


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


@oddity()
def a_flannel_that_waited_for_the_api_server(bundle):
    for name in bundle["nodes"]:
        refused = "dial tcp 10.96.0.1:443: connect: connection refused"
        log(
            bundle, flannel_pod(bundle, name), f'Failed to watch *v1.Node: Get "https://10.96.0.1:443/api": {refused}\n'
        )


@oddity()
def a_network_that_contains_the_clusters(bundle):
    for node in nodes(bundle):
        node["subnet_env"] = node["subnet_env"].replace("10.244.0.0/16", "10.0.0.0/8")
    config = bundle["cluster"]["flannel_config"]
    config["net-conf.json"] = config["net-conf.json"].replace("10.244.0.0/16", "10.0.0.0/8")


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
def offload_that_is_off_by_hand(bundle):
    for node in bundle["nodes"].values():
        node["link_offload"]["flannel.1"]["tx-checksum-ip-generic"] = False


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
def node_cidr_of_kube_proxy_by_node(bundle):
    text = bundle["cluster"]["kube_proxy_config"].replace("clusterCIDR: 10.244.0.0/16", 'clusterCIDR: ""')
    bundle["cluster"]["kube_proxy_config"] = text.replace('detectLocalMode: ""', "detectLocalMode: NodeCIDR")


@pytest.mark.parametrize("name", oddity.changes)
def test_a_healthy_oddity_is_no_fault(name):
    errors, warnings = oddity.judged(name)
    assert errors == []
    assert len(warnings) <= 1, warnings
