# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Network policies with nothing that enforces them.

## What it means
The API server accepts a NetworkPolicy whatever the network is. Flannel alone does not enforce any: what the policies
deny is open.

## How it looks
Nothing. Who tries finds that a denied connection works.

## What looks like it but is not
- Calico beside flannel (Canal), kube-router, Cilium, or flannel's own policy add-on (kube-network-policies): they
  enforce.
- No policies at all.

## How it is told
The list of policies against the images of all DaemonSets.

## Mend
Decide: add what enforces them (flannel's chart has `netpol.enabled`, which runs kube-network-policies beside it), or
delete policies that only look as if they protected something.

## Prevent
Ask for enforcement when policies are asked for.

## Sources
- flannel `Documentation/netpol.md`; tried: a policy that denies everything had no effect at all
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._policies import enforcers
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Network policies with nothing that enforces them",
    severity="warning",
    needs=("cluster.network_policies", "cluster.daemonsets"),
    remedy="Add what enforces them (flannel's netpol add-on, kube-network-policies), or delete the policies with "
    "kubectl delete networkpolicy.",
    rank=70,
)


def check_cluster(view: View) -> Iterator[Found]:
    policies = view.cluster.network_policies
    if not policies or enforcers(view.cluster.daemonsets):
        return
    names = sorted(f"{one.namespace}/{one.name}" for one in policies)
    summary = "network policies exist and nothing in the cluster enforces them"
    yield Found(summary, {"policies": names[:20], "number": len(names)})
