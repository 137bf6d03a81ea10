# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Edits of what healthy hosts say: links, units, sizes; with those of the cluster that go with them."""

from __future__ import annotations

import ipaddress
import json


def nodes(bundle):
    return bundle["nodes"].values()


def kube(bundle, name):
    return next(one for one in bundle["cluster"]["nodes"]["items"] if one["metadata"]["name"] == name)


def link_of(node, name):
    return next(link for link in node["ip_address"] if link["ifname"] == name)


def add_link(node, name, address="", kind="", mtu=1500, flags=("BROADCAST", "MULTICAST", "UP", "LOWER_UP"), **more):
    """A link, with its connected route where it has an address."""
    link = {"ifindex": 50 + len(node["ip_address"]), "ifname": name, "flags": list(flags), "mtu": mtu, "addr_info": []}
    if kind:
        link["linkinfo"] = {"info_kind": kind}
    if address:
        own = ipaddress.ip_interface(address)
        family = "inet" if own.version == 4 else "inet6"
        link["addr_info"] = [
            {"family": family, "local": str(own.ip), "prefixlen": own.network.prefixlen, "scope": "global"}
        ]
        if own.version == 4 and own.network.prefixlen < 32:
            node["ip_route"].append(
                {"dst": str(own.network), "dev": name, "protocol": "kernel", "scope": "link", "prefsrc": str(own.ip)}
            )
    node["ip_address"].append({**link, **more})


def rename_uplink(node, name, kind, below):
    """What was eth0 becomes ``name``, made of ``below``."""
    link = link_of(node, "eth0")
    link.update(ifname=name, linkinfo={"info_kind": kind})
    for route in node["ip_route"] + node["ip6_route"]:
        if route.get("dev") == "eth0":
            route["dev"] = name
    for one in node["ip_address"]:
        data = one.get("linkinfo", {}).get("info_data", {})
        if data.get("link") == "eth0":
            data["link"] = name
    node["sysctl"] = {
        key.replace(".eth0.", f".{name.replace('.', '/')}."): value for key, value in node["sysctl"].items()
    }
    for each in below:
        add_link(node, each, master=name)


def resize(node, uplink, tunnel):
    for link in node["ip_address"]:
        if link["ifname"] == "eth0":
            link["mtu"] = uplink
        elif link["ifname"] != "lo":
            link["mtu"] = tunnel
    node["subnet_env"] = node["subnet_env"].replace("FLANNEL_MTU=1450", f"FLANNEL_MTU={tunnel}")
    node["probes"] = [one for one in node["probes"] if "icmp" not in one["what"]]


def unit(node, name, active=True):
    node["units"][name] = {
        "active": "active" if active else "inactive",
        "enabled": "enabled",
        "since": "2026-11-30T15:40:00Z",
    }


def net_conf(bundle, **backend):
    conf = json.loads(bundle["cluster"]["flannel_config"]["net-conf.json"])
    conf["Backend"].update(backend)
    bundle["cluster"]["flannel_config"]["net-conf.json"] = json.dumps(conf)
    bundle["intent"]["flannel"]["backend"] = conf["Backend"]["Type"]
