# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Merges what a user sets of kubeadm's documents over what the collection sets, and refuses contradictions of the plan.

An address that the plan owns has one place where it is set: a second one is the mismatch this collection exists to
prevent. The table below has each such field and the variable to set instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_NODE: dict[tuple[str, ...], str] = {
    ("nodeRegistration", "kubeletExtraArgs", "node-ip"): "cluster_node_ip",
    ("nodeRegistration", "kubeletExtraArgs", "pod-cidr"): "cluster_pod_cidr",
    ("nodeRegistration", "kubeletExtraArgs", "cluster-dns"): "cluster_dns",
    ("nodeRegistration", "kubeletExtraArgs", "cluster-domain"): "cluster_domain",
    ("nodeRegistration", "kubeletExtraArgs", "max-pods"): "cluster_max_pods",
}

OWNED: dict[str, dict[tuple[str, ...], str]] = {
    "ClusterConfiguration": {
        ("kubernetesVersion",): "cluster_kubernetes_version",
        ("controlPlaneEndpoint",): "cluster_control_plane_endpoint",
        ("networking", "podSubnet"): "cluster_pod_cidr",
        ("networking", "serviceSubnet"): "cluster_service_cidr",
        ("networking", "dnsDomain"): "cluster_domain",
        ("apiServer", "extraArgs", "service-cluster-ip-range"): "cluster_service_cidr",
        ("controllerManager", "extraArgs", "allocate-node-cidrs"): "cluster_pod_cidr",
        ("controllerManager", "extraArgs", "cluster-cidr"): "cluster_pod_cidr",
        ("controllerManager", "extraArgs", "service-cluster-ip-range"): "cluster_service_cidr",
        ("controllerManager", "extraArgs", "node-cidr-mask-size"): "cluster_node_mask",
        ("controllerManager", "extraArgs", "node-cidr-mask-size-ipv4"): "cluster_node_mask",
        ("controllerManager", "extraArgs", "node-cidr-mask-size-ipv6"): "cluster_node_mask_v6",
    },
    "InitConfiguration": {**_NODE, ("localAPIEndpoint", "advertiseAddress"): "cluster_node_ip"},
    "JoinConfiguration": {
        **_NODE,
        ("discovery",): "nothing: the collection makes a token for each run and pins the CA",
        ("controlPlane", "localAPIEndpoint", "advertiseAddress"): "cluster_node_ip",
    },
    "KubeletConfiguration": {
        ("clusterDNS",): "cluster_dns",
        ("clusterDomain",): "cluster_domain",
        ("podCIDR",): "cluster_pod_cidr",
        ("maxPods",): "cluster_max_pods",
    },
    "KubeProxyConfiguration": {
        ("clusterCIDR",): "cluster_pod_cidr",
        ("mode",): "cluster_kube_proxy_mode",
    },
}


class Refused(Exception):
    """A user's fields name what the plan owns; the message has a sentence per field."""


def named(value: Any) -> bool:
    """Whether *value* is a list of C({name, value}), which is how kubeadm v1beta4 writes arguments."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "name" in one for one in value)


def paths(value: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every path that *value* sets, arguments by their name."""
    for key, inner in value.items():
        path = (*above, str(key))
        yield path
        if isinstance(inner, dict):
            yield from paths(inner, path)
        elif named(inner):
            yield from ((*path, str(one["name"])) for one in inner)


def merge(base: Any, over: Any) -> Any:
    """*over* on top of *base*: mappings field by field, arguments by their name, anything else replaced."""
    if isinstance(base, dict) and isinstance(over, dict):
        merged = dict(base)
        for key, value in over.items():
            merged[key] = merge(base[key], value) if key in base else value
        return merged
    if named(base) and named(over):
        names = {one["name"] for one in over}
        return [one for one in base if one["name"] not in names] + list(over)
    return over


def override(base: dict[str, Any], over: dict[str, Any], variable: str) -> dict[str, Any]:
    """*base*, a document with its C(kind), with the fields of *over*, which stand in *variable*."""
    owned = OWNED.get(base.get("kind", ""), {})
    wrong = [path for path in paths(over) if path in owned]
    if wrong:
        reasons = [
            f"{variable} sets {'.'.join(path)}, which follows from the plan; set {owned[path]}" for path in wrong
        ]
        raise Refused("; ".join(reasons))
    for field in ("apiVersion", "kind"):
        if over.get(field, base.get(field)) != base.get(field):
            raise Refused(f"{variable} sets {field} to {over[field]!r}; it holds fields of {base.get('kind')} only")
    result = merge(base, over)
    return result if isinstance(result, dict) else base
