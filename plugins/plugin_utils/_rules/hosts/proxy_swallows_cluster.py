# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An HTTP proxy is set, and the cluster's own addresses are not excepted.

## What it means
kubeadm copies the proxy variables of the shell it runs in into the static pods; the kubelet and the runtime have them
from their units. Without NO_PROXY for the service range, the pod range and the nodes, calls to the API server and to
webhooks go to the proxy.

## How it looks
`kubeadm init` warns `Connection to "https://10.0.0.11" uses proxy`; the API server's calls to webhooks, aggregated
APIs and kubelets time out or end in 403 and 503 of the proxy; `kubectl logs` and `exec` fail.

## What looks like it but is not
- A proxy for image pulls in the runtime's unit alone: that is what it is for.
- NO_PROXY that has the ranges, as CIDRs or `*`.
- A proxy in one person's shell on a cluster that is built: it got into nothing.

## Mend
Set no_proxy to the service range, the pod range, the nodes' addresses, .svc and the cluster's domain; then `kubeadm
init phase control-plane all` writes the static pods anew. The collection does this from the address plan.

## Prevent
The role control_plane runs kubeadm without proxy variables.

## Sources
- kubernetes/kubeadm issues 324, 2770; kubernetes `cmd/kubeadm/app/util/env.go`, GetProxyEnvVars
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._evidence._host import Host
from ..._evidence._item import Item
from ..._evidence._net import address, contains, network
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import joined

RULE = Rule(
    title="A proxy takes the cluster's own traffic",
    severity="error",
    needs=("nodes.proxy_env",),
    remedy=(
        "Set no_proxy to the service range, the pod range and the nodes' addresses, then run kubeadm init phase "
        "control-plane all."
    ),
    explains=("service-path-broken",),
    rank=30,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    env = node.proxy_env
    member = view.stage == "cluster" or joined(node, view)
    warned = "uses proxy" in (node.kubeadm_output if node.has("kubeadm_output") else "")
    for who in ("kubelet", "shell") if warned or not member else ("kubelet",):
        said = _lower(env.get(who, {}))
        missed = _missed(said, _own_ranges(view, node))
        if missed:
            compared = {"proxy": sorted(key for key in said if key != "no_proxy"), "not excepted": missed}
            soft = None if "https_proxy" in said and member and who == "kubelet" else "warning"
            yield Found(f"the {who}'s proxy is not kept from {', '.join(missed)}", compared, severity=soft)


def check_cluster(view: View) -> Iterator[Found]:
    """Static pods with a proxy, by their mirror pods, else by their files."""
    found: dict[str, dict[str, Any]] = {}
    for where, name, containers in _static_pods(view):
        for one in containers:
            said = _lower({each.text("name"): each.text("value") for each in one.items("env") if each.has("value")})
            missed = _missed(said, _own_ranges(view, None))
            if missed:
                known = found.setdefault(where, {"pods": [], "not excepted": missed, "https": False})
                known["https"] = known["https"] or "https_proxy" in said or "all_proxy" in said
                if name not in known["pods"]:
                    known["pods"].append(name)
    for where, compared in found.items():
        pods = ", ".join(sorted(compared["pods"]))
        soft = None if compared["https"] else "warning"
        summary = f"static pods have a proxy that is not kept from {', '.join(compared['not excepted'])}"
        yield Found(summary, {"pods": pods, "not excepted": compared["not excepted"]}, where=where, severity=soft)


def _static_pods(view: View) -> Iterator[tuple[str, str, list[Item]]]:
    try:
        for host, files in view.cluster.manifests.items():
            for name, pod in files.items():
                yield view.place(host), name.removesuffix(".yaml"), pod.items("spec", "containers")
    except Missing:
        for one in view.cluster.pods:
            if one.labels.get("tier") == "control-plane":
                yield view.place(one.node_name), one.labels.get("component", one.name), one.items("spec", "containers")


def _lower(env: dict[str, str]) -> dict[str, str]:
    names = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
    return {key.lower(): value for key, value in env.items() if key.lower() in names and value}


def _own_ranges(view: View, node: Host | None) -> dict[str, str]:
    """What must not go to the proxy: the service range, the pod range, the nodes."""
    found: dict[str, str] = {}
    for name in ("service", "pod"):
        try:
            ranges = getattr(view, f"{name}_networks")
        except Missing:
            continue
        if ranges:
            found[f"the {name} range"] = str(ranges[0])
    own = node.inventory_address if node is not None and node.has("inventory_address") else ""
    if address(own):
        found["the nodes"] = own
    elif node is None:
        try:
            first = next((one for each in view.cluster.nodes for one in each.internal_addresses), None)
        except Missing:
            first = None
        if first is not None:
            found["the nodes"] = str(first)
    return found


def _missed(env: dict[str, str], ranges: dict[str, str]) -> list[str]:
    if not any(key in env for key in ("http_proxy", "https_proxy", "all_proxy")):
        return []
    excepted = [entry.strip() for entry in env.get("no_proxy", "").split(",") if entry.strip()]
    return [name for name, value in ranges.items() if not any(_covers(entry, value) for entry in excepted)]


def _covers(entry: str, value: str) -> bool:
    """Whether an entry of NO_PROXY keeps an address, or a whole range, from the proxy (x/net/http/httpproxy)."""
    if entry in ("*", value):
        return True
    outer, inner = network(entry), network(value if "/" in value else f"{value}/{128 if ':' in value else 32}")
    return outer is not None and inner is not None and contains(outer, inner)
