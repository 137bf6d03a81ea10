# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All rules that a host's kernel holds, put together from what its tools print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _iptables, _nft
from ._facts import Facts
from ._model import Chain, Table


class Ruleset:
    """Rules and facts of one host. Reads once; walk as many packets as you like."""

    def __init__(self, tables: list[Table], facts: Facts, missing: Mapping[int, tuple[str, ...]]) -> None:
        self.tables = tables
        self.facts = facts
        self.missing = missing  # by IP version: evidence keys that were not looked at
        self._order: dict[tuple[str, str, int], list[Chain]] = {}

    @classmethod
    def from_evidence(cls, node: Mapping[str, Any]) -> Ruleset:
        """From `nodes.NAME` of the evidence: its keys `iptables`, `ip6tables`, `nft`, and for what rules ask beside the
        packet `ip_address`, `ip_route`, `ip6_route`, `ip_rule`, `sysctl`, `kernel`. A key that is absent was not looked
        at: what hangs on it is undetermined. Raises ValueError where `nft` is no nft listing.
        """
        missing: dict[int, list[str]] = {4: [], 6: []}
        native = node.get("nft")
        listed = _nft.read(native) if native is not None else []
        if native is None:
            for version in (4, 6):
                missing[version].append("nft")
        tables: list[Table] = []
        for key, family, version in (("iptables", "ip", 4), ("ip6tables", "ip6", 6)):
            texts = node.get(key)
            texts = texts if isinstance(texts, Mapping) else {}
            if texts.get("legacy") is None:
                missing[version].append(f"{key}.legacy")
            else:
                tables += _iptables.read(str(texts["legacy"]), "legacy", family)
            if texts.get("nft") is not None:
                saved = _iptables.read(str(texts["nft"]), "nft", family)
                listed = _merge(listed, saved)
            elif native is None:
                missing[version].append(f"{key}.nft")
        facts = Facts(node)
        return cls(listed + tables, facts, {version: tuple(names) for version, names in missing.items()})

    def base_chains(self, layer: str, hook: str, version: int) -> list[Chain]:
        """The base chains of a hook that see a packet of an IP version, by priority, then as listed."""
        key = (layer, hook, version)
        if key not in self._order:
            families = {"ip": ("ip" if version == 4 else "ip6", "inet"), "netdev": ("netdev", "inet")}
            chains = [
                chain
                for table in self.tables
                if table.family in families.get(layer, (layer,))
                for chain in table.base_chains()
                if chain.hook == hook
            ]
            self._order[key] = sorted(chains, key=lambda chain: chain.priority)
        return self._order[key]

    def has_flowtable(self, version: int, names: Iterable[Any]) -> bool:
        """Whether a flow table may carry established connections between these interfaces past the forward hook."""
        family = "ip" if version == 4 else "ip6"
        devices = {d for t in self.tables if t.family in (family, "inet") for d in t.flowtable_devices}
        return bool(devices) and any(name in devices or not isinstance(name, str) for name in names)

    def sees_devices(self) -> bool:
        """Whether any rules see packets at a bridge or at a device, where they count by the device."""
        return any(table.family in ("bridge", "netdev") for table in self.tables)

    def translates(self, version: int) -> bool:
        """Whether any rule may give an arriving packet another destination."""
        key = ("translates", "", version)
        if key not in self._order:
            chains = [c for c in self.base_chains("ip", "prerouting", version) if c.has_effects()]
            self._order[key] = chains
        return bool(self._order[key])


def _merge(listed: list[Table], saved: list[Table]) -> list[Table]:
    """One table for each that both tools show.

    iptables-nft-save knows what its extensions mean and nft does not; nft knows priorities, handles and rules that were
    added beside. So a chain's rules come from the save text where both have the same number of them, else from nft; and
    from nft what only nft can say.
    """
    by_name = {(table.family, table.name): table for table in listed}
    result = list(listed)
    for table in saved:
        native = by_name.get((table.family, table.name))
        if native is None:
            result.append(table)
            continue
        for name, chain in native.chains.items():
            twin = table.chains.get(name)
            if twin is None or len(twin.rules) != len(chain.rules):
                continue
            for rule, other in zip(chain.rules, twin.rules):
                if rule.only_nft:
                    continue
                rule.text, rule.render = other.text, None
                rule.compile, rule.find_targets, rule.effects = other.compile, other.find_targets, other.effects
                rule.may_drop, rule.looks_up = other.may_drop, other.looks_up
                rule.destination = other.destination
                rule._steps = None
        native.from_save = True
    return result
