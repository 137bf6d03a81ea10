# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's netfilter rules are gone.

## What it means
flanneld writes FLANNEL-FWD (accepts for the pod range) and FLANNEL-POSTRTG (masquerading), or in nftables mode the
tables flannel-ipv4 and flannel-ipv6. A flush, a firewall's reload or a restored rule set took them. In iptables mode
flanneld looks every five seconds; in nftables mode never.

## How it looks
With a forward policy DROP pods of the node reach nothing; without masquerading they reach the cluster and nothing
outside.

## What looks like it but is not
- Flannel does not run on the node: a consequence, an info.
- `--iptables-forward-rules=false` or an old flannel: no FLANNEL-FWD by design, an info (see `forward-policy-drop`
  where that hurts). No `--ip-masq`: no FLANNEL-POSTRTG by design.
- Rules in the other backend of iptables: see `iptables-backend-mix`.

## How it is told
Chains with the jumps that enter them, in both backends of iptables, and nftables tables.

## Mend
Restart flannel's pod on the node; after a flush kube-proxy's too.

## Prevent
Firewalls that do not flush what is not theirs: podnet.kubeadm sets FlushAllOnReload for firewalld.

## Sources
- flannel issues 1321, 1450, 1668; tried: back within 4 s in iptables mode, never in nftables mode
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._flannel_chains import wanted_chains

RULE = Rule(
    title="Flannel's netfilter rules are gone",
    severity="error",
    needs=("nodes.iptables", "cluster.nodes", "cluster.pods"),
    remedy="Run podnet.kubeadm.repair, which restarts flannel's pod on that node.",
    repair="flannel:restart",
    explains=("forward-policy-drop",),
    rank=33,
)

JUMPS = {"FLANNEL-FWD": r"-A FORWARD\b.*-j FLANNEL-FWD\b", "FLANNEL-POSTRTG": r"-A POSTROUTING\b.*-j FLANNEL-POSTRTG\b"}


def check_node(node: Host, view: View) -> Iterator[Found]:
    runs = view.flannel_runs(node)
    if runs is None:
        return
    missing = [chain for chain in wanted_chains(view) if not _there(node, chain)]
    if not missing or (_nft_tables(node) and "FLANNEL-FWD" in missing):
        return
    compared = {"missing": missing}
    if not runs:
        yield Found("flannel's rules are not there, for flannel does not run", compared, severity="info")
    elif missing == ["FLANNEL-FWD"]:
        yield Found("flannel does not write accepts for forwarded packets", compared, severity="info")
    else:
        yield Found(f"flannel's rules are gone although flannel runs: {', '.join(missing)}", compared)


def _there(node: Host, chain: str) -> bool:
    texts = [node.iptables.text(backend) for backend in ("nft", "legacy") if node.iptables.has(backend)]
    if not texts:
        raise Missing(f"{node.path}.iptables.nft")
    return any(re.search(JUMPS[chain], text) for text in texts)


def _nft_tables(node: Host) -> bool:
    """Whether flannel's nftables tables are there; raises `Missing` where nft was not looked at and may hold them."""
    if not node.has("nft"):
        return False
    names = {one.text("table", "name") for one in node.nft.items("nftables")}
    return "flannel-ipv4" in names or "flannel-ipv6" in names
