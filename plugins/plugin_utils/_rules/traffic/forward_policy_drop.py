# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The policy DROP of FORWARD meets pod traffic.

## What it means
The last word of the chain FORWARD is DROP (Docker and ufw set it) and no rule before it accepts packets of pods.
Flannel in iptables mode appends such accepts; where it does not (`--iptables-forward-rules=false`, before v0.9, the
other backend of iptables, nftables mode), the policy has it.

## How it looks
Pods of the node reach nothing, often not even each other; the node itself reaches everything and stays Ready. The
counter of the policy grows.

## What looks like it but is not
- DROP with flannel's or firewall's accepts before it: healthy, whatever `iptables -S | head -1` shows.
- DROP before the cluster is built: flannel's accepts will come before it in iptables mode and not in nftables mode; a
  warning. DROP on a node on which flannel does not run, for another reason: a note.
- A rule that drops: see `forward-rule-drop`. A table beside iptables: see `forward-other-table`.
- Flannel's chains are all gone: see `flannel-rules-missing`, which explains this one.

## How it is told
Each kind of pod traffic is walked through the rules of both backends and all tables, to the policy that ends it.

## Mend
Let the pod range pass before the policy: podnet.kubeadm.repair adds exactly that accept. Not `iptables -P FORWARD
ACCEPT`: Docker and ufw set it again, and it opens everything.

## Prevent
`firewall_mode: permitted` puts the accept in place for good, whoever starts later; `asserted` stops site where it is
missing.

## Sources
- flannel issues 609, 699, 823, PR 872; moby/libnetwork issue 1526; kubernetes issue 45022; tried in both modes
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._asked import flannel_nftables
from ..._evidence._forwarding import severity_of, shown, told
from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._flannel_chains import wanted_chains

RULE = Rule(
    title="The policy DROP of FORWARD meets pod traffic",
    severity="error",
    needs=("nodes.iptables", "nodes.nft"),
    remedy="Run podnet.kubeadm.repair: it lets the pod range pass before the policy (firewall_mode: permitted).",
    repair="firewall:permitted",
    rank=35,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    drops = told(node, view, "forward-policy-drop")
    if not drops:
        return
    owner = drops[0].place.owner
    summary = f"the policy DROP of FORWARD{f', set by {owner},' if owner else ''} meets pod traffic"
    yield Found(summary, shown(drops), severity=_until_flannel_runs(node, view) or severity_of(drops, view))


def _until_flannel_runs(node: Host, view: View) -> str | None:
    """How bad it is where flannel's accepts will come with flannel: a note on a node on which it does not run, a
    warning on a host that has not joined."""
    try:
        runs = view.flannel_runs(node)
        coming = not flannel_nftables(view) and "FLANNEL-FWD" in wanted_chains(view)
    except Missing:
        return None
    return None if runs or not coming else "warning" if runs is None else "info"
