# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Another pod network really runs in the cluster, beside flannel.

## What it means
A DaemonSet of Calico, Cilium, Weave Net or another network is at work on the nodes. Two networks write routes, rules
and CNI files; which one a pod gets is a matter of file names.

## How it looks
Two files in /etc/cni/net.d that come back when they are moved away; links of both (cali*, cilium_host, weave) on the
nodes; pods of one network do not reach those of the other.

## What looks like it but is not
- Canal (Calico's policies over flannel in one DaemonSet), and policy engines that route nothing (kube-router with
  `--run-router=false`, kube-network-policies): they belong together. Where flannel's file is the one in use on every
  host, the other is told as a warning only.
- Only files, links or chains of a network that is gone: see `cni-foreign-config`, `reset-leftovers`.
- No flannel at all: see `flannel-absent`.

## Mend
Decide which one stays. Remove the other with its own tools, drain and reboot node by node. Never automatic.

## Prevent
One pod network in a cluster.

## Sources
- k0s issue 823; flannel issue 1224, pull request 978; tigera/docs issue 2768
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._kube import DaemonSet
from ..._evidence._other_cni import other_networks
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Another pod network is installed",
    severity="error",
    needs=("cluster.daemonsets",),
    remedy="Decide which network stays; remove the other one with its own tools, then drain and reboot node by node.",
    explains=("cni-foreign-config", "cni-plugin-missing", "reset-leftovers", "forward-rule-drop", "port-taken"),
    rank=15,
)


def collect(node: Host, view: View) -> bool:
    """Whether flannel's file is the one in use on the host."""
    files = [file for file in node.cni_files if not file.loopback_only]
    return bool(files) and files[0].is_flannel


def check_nodes(facts: dict[str, bool], view: View) -> Iterator[Found]:
    found = other_networks([one for one in view.cluster.daemonsets if not _routes_nothing(one) and _wanted(one)])
    if not found or not view.cluster.flannel_daemonsets:
        return
    names = ", ".join(sorted(set(found.values())))
    beside = bool(facts) and all(facts.values())
    compared = {
        "daemonsets": sorted(found),
        "hosts that use flannel's file": [host for host, own in facts.items() if own],
    }
    if beside:
        yield Found(f"{names} runs beside flannel, whose configuration is in use", compared, severity="warning")
    else:
        yield Found(f"{names} runs beside flannel", compared)


def _routes_nothing(daemonset: DaemonSet) -> bool:
    words = [word for one in daemonset.containers for word in one.texts("args") + one.texts("command")]
    return "--run-router=false" in words


def _wanted(daemonset: DaemonSet) -> bool:
    """Whether it is meant to run anywhere."""
    return daemonset.get("status", "desiredNumberScheduled") != 0
