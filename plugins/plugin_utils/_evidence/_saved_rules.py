# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an iptables-save listing holds, without walking it: chains, policies, how many rules, whose they are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ._item import Item

_TABLE = re.compile(r"^\*", re.MULTILINE)
_CHAIN = re.compile(r"^:(\S+) +(\S+)", re.MULTILINE)
_RULE = re.compile(r"^(?:\[\d+:\d+\] )?-A (\S+)", re.MULTILINE)
_DROP = re.compile(r"^(?:\[\d+:\d+\] )?-A FORWARD .*-j (?:DROP|REJECT)\b", re.MULTILINE)
KUBELET_ONLY = {"KUBE-KUBELET-CANARY", "KUBE-FIREWALL", "KUBE-IPTABLES-HINT", "KUBE-MARK-DROP", "KUBE-MARK-MASQ"}
"""Chains that the kubelet makes on the host with the host's own iptables, whatever kube-proxy's image uses."""


@dataclass
class SavedRules:
    """``chains``: names of user-defined chains; ``rules``: how many rules by chain; ``policies``: by (table, chain)."""

    chains: set[str] = field(default_factory=set)
    rules: dict[str, int] = field(default_factory=dict)
    policies: dict[tuple[str, str], str] = field(default_factory=dict)
    forward_drops: int = 0

    def owned(self, *prefixes: str) -> list[str]:
        """Chains that begin with one of the prefixes, sorted."""
        return sorted(chain for chain in self.chains if chain.startswith(prefixes))

    @cached_property
    def of_proxy_or_flannel(self) -> list[str]:
        """Chains that kube-proxy or flannel made: those of the kubelet left out."""
        return [
            chain for chain in self.owned("KUBE-", "FLANNEL-") if chain not in KUBELET_ONLY and "CANARY" not in chain
        ]

    @property
    def drops_forwarded(self) -> bool:
        return self.policies.get(("filter", "FORWARD")) == "DROP" or self.forward_drops > 0


def saved_rules(text: str) -> SavedRules:
    found = SavedRules()
    counts: Counter[str] = Counter()
    for part in _TABLE.split(text):
        table, _newline, body = part.partition("\n")
        for name, policy in _CHAIN.findall(body):
            if policy == "-":
                found.chains.add(name)
            else:
                found.policies[(table.strip(), name)] = policy
        counts.update(_RULE.findall(body))
        if table.strip() == "filter":
            found.forward_drops += len(_DROP.findall(body))
    found.rules = dict(counts)
    return found


@dataclass
class Backends:
    """The two backends of one family and the one that the host's tools use: nft, legacy, none or ""."""

    nft: SavedRules | None
    legacy: SavedRules | None
    selected: str


def backends(raw: Any) -> Backends:
    if not isinstance(raw, dict):
        raise ValueError(f"a mapping is expected, a {type(raw).__name__} stands there")
    found = Item(raw)
    return Backends(
        nft=saved_rules(found.text("nft")) if isinstance(raw.get("nft"), str) else None,
        legacy=saved_rules(found.text("legacy")) if isinstance(raw.get("legacy"), str) else None,
        selected=found.text("selected"),
    )
