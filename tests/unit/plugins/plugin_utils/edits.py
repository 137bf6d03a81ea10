# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Edits of healthy evidence that several tests of rules make."""

from __future__ import annotations

from typing import Any

NODES = ["node1", "node2", "node3"]
FORWARD = {"name": "forward", "type": "filter", "hook": "forward", "prio": 0, "policy": "accept"}
"""A base chain for `nft_table`."""


def objects(bundle: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The items of a list of the cluster: nodes, pods, daemonsets, events, ..."""
    return bundle["cluster"][kind]["items"]


def kube_node(bundle: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in objects(bundle, "nodes") if one["metadata"]["name"] == name)


def daemonset(bundle: dict[str, Any], name: str = "kube-flannel-ds") -> dict[str, Any]:
    return next(one for one in objects(bundle, "daemonsets") if one["metadata"]["name"] == name)


def pods(bundle: dict[str, Any], prefix: str, node: str = "") -> list[dict[str, Any]]:
    """Pods whose name begins with the prefix, all of them or those of one node."""
    return [
        one
        for one in objects(bundle, "pods")
        if one["metadata"]["name"].startswith(prefix) and node in ("", one["spec"].get("nodeName"))
    ]


def flannel_pod(bundle: dict[str, Any], node: str = "node2") -> dict[str, Any]:
    return pods(bundle, "kube-flannel-ds-", node)[0]


def not_ready(pod: dict[str, Any]) -> None:
    for condition in pod["status"]["conditions"]:
        if condition["type"] in ("Ready", "ContainersReady"):
            condition["status"] = "False"


def waits(pod: dict[str, Any], reason: str, message: str = "", kind: str = "containerStatuses") -> dict[str, Any]:
    """Lets the pod's last container (or init container) wait, and answers its status."""
    not_ready(pod)
    status = pod["status"][kind][-1]
    status["state"] = {"waiting": {"reason": reason, "message": message}}
    status["ready"] = False
    return status


def log(bundle: dict[str, Any], pod: dict[str, Any], text: str, container: str = "kube-flannel") -> None:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}/{container}"
    bundle["cluster"]["logs"][name] = text


def remove_pods(bundle: dict[str, Any], prefix: str, node: str = "") -> None:
    gone = pods(bundle, prefix, node)
    bundle["cluster"]["pods"]["items"] = [one for one in objects(bundle, "pods") if one not in gone]


def route(bundle: dict[str, Any], node: str, dst: str) -> dict[str, Any]:
    """The host's route of the main table to that destination."""
    return next(one for one in bundle["nodes"][node]["ip_route"] if one["dst"] == dst and "table" not in one)


def link(bundle: dict[str, Any], node: str, name: str) -> dict[str, Any]:
    return next(one for one in bundle["nodes"][node]["ip_address"] if one["ifname"] == name)


def probe(bundle: dict[str, Any], what: str, sender: str = "", to: str = "", ok: bool = False, ms: Any = None) -> None:
    """Changes the outcome of probes: of all, or from or to one host."""
    for name, node in bundle["nodes"].items():
        for one in node["probes"]:
            if one["what"].startswith(what) and sender in ("", name) and to in ("", one["to"]):
                one.update(ok=ok, ms=ms)


def rules(bundle: dict[str, Any], node: str, old: str, new: str, table: str = "iptables") -> None:
    """Replaces a piece of the host's iptables-nft-save, which must be there; its nft listing was then not looked at."""
    text = bundle["nodes"][node][table]["nft"]
    assert old in text
    bundle["nodes"][node][table]["nft"] = text.replace(old, new)
    bundle["nodes"][node].pop("nft", None)


def nft_table(bundle: dict[str, Any], node: str, family: str, table: str, chain: dict[str, Any], *rules: Any) -> None:
    """Adds a table with one base chain, and expressions of its rules, to the host's nft listing."""
    listing = bundle["nodes"][node]["nft"]["nftables"]
    place = {"family": family, "table": table, "chain": chain["name"]}
    listing.append({"table": {"family": family, "name": table}})
    listing.append({"chain": {"family": family, "table": table, **chain}})
    listing += [{"rule": {**place, "handle": index, "expr": expr}} for index, expr in enumerate(rules, 10)]


def event(bundle: dict[str, Any], pod: str, message: str, namespace: str = "default", last: str = "") -> None:
    """A warning about a pod, twelve times, last seen just before the evidence was taken unless said."""
    about = {"kind": "Pod", "namespace": namespace, "name": pod}
    last = last or "2026-11-30T15:49:40Z"
    said = {"type": "Warning", "message": message, "involvedObject": about, "count": 12, "lastTimestamp": last}
    objects(bundle, "events").append({**said, "reason": "FailedCreatePodSandBox"})
