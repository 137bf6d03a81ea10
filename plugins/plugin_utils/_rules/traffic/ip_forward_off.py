# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host does not forward packets.

## What it means
`net.ipv4.ip_forward` (in dual stack also `net.ipv6.conf.all.forwarding`) is 0, or forwarding is off for cni0 or
flannel's link alone: no packet of a pod leaves the node.

## How it looks
Pods reach pods of the same node and nothing else; the node stays Ready, probes from the host itself succeed. Often
after `systemctl restart network`, `sysctl --system`, or a hardening role.

## What looks like it but is not
- IPv6 forwarding off in a cluster without IPv6.
- The value is right now and wrong in a file: see `sysctl-wrong`, `sysctl-not-persistent`.
- Per-link forwarding off on a NIC: a vxlan packet is not forwarded there, it is received.

## How it is told
Running values.

## Mend
`sysctl -w net.ipv4.ip_forward=1` mends at once; podnet.kubeadm.site also writes it where the next boot finds it,
and podnet.kubeadm.repair lets the role host do so. A single link that was turned off does not follow the host's switch
where that is on already: `sysctl -w net.ipv4.conf.cni0.forwarding=1`.

## Prevent
The role host sets and persists it.

## Sources
- kubernetes documentation, "Container Runtimes"; openshift/origin issue 9931; tried: nobody resets it
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..._evidence._host import Host
from ..._evidence._said import refused
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The host does not forward packets",
    severity="error",
    needs=("nodes.sysctl",),
    remedy="Run podnet.kubeadm.site: the role host sets net.ipv4.ip_forward now and for the next boot.",
    explains=("sysctl-wrong", "sysctl-not-persistent"),
    rank=25,
)

_REPAIR = "host:main"
_SAID = re.compile(r"ip_forward contents are not set to 1")


def check_node(node: Host, view: View) -> Iterator[Found]:
    if not node.has("sysctl") and (said := refused(node, _SAID)):
        yield Found("net.ipv4.ip_forward is not 1, says kubeadm", {"said": said}, repair=_REPAIR)
        return
    values = node.sysctl
    severity = None if view.stage == "cluster" else "warning"
    if values.get("net.ipv4.ip_forward") == "0":
        yield Found("net.ipv4.ip_forward is 0", {"net.ipv4.ip_forward": "0"}, severity=severity, repair=_REPAIR)
    elif view.stage == "cluster":
        off = sorted(
            key
            for key, value in values.items()
            if value == "0" and key.startswith(("net.ipv4.conf.cni0.", "net.ipv4.conf.flannel")) and "forwarding" in key
        )
        if off:
            remedy = (
                f"Run sysctl -w {' '.join(f'{key}=1' for key in off)} on the host, and look for what turned it off."
            )
            yield Found(f"{', '.join(off)} is 0", dict.fromkeys(off, "0"), remedy=remedy)
    key = "net.ipv6.conf.all.forwarding"
    if values.get(key) == "0" and 6 in _pod_versions(view):
        yield Found(f"{key} is 0 while pods have IPv6 addresses", {key: "0"}, severity=severity, repair=_REPAIR)


def _pod_versions(view: View) -> Iterable[int]:
    """The families of the nodes' pod ranges; before there are nodes, of those asked for."""
    return view.cluster.node_pod_versions if view.stage == "cluster" else {one.version for one in view.pod_networks}
