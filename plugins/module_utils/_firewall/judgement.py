# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the rules of a host do with what it shall accept."""

from __future__ import annotations

import glob
import ipaddress
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._netfilter import INPUT, Ruleset, Verdict, standard_packets, walk
from .accepts import Accepts, Port

NFT_FILES = ("/etc/nftables.conf", "/etc/sysconfig/nftables.conf", "/etc/nftables/*.nft", "/etc/nftables.d/*.nft")
IPTABLES_FILES = {
    4: ("/etc/iptables/rules.v4", "/etc/sysconfig/iptables"),
    6: ("/etc/iptables/rules.v6", "/etc/sysconfig/ip6tables"),
}


@dataclass
class Judged:
    """One packet and its verdict. hook: forward or input."""

    name: str
    packet: dict[str, Any]
    hook: str
    verdict: Verdict

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "packet": self.packet, "hook": self.hook, **self.verdict.as_dict()}


def judge(node: Mapping[str, Any], accepts: Accepts, rules: Ruleset | None = None) -> list[Judged]:
    """The verdict over each kind of pod traffic and each port, from a host's evidence, or from rules made of it."""
    rules = rules or Ruleset.from_evidence(node)
    found = []
    for name, packet, hooks in standard_packets(node, accepts.cidrs, facts=rules.facts):
        if "forward" in hooks:
            verdict = walk(rules, packet, hooks)
            if verdict.by is None or not verdict.by.lacks_address:
                found.append(Judged(name, packet, "forward", verdict))
    for port in accepts.ports:
        for number in sorted({port.first, port.last}):
            arriving = _port_packet(rules, port, number)
            if arriving:
                name = f"{port.protocol} {number} from {arriving['source']}"
                found.append(Judged(name, arriving, "input", walk(rules, arriving, INPUT)))
    return found


def _port_packet(rules: Ruleset, port: Port, number: int) -> dict[str, Any] | None:
    """None where the source is the host itself."""
    facts, version = rules.facts, port.version
    source = _sender(facts, ipaddress.ip_network(port.source))
    if facts.is_local(int(source), version):
        return None
    device = facts.device_for(int(source), version)
    device = device if isinstance(device, str) and device else None
    own = sorted(value for value, link in facts.addresses[version] if link == device)
    destination = ipaddress.ip_address(own[0]) if own else source
    return {
        "in": device, "source": str(source), "destination": str(destination), "protocol": port.protocol,
        "destination_port": number,
    }  # fmt: skip


def _sender(facts: Any, network: Any) -> Any:
    """An address of a network that is not the host's own: of a pod range that it has a part of, one of that part."""
    if network.num_addresses == 1:
        return network.network_address
    own = sorted({value for value, _link in facts.addresses[network.version]})
    first = int(network.network_address)
    candidates = [value + 1 for value in own if first <= value < first + network.num_addresses - 1]
    found = next((value for value in candidates if value not in own), first + 1)
    return network.network_address + (found - first)


def worst(judged: Iterable[Judged]) -> str:
    """drop, undetermined or accept: the first of them that any packet has."""
    verdicts = {one.verdict.verdict for one in judged}
    return next(name for name in ("drop", "undetermined", "accept") if name in verdicts or name == "accept")


def place_of(verdict: Verdict, idle: Collection[str] = ()) -> str:
    """Where a verdict was made, for a person. idle: firewalls that do not run; what they left is no one's any more."""
    by = verdict.by
    if by is None or not by.table:
        return by.action or by.rule if by else "no rule at all"
    what = by.rule.strip("()") if by.rule.startswith("(policy") else f"rule `{by.rule}`"
    backend = ", which iptables-legacy holds" if by.backend == "legacy" else ""
    owner = f" ({by.owner})" if by.owner and by.owner not in idle else ""
    return f"table {by.family} {by.table}, chain {by.chain}{owner}, {what}{backend}"


def loaded_by(verdict: Verdict) -> str | None:
    """The file that holds the table, as far as the host's usual files tell."""
    by = verdict.by
    if by is None or not by.table:
        return None
    pattern = re.compile(rf"^\s*(?:add\s+)?table\s+{by.family}\s+{re.escape(by.table)}\b", re.M)
    if by.family == "ip":
        pattern = re.compile(rf"^\s*(?:add\s+)?table\s+(?:ip\s+)?{re.escape(by.table)}\b", re.M)
    for path in _existing(NFT_FILES):
        if pattern.search(_read(path)):
            return path
    if by.family in ("ip", "ip6") and by.rule and not by.rule.startswith("("):
        for path in _existing(IPTABLES_FILES[4 if by.family == "ip" else 6]):
            if by.rule in _read(path):
                return path
    return None


def _existing(patterns: Iterable[str]) -> list[str]:
    return [path for pattern in patterns for path in sorted(glob.glob(pattern))]


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return re.sub(r"#.*", "", file.read())
    except OSError:
        return ""
