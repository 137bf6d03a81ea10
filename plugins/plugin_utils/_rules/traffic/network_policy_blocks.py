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
- A namespace that is isolated on purpose, whose pods ask no names: a warning as long as the probe of DNS does not fail.
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

from ..._evidence._host import Host
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
    explains=("checksum-offload",),
    rank=50,
)


def collect(node: Host, view: View) -> bool | None:
    """Whether DNS fails for pods of the host; None where nobody tried."""
    if not node.has("probes"):
        return None
    tried = [one.flag("ok") for one in node.probe("udp/dns")]
    return any(ok is False for ok in tried) if tried else None


def check_nodes(facts: dict[str, bool], view: View) -> Iterator[Found]:
    policies = view.cluster.network_policies
    enforced = sorted(set(enforcers(view.cluster.daemonsets).values())) if policies else []
    if not enforced:
        return
    by_namespace: dict[str, list[Object]] = {}
    for policy in policies:
        by_namespace.setdefault(policy.namespace, []).append(policy)
    asked, asking = _denied(view, by_namespace)
    if asked:
        yield Found(f"nobody may ask CoreDNS: {', '.join(asked)}", {"policies": asked, "enforced by": enforced})
    elif asking:
        names = ", ".join(list(asking)[:5])
        severity = None if any(facts.values()) else "warning"
        yield Found(f"pods may not ask CoreDNS: {names}", {"pods": asking, "enforced by": enforced}, severity=severity)


def _denied(view: View, by_namespace: dict[str, list[Object]]) -> tuple[list[str], dict[str, list[str]]]:
    """Policies that keep everybody from CoreDNS, and policies that keep their pods from it, with some of these pods."""
    asked: set[str] = set()
    asking: dict[str, list[str]] = {}
    for pod in view.cluster.pods:
        own = by_namespace.get(pod.namespace, [])
        if not own or pod.host_network:
            continue
        dns = pod.labels.get("k8s-app") == "kube-dns"
        direction = "Ingress" if dns else "Egress"
        isolating = [one for one in own if applies(one, direction, pod.labels)]
        if isolating and not any(lets_dns(one, direction) for one in isolating):
            names = [f"{one.namespace}/{one.name}" for one in isolating]
            if dns:
                asked |= set(names)
            else:
                asking.setdefault(", ".join(names), []).append(pod.name)
    return sorted(asked), {names: pods[:10] for names, pods in list(asking.items())[:20]}
