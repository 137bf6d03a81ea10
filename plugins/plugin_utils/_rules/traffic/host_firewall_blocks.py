# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host's firewall keeps others from the API server or the kubelet.

## What it means
A rule on INPUT drops or rejects TCP 6443 on a control plane, or 10250 on any node, that comes from other nodes or
from pods.

## How it looks
Nodes do not join or go NotReady; `kubectl logs` and `exec` hang for pods of one node; metrics are missing; pods on a
control plane do not reach the API server.

## What looks like it but is not
- Ports closed to the outside and open between nodes: only other nodes and pods are tried.
- The backend's port: see `vxlan-port-blocked`. Forwarded traffic: see `forward-rule-drop`.
- Nothing listens on the port: see `kubelet-down`.

## How it is told
Packets from other nodes and from a pod of the host walked through its INPUT path; the probe from a pod to its own
kubelet.

## Mend
Open 6443 and 10250 between nodes and from the pod range: podnet.kubeadm.repair.

## Prevent
`firewall_mode: asserted` stops site where these ports are closed; `permitted` adds the accepts that are missing.

## Sources
- kubernetes documentation, "Ports and Protocols"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....module_utils._netfilter import INPUT, Place, walk
from ..._evidence._forwarding import POLICY_ENGINES, arriving, ruleset
from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A host's firewall keeps others from the API server or the kubelet",
    severity="error",
    needs=("nodes.iptables", "nodes.nft"),
    remedy="Run podnet.kubeadm.repair: it opens 6443 and 10250 between nodes and from the pod range.",
    repair="firewall:permitted",
    explains=("service-path-broken",),
    rank=45,
)

API, KUBELET = 6443, 10250


def check_node(node: Host, view: View) -> Iterator[Found]:
    ports = [KUBELET, API] if node.has("roles") and "control_plane" in node.roles else [KUBELET]
    closed: dict[str, dict[str, Any]] = {}
    for port in ports:
        for source, verdict in arriving(node, view, "tcp", port):
            if verdict.verdict == "drop" and verdict.by:
                closed.setdefault(f"{port} from other nodes", {"from": source, **_shown(verdict.by)})
        by = _from_pod(node, view, port)
        if by:
            closed[f"{port} from pods"] = _shown(by)
    if closed:
        severity = None if view.stage == "cluster" else "warning"
        yield Found(f"the host's own rules drop TCP {', '.join(closed)}", closed, severity=severity)


def _from_pod(node: Host, view: View, port: int) -> Place | None:
    """The rule that drops what a pod of the host sends to the port of its own node."""
    try:
        own = view.kube_node(node)
    except Missing:
        return None
    pods = [one for one in own.pod_networks if one.version == 4] if own else []
    addresses = [str(one) for one in own.internal_addresses if one.version == 4] if own else []
    if not pods or not addresses or node.link("cni0") is None:
        return None
    packet = {"in": "cni0", "source": str(pods[0][5]), "destination": addresses[0], "protocol": "tcp"}
    verdict = walk(ruleset(node), {**packet, "destination_port": port}, INPUT)
    by = verdict.by if verdict.verdict == "drop" else None
    return None if by is None or by.owner in POLICY_ENGINES else by


def _shown(by: Place) -> dict[str, Any]:
    return {"rule": by.rule, "chain": by.chain, "table": by.table, "owner": by.owner}
