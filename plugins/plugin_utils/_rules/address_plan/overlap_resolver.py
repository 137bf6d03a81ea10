# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A resolver lies in the pod or service range.

## What it means
The host asks a name server whose address the cluster takes for pods or services. CoreDNS forwards to the same one.

## How it looks
Names outside of the cluster stop resolving, from pods first, from hosts when routes or rules exist; image pulls fail.

## What looks like it but is not
- A resolver that is cluster DNS itself, or 127.0.0.53: see `resolver-loop` for loops.
- The whole LAN in the range: see `overlap-host-network`, of which this is then a consequence.

## Mend
Choose ranges without the resolver before the cluster is built, or give hosts another resolver.

## Prevent
`preflight` compares the resolver file that the kubelet uses, on every host.

## Sources
- kubernetes documentation, "Customizing DNS Service": resolvConf
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._overlap import cluster_ranges

RULE = Rule(
    title="A resolver lies in the pod or service range",
    severity="error",
    needs=("nodes.resolv_conf",),
    remedy="Choose cluster_pod_cidr and cluster_service_cidr without the resolver, or give hosts another one.",
    explains=("service-path-broken",),
    rank=16,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    own = _cluster_dns(view)
    for name, ranges in cluster_ranges(view).items():
        for one in ranges:
            inside = [str(resolver) for resolver in node.resolvers if resolver in one and resolver not in own]
            if inside:
                yield Found(f"a resolver lies in the {name} range {one}", {"resolvers": inside, name: str(one)})


def _cluster_dns(view: View) -> set[object]:
    own: set[object] = set()
    for plan in ("plan", "running_plan"):
        try:
            own.update(getattr(view, plan).dns)
        except Missing:
            continue
    return own
