# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bridged packets of pods are not seen by netfilter.

## What it means
`net.bridge.bridge-nf-call-iptables` is 0. A pod that asks a service whose backend is on its own node gets the answer
over the bridge, not through the address translation, and throws it away.

## How it looks
DNS works on some nodes only: not where CoreDNS itself runs. All else is well.

## What looks like it but is not
- The key does not exist because the module is not loaded: see `module-missing`.
- 0 for IPv6 in a cluster without IPv6.
- The bridge's own `nf_call_iptables 0` (`ip -d link`): the key above counts for all bridges.

## How it is told
Running values.

## Mend
`sysctl -w net.bridge.bridge-nf-call-iptables=1`; podnet.kubeadm.site also persists it.

## Prevent
The role host sets it and loads br_netfilter at boot.

## Sources
- kubernetes documentation, "Container Runtimes"; flannel issues 2068, 2166; tried: only DNS from the backend's node
  failed
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Bridged packets of pods are not seen by netfilter",
    severity="error",
    needs=("nodes.sysctl",),
    remedy="Run podnet.kubeadm.site: the role host sets net.bridge.bridge-nf-call-iptables now and for the next boot.",
    repair="host:main",
    explains=("sysctl-wrong", "sysctl-not-persistent"),
    rank=30,
)

KEYS = {4: "net.bridge.bridge-nf-call-iptables", 6: "net.bridge.bridge-nf-call-ip6tables"}


def check_node(node: Host, view: View) -> Iterator[Found]:
    known = view.cluster.node_pod_versions if view.stage == "cluster" else {one.version for one in view.pod_networks}
    versions = {4, *known}
    off = [KEYS[version] for version in sorted(versions) if node.sysctl.get(KEYS[version]) == "0"]
    if off:
        severity = None if view.stage == "cluster" else "warning"
        yield Found(f"{' and '.join(off)} is 0", dict.fromkeys(off, "0"), severity=severity)
