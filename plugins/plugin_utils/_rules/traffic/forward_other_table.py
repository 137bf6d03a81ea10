# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Another table on the forward hook drops pod traffic.

## What it means
nftables lets every table have a chain on the forward hook, and a packet has to be accepted by all of them.
firewalld's own table, or a hand-written `inet filter` with policy drop, drops what flannel's and kube-proxy's rules
accepted elsewhere.

## How it looks
`iptables -S` shows only accepts and counters that grow, and the packets vanish; the kernel logs
`filter_FWD_public_REJECT: IN=flannel.1 OUT=cni0`.

## What looks like it but is not
- firewalld with the pod network's interfaces or range in a zone that accepts: the walk ends in accept.
- Tables with policy accept and no rule for pods (Docker, libvirt, fail2ban).
- iptables' own chains: see `forward-policy-drop`, `forward-rule-drop`.

## How it is told
Each kind of pod traffic is walked through every base chain of the hook, in order of priority.

## Mend
Add the pod range there: `firewall-cmd --permanent --zone=trusted --add-source=POD_RANGE`, or an accept in the
hand-written chain; podnet.kubeadm.repair does what fits. Not `nft flush ruleset`, which takes kube-proxy's rules with
it.

## Prevent
`firewall_mode: asserted` stops site where a table drops pod traffic, whoever made it; `permitted` lets it pass where
the table is firewalld's or has a chain for it.

## Sources
- flannel issue 2055; firewalld issue 527; wiki.nftables.org, Configuring chains; tried: a drop in any base chain wins
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._forwarding import severity_of, shown, told
from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Another table on the forward hook drops pod traffic",
    severity="error",
    needs=("nodes.nft",),
    remedy="Run podnet.kubeadm.repair: it lets the pod range pass in that table, in firewalld by a policy or zone.",
    repair="firewall:permitted",
    rank=35,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    drops = told(node, view, "forward-other-table")
    if not drops:
        return
    place, severity = drops[0].place, severity_of(drops, view)
    owner = f" of {place.owner}" if place.owner else ""
    summary = f"the table {place.family} {place.table}{owner} drops pod traffic in {place.chain}: {place.rule}"
    yield Found(summary, shown(drops), severity=severity)
