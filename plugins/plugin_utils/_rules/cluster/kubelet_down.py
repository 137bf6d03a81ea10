# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kubelet of a member does not run.

## What it means
The node is a member of the cluster and its kubelet is stopped, fails, or starts again and again. Running pods and their
network go on; nothing new starts, and after 40 seconds the node is NotReady.

## How it looks
`Kubelet stopped posting node status.`, port 10250 refuses connections, pods stay listed as Running.

## What looks like it but is not
- A host that has not joined: its kubelet restarts until `kubeadm join` writes its configuration.
- Node Ready although the kubelet is stopped: the API server takes 40 seconds to notice.
- Known reasons (swap, cgroup, an expired certificate, a wrong flag) have codes of their own that explain this one.

## How it is told
The unit's state on hosts that have /etc/kubernetes/kubelet.conf; without evidence of the host, the Node's Ready
condition. A kubelet that runs but is not enabled does not come back after a reboot: a warning.

## Mend
`journalctl -u kubelet -n 50` says why; then `systemctl enable --now kubelet`.

## Prevent
podnet.kubeadm.preflight finds what stops a kubelet before it does.

## Sources
- kubeadm issue 1026, kubespray issue 5689; tried: NotReady after 41 to 46 s
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The kubelet of a member does not run",
    severity="error",
    needs=("nodes.units", "nodes.kubernetes_files", "cluster.nodes"),
    remedy="Run journalctl -u kubelet -n 50 on the host; systemctl enable --now kubelet once its reason is mended.",
    repair="kubernetes_packages:kubelet",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing", "service-path-broken"),
    rank=70,
)

SILENT = {
    "NodeStatusUnknown": "the kubelet stopped posting node status",
    "NodeStatusNeverUpdated": "the kubelet never posted node status",
}


def check_node(node: Host, view: View) -> Iterator[Found]:
    unit = node.unit("kubelet")
    if not unit or not _member(node, view):
        return
    state = unit.text("active")
    if state in ("inactive", "failed", "activating", "deactivating"):
        said = node.journal.get("kubelet", "") if node.has("journal") else ""
        last = said.strip().splitlines()[-1:]
        words = {"inactive": "is stopped", "failed": "failed"}.get(state, "starts again and again")
        yield Found(f"the kubelet {words}", {"unit": state, "last line of its journal": "".join(last)[:500]})
    elif state == "active" and unit.text("enabled") == "disabled":
        yield Found(
            "the kubelet is not enabled, so it will not run after the next boot",
            {"unit": "active, disabled"},
            severity="warning",
            remedy="Run systemctl enable kubelet.",
        )


def check_cluster(view: View) -> Iterator[Found]:
    """Nodes of which there is no evidence from the host."""
    known = {view.place(node.name): node for node in view.cluster.nodes}
    silent: dict[str, list[str]] = {}
    for name, node in known.items():
        reason = node.condition("Ready").text("reason")
        if name not in view.nodes and reason in SILENT:
            silent.setdefault(reason, []).append(name)
    for reason, names in silent.items():
        yield Found(SILENT[reason], {"reason": reason}, where=tuple(names))


def _member(node: Host, view: View) -> bool:
    if node.has("kubernetes_files"):
        return "/etc/kubernetes/kubelet.conf" in node.kubernetes_files
    try:
        return view.kube_node(node) is not None
    except Missing:
        return False
