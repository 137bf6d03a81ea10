# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster's rules are in both iptables backends, or tools and images use different ones.

## What it means
iptables can write to nf_tables or to the legacy tables; the kernel evaluates both. An accept in one backend does not
help against a drop in the other, and a component that looks into one does not see what another wrote to the other.

## How it looks
`iptables -S` shows rules that look right and traffic is dropped, or `# Warning: iptables-legacy tables present, use
iptables-legacy to see them`. kube-proxy's and flannel's rules stand in one backend, the kubelet's chains or a
policy DROP in the other. Services time out on that node only.

## What looks like it but is not
- Legacy tables that are there and empty: once looked at, they stay until a reboot, and the warning with them.
- KUBE-IPTABLES-HINT and KUBE-KUBELET-CANARY alone in one backend: that is how the kubelet shows its choice.
- Docker's rules in the other backend: seen as information. Where they meet pod traffic, `forward-policy-drop` and
  `forward-rule-drop` say so, and their repair works in either backend.

## Mend
Let tools and images agree: `update-alternatives --set iptables /usr/sbin/iptables-nft` (and ip6tables), then reboot
the node, drained: the other backend's rules are gone with it. Do not flush rules on a node with running pods.

## Prevent
Choose the backend of the host before the first kubelet starts.

## Sources
- kubernetes-sigs/iptables-wrappers; kubernetes issue 71305; flannel issue 1353; wiki.nftables.org, "Configuring
  chains"
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._saved_rules import SavedRules
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Rules in both iptables backends",
    severity="error",
    needs=("nodes.iptables",),
    remedy=(
        "Drain the node, make its iptables use one backend (update-alternatives --set iptables "
        "/usr/sbin/iptables-nft) and reboot it."
    ),
    explains=(
        "forward-policy-drop",
        "forward-rule-drop",
        "flannel-rules-missing",
        "service-path-broken",
        "netfilter-incomplete",
        "flannel-link-missing",
        "route-missing",
    ),
    rank=20,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    saved = node.saved4
    if saved.nft is None or saved.legacy is None:
        return
    here = {"nft": saved.nft, "legacy": saved.legacy}
    owners = {name: _cluster_rules(rules) for name, rules in here.items()}
    compared = {
        **{f"chains in {name}": chains[:8] for name, chains in owners.items()},
        "host's iptables": saved.selected,
    }
    writers = [name for name in here if here[name].of_proxy_or_flannel and owners[name]]
    if len(writers) == 2:
        yield Found("kube-proxy's or flannel's rules are in the nft and in the legacy backend", compared)
        return
    if not writers:
        return
    main, other = writers[0], "legacy" if writers[0] == "nft" else "nft"
    if owners[other]:
        yield Found(f"kube-proxy and flannel write to the {main} backend, the kubelet to the {other} one", compared)
    elif saved.selected == other:
        summary = f"the host's iptables uses the {other} backend, the cluster's rules are in the {main} one"
        yield Found(summary, compared, severity="warning")
    elif here[other].drops_forwarded:
        yield Found(f"the {other} backend drops forwarded packets too", compared, severity="info")
    elif sum(here[other].rules.values()):
        summary = f"there are rules in the {other} backend too"
        yield Found(summary, {**compared, "rules": here[other].rules}, severity="info")


def _cluster_rules(rules: SavedRules) -> list[str]:
    """The cluster's chains that hold rules or are jumped to; empty ones and pure markers left out."""
    return [chain for chain in rules.cluster_chains if rules.rules.get(chain)]
