# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the rules of a host do with what it shall accept."""

from __future__ import annotations

import glob
import ipaddress
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._netfilter import INPUT, Place, Ruleset, Verdict, standard_packets, walk
from .accepts import Accepts, Port

NFT_FILES = ("/etc/nftables.conf", "/etc/sysconfig/nftables.conf", "/etc/nftables/*.nft", "/etc/nftables.d/*.nft")
IPTABLES_FILES = {
    4: ("/etc/iptables/rules.v4", "/etc/sysconfig/iptables"),
    6: ("/etc/iptables/rules.v6", "/etc/sysconfig/ip6tables"),
}
PEERS = 16
"""Of how many other nodes the pods are asked about."""


@dataclass
class Judged:
    """One packet and its verdict. hook: forward or input. cidrs: the pod ranges. between_pods: the packets between pods
    of this and of another node, in the IP version of this one."""

    name: str
    packet: dict[str, Any]
    hook: str
    verdict: Verdict
    cidrs: tuple[str, ...] = ()
    between_pods: tuple[dict[str, Any], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "packet": self.packet, "hook": self.hook, **self.verdict.as_dict()}


def judge(node: Mapping[str, Any], accepts: Accepts, rules: Ruleset | None = None) -> list[Judged]:
    """The verdict over each kind of pod traffic and each port, from a host's evidence, or from rules made of it."""
    rules = rules or Ruleset.from_evidence(node)
    found = []
    for cidr in accepts.cidrs:
        packets = standard_packets(node, cidr, facts=rules.facts, peers=PEERS)
        between = tuple(packet for _name, packet, _hooks in packets[:2])
        for name, packet, hooks in packets:
            if "forward" in hooks:
                verdict = walk(rules, packet, hooks)
                if verdict.by is None or not verdict.by.lacks_address:
                    found.append(Judged(name, packet, "forward", verdict, accepts.cidrs, between))
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
    """The file that holds what drops, as far as the host's usual files tell."""
    by = verdict.by
    if by is None or not by.table:
        return None
    for path in _existing(NFT_FILES):
        if any(_drops(by, chain) for chain in _chains_of(_read(path), by)):
            return path
    if by.family in ("ip", "ip6") and by.rule and not by.rule.startswith("("):
        for path in _existing(IPTABLES_FILES[4 if by.family == "ip" else 6]):
            if by.rule in _read(path):
                return path
    return None


def _chains_of(text: str, by: Place) -> Iterator[str]:
    """What a file for nft says of a chain: its block in the table's, or its commands one by one."""
    family = r"(?:ip\s+)?" if by.family == "ip" else rf"{by.family}\s+"
    table, chain = re.escape(by.table), re.escape(by.chain)
    for found in re.finditer(rf"^\s*(?:add\s+|create\s+)?table\s+{family}{table}\s*{{", text, re.M):
        block = _block(text, found.end())
        for inner in re.finditer(rf"^\s*chain\s+{chain}\s*{{", block, re.M):
            yield _block(block, inner.end())
    yield from re.findall(rf"^\s*(?:add|create|insert)\s+(?:chain|rule)\s+{family}{table}\s+{chain}\s.*", text, re.M)


def _block(text: str, start: int) -> str:
    """What stands between a brace and its fellow."""
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if not depth:
            return text[start:position]
    return text[start:]


def _drops(by: Place, chain: str) -> bool:
    """Whether the text of a chain has the policy, or an end such as the rule has."""
    if by.rule.startswith("("):
        return re.search(r"\bpolicy\s+drop\b", chain) is not None
    ends = re.findall(r"\b(drop|reject)\b", re.sub(r"\bpolicy\s+drop\b", "", chain))
    return any(word in ends for word in re.findall(r"\b(drop|reject)\b", by.rule.lower()))


def _existing(patterns: Iterable[str]) -> list[str]:
    return [path for pattern in patterns for path in sorted(glob.glob(pattern))]


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return re.sub(r"#.*", "", file.read())
    except OSError:
        return ""
