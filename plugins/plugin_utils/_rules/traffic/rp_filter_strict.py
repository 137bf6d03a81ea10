# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Strict reverse-path filtering drops pod traffic.

## What it means
With `rp_filter` 1 the kernel drops a packet whose answer would leave by another link. The value in force is the
larger of `all` and the link's own. On flannel's link that hits what arrives with an address that is routed otherwise:
node ports, host-network pods, a host with two NICs.

## How it looks
Some connections time out although every rule accepts them; with `log_martians` the kernel says `martian source`.

## What looks like it but is not
- 2 (loose) and 0.
- 1 with routes that are symmetric, the default of several distributions: an info as long as nothing fails.

## How it is told
The larger of `net.ipv4.conf.all.rp_filter` and the value of flannel's link; probes of pods say whether it hurts.

## Mend
`net.ipv4.conf.all.rp_filter` 0 or 2 and the link's 2: podnet.kubeadm.site sets both.

## Prevent
The role host sets the default for links that are made later.

## Sources
- kernel documentation, ip-sysctl; openyurtio/raven issue 30
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._overlay import is_flannel_link
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Strict reverse-path filtering drops pod traffic",
    severity="warning",
    needs=("nodes.sysctl", "cluster.nodes"),
    remedy="Run podnet.kubeadm.site: the role host sets rp_filter to 2 for flannel's link.",
    repair="host:main",
    rank=60,
)

PREFIX, SUFFIX = "net.ipv4.conf.", ".rp_filter"


def check_node(node: Host, view: View) -> Iterator[Found]:
    values = {
        key[len(PREFIX) : -len(SUFFIX)].replace("/", "."): value
        for key, value in node.sysctl.items()
        if key.startswith(PREFIX) and key.endswith(SUFFIX)
    }
    everywhere = values.get("all", "0")
    for link, value in values.items():
        if is_flannel_link(link) and "1" in (value, everywhere) and "2" not in (value, everywhere):
            severity = "warning" if _hurts(node) else "info"
            yield Found(f"rp_filter is strict on {link}", {"all": everywhere, link: value}, severity=severity)


def _hurts(node: Host) -> bool:
    """Whether pods of the host fail to reach others, or nobody tried."""
    try:
        return any(one.flag("ok") is False for one in node.probe("tcp/pod") + node.probe("icmp/"))
    except Missing:
        return True
