# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an iptables-save listing holds, without walking it: chains, policies, how many rules, whose they are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...module_utils._netfilter import SavedTable, split
from ._item import Item

_DROP = re.compile(r"-A FORWARD .*-j (?:DROP|REJECT)\b")
KUBELET_ONLY = {"KUBE-KUBELET-CANARY", "KUBE-FIREWALL", "KUBE-IPTABLES-HINT", "KUBE-MARK-DROP", "KUBE-MARK-MASQ"}
"""Chains that the kubelet makes on the host with the host's own iptables, whatever kube-proxy's image uses."""


@dataclass(frozen=True)
class SavedRules:
    """One listing, of all its tables."""

    tables: tuple[SavedTable, ...]

    @cached_property
    def cluster_chains(self) -> list[str]:
        """User-defined chains with names as kube-proxy, the kubelet and flannel give them, sorted."""
        names = {
            name
            for table in self.tables
            for name, policy in table.policies.items()
            if policy == "-" and name.startswith(("KUBE-", "FLANNEL-"))
        }
        return sorted(names)

    @cached_property
    def rules(self) -> dict[str, int]:
        """How many rules by chain."""
        counts: Counter[str] = Counter()
        for table in self.tables:
            counts.update({name: len(lines) for name, lines in table.rules.items()})
        return dict(counts)

    @cached_property
    def of_proxy_or_flannel(self) -> list[str]:
        """Chains that kube-proxy or flannel made: those of the kubelet left out."""
        return [chain for chain in self.cluster_chains if chain not in KUBELET_ONLY and "CANARY" not in chain]

    @property
    def drops_forwarded(self) -> bool:
        """Whether the policy or a rule of the filter table's own chain does."""
        return any(
            table.policies.get("FORWARD") == "DROP" or any(map(_DROP.match, table.rules.get("FORWARD", ())))
            for table in self.tables
            if table.name == "filter"
        )


def saved_rules(text: str) -> SavedRules:
    return SavedRules(split(text))


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
