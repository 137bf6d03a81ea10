# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server's service address cannot be reached.

## What it means
Pods, flannel among them, reach the API server under the first address of the service range (10.96.0.1). kube-proxy's
rules on every node make that work. Where kube-proxy does not run on a node, or the address is routed elsewhere,
flannel does not start there. Where somebody flushed them, kube-proxy does not notice for long.

## How it looks
`error retrieving pod spec ... dial tcp 10.96.0.1:443: i/o timeout` in flannel's log; kube-proxy in CrashLoopBackOff.

## What looks like it but is not
- An answer of the API server that refuses (`forbidden`, 401): it was reached; see `flannel-rbac`.
- A gateway, a proxy or the API server of another cluster that answers in its place (`x509: certificate is valid for
  ...`, `x509: certificate signed by unknown authority`, `EOF`), or a path on
  which only small packets pass (`TLS handshake timeout`, see `mtu-mismatch`): a warning where only flannel's log tells.
- A cluster without kube-proxy on purpose (another component serves services): nothing is told from its absence.
- Causes with codes of their own (netfilter, modules, interfaces, overlapping ranges) explain this one.

## How it is told
The probe from the node to the service address; the log of a flannel that is not ready; the state of kube-proxy's pod;
the way into kube-proxy's rules (in mode iptables the jump to KUBE-SERVICES, in mode nftables its table) on a node where
it is ready.

## Mend
Look at kube-proxy on that node first (`kubectl -n kube-system logs`), then at the route: `ip route get 10.96.0.1`. Do
not flush rules. Where its rules are gone, delete its pod on that node.

## Prevent
podnet.kubeadm.verify asks for the service address from every node.

## Sources
- flannel issues 743, 1409, 1682; kubeadm issue 1817; tried: after `iptables -t nat -F` no rule was back after 90 s
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import proxy_mode
from ..._evidence._host import Host
from ..._evidence._kube import KubeNode, Pod
from ..._evidence._said import told
from ..._finding import CLUSTER, Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The API server's service address cannot be reached",
    severity="error",
    needs=("nodes.probes", "nodes.iptables", "cluster.pods"),
    remedy="Look at kube-proxy on that node (kubectl -n kube-system logs -l k8s-app=kube-proxy), then at "
    "ip route get of the address.",
    repair="control_plane:kube_proxy_restart",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing"),
    rank=75,
)

UNREACHED = re.compile(
    r"(?:dial tcp |https://)\[?(?P<address>[0-9a-fA-F.:]+?)\]?:443"
    r"(?:: i/o timeout|: connect: [a-z ]+|[^\n]{0,300}?(?:context deadline exceeded|Client\.Timeout exceeded))"
    r"|timeout contacting kube-api, failed to patch node"
)
CUT_SHORT = re.compile(
    r"(?:dial tcp |https://)\[?(?P<address>[0-9a-fA-F.:]+?)\]?:443[^\n]{0,300}?(?:TLS handshake timeout|: EOF\b"
    r"|x509: certificate (?:is valid for|signed by unknown authority)|connection reset by peer|Service Unavailable"
    r"|Bad Gateway|Gateway Timeout)"
)
"""Something answers, and it is not the API server of this cluster, or only small packets pass."""
WORDS, HALF = "flannel's log", "flannel's log, cut short"
ENTERED = re.compile(r"^(?:\[\d+:\d+\] )?-A PREROUTING\b.*-j KUBE-SERVICES\b", re.MULTILINE)
CRASHED = ("CrashLoopBackOff", "CreateContainerError", "RunContainerError", "Error")


def check_node(node: Host, view: View) -> Iterator[Found]:
    signs: dict[str, str] = {}
    probes = node.probe("tcp/service") if node.has("probes") else []
    if any(one.flag("ok") is False for one in probes):
        signs["probe tcp/service"] = "failed"
    try:
        own = view.kube_node(node)
        signs |= {**_from_pods(view, own), **_from_rules(node, view, own)} if own else {}
    except Missing:
        if not node.has("probes"):
            raise
    if HALF not in signs and any(one.flag("ok") is True for one in probes):
        return  # it answers now, whatever a log says
    if signs:
        yield _found(signs)


def check_cluster(view: View) -> Iterator[Found]:
    """Nodes of which there is no evidence from the host."""
    if not view.cluster.has("pods"):
        for place, said in told(view, UNREACHED).items():
            if "error retrieving pod spec" in said.string or "kube-flannel" in said.string:
                yield _found({WORDS: said[0]}, place)
        return
    for own in view.cluster.nodes:
        if view.place(own.name) not in view.nodes and (signs := _from_pods(view, own)):
            yield _found(signs, view.place(own.name))


def _found(signs: dict[str, str], where: str | None = None) -> Found:
    if set(signs) == {HALF}:
        summary = "the API server's service address is answered from this node by half, or by something else"
        return Found(summary, signs, where, severity="warning")
    whose = "some node, which only a log tells of" if where == CLUSTER else "this node"
    return Found(f"the API server's service address is not reached from {whose}", signs, where)


def _from_pods(view: View, own: KubeNode) -> dict[str, str]:
    """Signs in the pods of a node: flannel's words, and a kube-proxy that crashes."""
    signs: dict[str, str] = {}
    services = {str(one[1]) for one in view.service_networks if one.num_addresses > 1}
    for pod in view.cluster.flannel_pods_by_node.get(own.name, []):
        log = "" if pod.ready else view.cluster.pod_log(pod)
        for sign, words in ((WORDS, UNREACHED), (HALF, CUT_SHORT)):
            match = None if signs else words.search(log)
            if match and (match["address"] in {*services, None} or not services):
                signs[sign] = match[0]
    for pod in view.cluster.pods_by_node.get(own.name, []):
        if _kube_proxy(pod) and not pod.ready and set(pod.waiting) & {*CRASHED}:
            lines = view.cluster.pod_log(pod).strip().splitlines()
            signs["kube-proxy"] = ", ".join(pod.waiting)
            signs["kube-proxy's log"] = lines[-1][:300] if lines else ""
    return signs


def _from_rules(node: Host, view: View, own: KubeNode) -> dict[str, str]:
    """Signs in the host's rules, where a ready kube-proxy should have written some."""
    if not any(_kube_proxy(pod) and pod.ready for pod in view.cluster.pods_by_node.get(own.name, [])):
        return {}
    mode = proxy_mode(view)
    if mode == "nftables" and node.has("nft"):
        names = {one.text("table", "name") for one in node.nft.items("nftables")}
        return {} if names & {"kube-proxy"} else {"nft table kube-proxy": "is gone although kube-proxy runs"}
    if mode == "iptables" and node.has("iptables"):
        texts = [node.iptables.text(backend) for backend in ("nft", "legacy") if node.iptables.has(backend)]
        if texts and not any(ENTERED.search(text) for text in texts):
            return {"nat PREROUTING": "has no jump to KUBE-SERVICES although kube-proxy runs"}
    return {}


def _kube_proxy(pod: Pod) -> bool:
    return pod.labels.get("k8s-app") == "kube-proxy"
