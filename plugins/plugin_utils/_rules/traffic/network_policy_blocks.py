# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A network policy keeps pods from DNS.

## What it means
A policy that denies all egress (or, in kube-system, all ingress to CoreDNS) and no other that lets port 53 through:
pods have addresses, and no name resolves.

## How it looks
`i/o timeout` for every name, all else works. Often right after policies began to be enforced.

## What looks like it but is not
- Nothing enforces policies: see `network-policy-unenforced`.
- A namespace that is isolated on purpose, whose pods ask no names: an info, it cannot be told from the outside.
- Another policy of the namespace that lets DNS through: policies add up.

## How it is told
Policies of each namespace that isolate its pods in the direction of DNS, where one of them lets port 53 through
nothing is reported; the probe of DNS says whether it hurts.

## Mend
Add an egress rule to kube-system for UDP and TCP port 53. Do not delete the policies.

## Prevent
Let the first policy of a namespace be the one that allows DNS.

## Sources
- flannel issue 1293; kubernetes documentation, "Network Policies"
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._kube import Object
from ..._evidence._policies import applies, enforcers, lets_dns
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A network policy keeps pods from DNS",
    severity="error",
    needs=("cluster.network_policies", "cluster.daemonsets", "cluster.pods"),
    remedy="Add an egress rule for UDP and TCP port 53 to the namespace with kubectl apply; delete no policy.",
    rank=50,
)


def check_cluster(view: View) -> Iterator[Found]:
    policies = view.cluster.network_policies
    enforced = enforcers(view.cluster.daemonsets) if policies else {}
    if not enforced:
        return
    by_namespace: dict[str, list[Object]] = {}
    for policy in policies:
        by_namespace.setdefault(policy.namespace, []).append(policy)
    for namespace, own in by_namespace.items():
        denied: dict[tuple[str, ...], list[str]] = {}
        for pod in view.cluster.pods:
            if pod.namespace != namespace or pod.host_network:
                continue
            dns = pod.labels.get("k8s-app") == "kube-dns"
            direction = "Ingress" if dns else "Egress"
            isolating = [one for one in own if applies(one, direction, pod.labels)]
            if isolating and not any(lets_dns(one, direction) for one in isolating):
                denied.setdefault((direction, *(one.name for one in isolating)), []).append(pod.name)
        for (direction, *names), pods in denied.items():
            compared = {"policies": names, "pods": pods[:20], "enforced by": sorted(enforced.values())}
            if direction == "Ingress":
                yield Found(f"{', '.join(names)} in {namespace} lets nobody ask CoreDNS", compared)
            else:
                summary = f"{', '.join(names)} in {namespace} lets no DNS out"
                yield Found(summary, compared, severity="info")
