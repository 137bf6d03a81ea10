# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A rule of FORWARD drops or rejects pod traffic.

## What it means
A rule that stands before flannel's accept drops packets of pods: one that somebody inserted, firewalld's or ufw's
chains in iptables, a security tool's. Flannel appends its accepts, so that whatever ended the chain before stands in
front of them.

## How it looks
REJECT: `Connection refused` or `No route to host` at once, UDP and DNS time out. DROP: all times out. The node itself
is well, also towards pods.

## What looks like it but is not
- A drop behind flannel's accept, or for other traffic (another interface, invalid packets, docker0): position and
  match count, not presence.
- Chains of a policy engine (Calico, kube-router, Cilium): a network policy, see `network-policy-blocks`.
- Pods that may not leave for the outside on purpose: an info.

## How it is told
Each kind of pod traffic is walked through the rules, to the rule that ends it; a LOG, a limit or a match that is not
known makes *undetermined* only what hangs on it.

## Mend
Let the pod range pass right before that rule: podnet.kubeadm.repair. The rules of others stay as they are.

## Prevent
`firewall_mode: asserted` stops site where pod traffic would be dropped; `permitted` adds the accepts that are missing.

## Sources
- kubeadm issue 139; flannel issues 2055, 1515; tried: the same REJECT kills in front and does nothing behind
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._forwarding import severity_of, shown, told
from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A rule of FORWARD drops or rejects pod traffic",
    severity="error",
    needs=("nodes.iptables", "nodes.nft"),
    remedy="Run podnet.kubeadm.repair: it adds an accept for the pod range right before that rule.",
    repair="firewall:permitted",
    rank=35,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    drops = told(node, view, "forward-rule-drop")
    if not drops:
        return
    place, severity = drops[0].place, severity_of(drops, view)
    owner = f" of {place.owner}" if place.owner else ""
    yield Found(f"a rule{owner} in {place.chain} drops pod traffic: {place.rule}", shown(drops), severity=severity)
