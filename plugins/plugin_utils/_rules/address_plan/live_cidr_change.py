# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod range was changed under a running cluster, or the inventory asks for another one.

## What it means
A node keeps its pod range for life. Another range or mask in the controller manager's flags does not move it: the
controller manager meets nodes outside of its range and stops. Another family (single to dual stack) reaches new
nodes only.

## How it looks
`failed to mark cidr[10.244.2.0/24] at idx [0] as occupied for node: cidr is out the range of cluster cidr`, the
controller manager restarts; flannel says `missing IPv6 address on n.Spec.PodCIDRs`. Where only the inventory
changed: nothing yet.

## What looks like it but is not
- A pod range widened so that it contains the old one is fine for running nodes.
- Parts of the configuration that disagree while nodes fit one of them: see `pod-cidr-lost`.

## Mend
Put the old range back everywhere. To really change it: a wider range that contains the old one, or node by node:
drain, delete the Node object, clean its CNI state, join again, with all workloads moved.

## Prevent
Plan for growth: `cluster_planned_nodes`. The playbook `site` stops before anything is touched where ranges differ.

## Sources
- kubernetes issues 50305, 75461, 71794
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._net import Network, contains, covered, overlapping
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The pod range of a running cluster was changed",
    severity="error",
    needs=("cluster.nodes", "cluster.kubeadm_config"),
    remedy="Put the range that the nodes have back into cluster_pod_cidr, kubeadm-config and the controller managers; "
    "a change means joining every node again.",
    explains=(
        "flannel-network-mismatch",
        "flannel-ipv6-mismatch",
        "family-mismatch",
        "controller-manager-down",
        "kube-proxy-cluster-cidr",
        "node-cidr-unassigned",
        "pod-cidr-lost",
    ),
    rank=8,
)


def check_cluster(view: View) -> Iterator[Found]:
    assigned = {node.name: node.pod_networks for node in view.cluster.nodes if node.pod_networks}
    yield from _nodes_against_cluster(view, assigned)
    if view.has_intent and view.intent.pod_texts:
        yield from _intent_against_cluster(view, assigned)


def _nodes_against_cluster(view: View, assigned: dict[str, list[Network]]) -> Iterator[Found]:
    ranges = view.cluster.allocated_networks() or view.cluster.pod_networks()
    if not ranges:
        return
    outside = {
        name: ", ".join(map(str, has)) for name, has in assigned.items() if not all(covered(one, ranges) for one in has)
    }
    said = [str(one) for one in ranges]
    if outside:
        compared = {"cluster's range": said, "nodes outside": _few(outside), "nodes outside in all": len(outside)}
        yield Found(f"nodes have ranges outside of the cluster's pod range {', '.join(said)}", compared)
    families = {one.version for one in ranges}
    windows = {one.name for one in view.cluster.nodes if one.text("status", "nodeInfo", "operatingSystem") == "windows"}
    lacking = [
        name for name, has in assigned.items() if name not in windows and {one.version for one in has} != families
    ]
    if lacking and not outside:
        compared = {"cluster's range": said, "nodes that lack a family": lacking[:5], "in all": len(lacking)}
        yield Found("nodes do not have a range of every family of the cluster", compared)
    plan = view.running_plan
    other = {
        name: ", ".join(map(str, has))
        for name, has in assigned.items()
        if any(one.prefixlen != plan.node_mask[one.version] and one not in ranges for one in has)
    }
    other = {name: text for name, text in other.items() if name not in _overlapping(assigned)} if other else {}
    if other and not outside:
        masks = {f"IPv{version}": plan.node_mask[version] for version in plan.versions}
        compared = {"node mask": masks, "nodes of another size": _few(other), "in all": len(other)}
        yield Found("nodes have ranges of another size than the controller manager's node mask", compared)


def _intent_against_cluster(view: View, assigned: dict[str, list[Network]]) -> Iterator[Found]:
    asked = set(view.intent.pod_networks())
    has = set(view.cluster.allocated_networks() or view.cluster.pod_networks())
    compared = {"inventory": sorted(map(str, asked)), "running cluster": sorted(map(str, has))}
    if has and asked != has:
        wider = all(any(contains(wide, one) for wide in asked) for one in has) and len(asked) == len(has)
        text = "the inventory asks for another pod range than the running cluster has"
        yield Found(text, {**compared, "contains the old range": wider}, where=("intent", "cluster"))
    if view.intent.service_texts:
        asked, has = set(view.intent.service_networks()), set(view.cluster.service_networks())
        if has and asked != has:
            compared = {"inventory": sorted(map(str, asked)), "running cluster": sorted(map(str, has))}
            text = "the inventory asks for another service range than the running cluster has"
            yield Found(text, compared, where=("intent", "cluster"))
    for version, key in ((4, "node_mask"), (6, "node_mask_v6")):
        sizes = {one.prefixlen for networks in assigned.values() for one in networks if one.version == version}
        if sizes and view.intent.has(key) and sizes != {getattr(view.intent, key)}:
            compared_mask = {"inventory": getattr(view.intent, key), "running nodes": sorted(sizes)}
            text = f"the inventory asks for another {key} than the running nodes have"
            yield Found(text, compared_mask, where=("intent", "cluster"))


def _overlapping(assigned: dict[str, list[Network]]) -> set[str]:
    """Nodes whose range meets another's: somebody wrote it there, which `node-cidr-duplicate` tells."""
    entries = [(name, one) for name, has in assigned.items() for one in has]
    pairs = ((first[0], second[0]) for first, second in overlapping(entries))
    return {name for pair in pairs for name in pair if pair[0] != pair[1]}


def _few(named: dict[str, str]) -> dict[str, str]:
    return dict(list(named.items())[:5])
