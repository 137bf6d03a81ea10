# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters on odd networks: uplinks, clouds, second cards, VPNs, routes of others."""

from __future__ import annotations

import json

import pytest
from host_edits import add_link, link_of, nodes, rename_uplink, resize
from oddities import Oddities

oddity = Oddities()
TAILSCALE = [
    {"priority": 5210, "src": "all", "fwmark": "0x80000", "fwmask": "0xff0000", "table": "main"},
    {"priority": 5250, "src": "all", "fwmark": "0x80000", "fwmask": "0xff0000", "action": "unreachable"},
    {"priority": 5270, "src": "all", "table": "52"},
]


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
def probes_that_were_not_run(bundle):
    for node in bundle["nodes"].values():
        del node["probes"]


@pytest.mark.parametrize("name", oddity.changes)
def test_a_healthy_oddity_is_no_fault(name):
    errors, warnings = oddity.judged(name)
    assert errors == []
    assert len(warnings) <= 1, warnings
