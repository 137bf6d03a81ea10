# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""CoreDNS is told to ask itself.

## What it means
The kubelet gives CoreDNS the host's resolver file. Where that names a stub on the loopback (127.0.0.53 of
systemd-resolved, dnsmasq), the loopback is the pod's own: CoreDNS forwards queries to itself.

## How it looks
CoreDNS is in CrashLoopBackOff: `[FATAL] plugin/loop: Loop (127.0.0.1:34536 -> :53) detected for zone "."`.

## What looks like it but is not
- /etc/resolv.conf with the stub on a host whose kubelet has `resolvConf: /run/systemd/resolve/resolv.conf`: that file
  counts, and kubeadm sets it where systemd-resolved is active.
- A stub while CoreDNS is ready: its Corefile forwards elsewhere. A warning, for other pods with dnsPolicy Default
  have it too.
- CoreDNS that restarts for another reason: see its log.

## Mend
`resolvConf: /run/systemd/resolve/resolv.conf` in the kubelet's configuration (`cluster_kubelet_config`), restart the
kubelet, re-create CoreDNS's pods.

## Prevent
Let kubeadm write the kubelet's configuration on hosts with systemd-resolved.

## Sources
- coredns/coredns `plugin/loop/README.md`; kubernetes documentation, "Debugging DNS resolution"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="CoreDNS's resolver is itself",
    severity="error",
    needs=("nodes.resolv_conf",),
    remedy="Set resolvConf to /run/systemd/resolve/resolv.conf in cluster_kubelet_config and re-create CoreDNS's pods.",
    explains=("service-path-broken",),
    rank=25,
)

_ELSEWHERE = (
    "Look at forward in ConfigMap kube-system/coredns, and whether the resolver that it names asks the cluster's DNS "
    "again."
)
_LOOP = re.compile(r"plugin/loop: Loop \(|Loop \([^)]*\) detected", re.IGNORECASE)


def check_node(node: Host, view: View) -> Iterator[Found]:
    stubs = [str(one) for one in node.resolvers if one.is_loopback]
    others = [str(one) for one in node.resolvers if not one.is_loopback]
    if not stubs or _kubeadm_avoids(node, view):
        return
    compared = {"resolvers": stubs + others}
    looping = _looping(view)
    soft = None if looping else "warning"
    if view.stage == "cluster" and others and not looping:
        return  # the first that answers is used, and CoreDNS is fine with it
    yield Found(f"the resolver file that pods get names {', '.join(stubs)}", compared, severity=soft)


def collect(node: Host, view: View) -> bool | None:
    """Whether the host's file leads to itself."""
    return any(one.is_loopback for one in node.resolvers) and not _kubeadm_avoids(node, view)


def check_nodes(facts: Mapping[str, bool], view: View) -> Iterator[Found]:
    """The loop that CoreDNS tells of, where no host's file is it: the Corefile, or the resolver forwards back."""
    if view.stage == "cluster" and not any(facts.values()) and _looping(view):
        yield Found("CoreDNS found a loop in its forwarding", {"hosts with a stub resolver": []}, remedy=_ELSEWHERE)


def check_cluster(view: View) -> Iterator[Found]:
    if not len(view.nodes) and _looping(view):
        yield Found("CoreDNS found a loop in its forwarding", {})


def _kubeadm_avoids(node: Host, view: View) -> bool:
    """Before the cluster: kubeadm gives the kubelet the real file where systemd-resolved is active."""
    if view.stage == "cluster" or node.has("kubelet_config"):
        return False
    try:
        return node.unit_active("systemd-resolved")
    except Missing:
        return False


def _looping(view: View) -> bool:
    try:
        logs = view.cluster.logs
    except Missing:
        return False
    return any(_LOOP.search(text) for name, text in logs.items() if "coredns" in name)
