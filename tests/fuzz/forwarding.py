# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Holds the walker against the kernel: random rulesets, real packets, and whether they arrive.

./dev fuzz forwarding [--count N] [--seed S] [--only legacy|iptables|nft] [--shape wide|dense|odd]

Each ruleset is loaded into a router's namespace, read back with the tools an operator has, and asked about some
packets, which are then sent. A definite answer that the packets contradict is a failure, and so is a share of
undetermined answers above 5 %; that of fewer than 2,000 rulesets may scatter, and the shape `odd`, of which each rule
asks for something else, known or not, has none. Needs root, iptables (both backends) and nft.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from random import Random
from typing import Any

import forwarding_dense
import forwarding_iptables
import forwarding_nft
import forwarding_odd
from forwarding_net import ADDRESSES, Frame, Net

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, INPUT, Ruleset, walk

# Keeps connection tracking on while rulesets come and go; accepts all.
KEEP = """table inet keep {
 chain c {
  type filter hook prerouting priority -500; policy accept;
  ct state new
 }
}
"""
PER_RULESET = 8
MOST_UNDETERMINED = 0.05
ENOUGH = 2000
"""Rulesets of which the share of undetermined answers is judged as it is; that of fewer scatters."""
_BLANK = {
    "filter": ("INPUT", "FORWARD", "OUTPUT"), "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"), "raw": ("PREROUTING", "OUTPUT"),
}  # fmt: skip
BLANK = "".join(
    f"*{table}\n" + "".join(f":{chain} ACCEPT [0:0]\n" for chain in chains) + "COMMIT\n"
    for table, chains in _BLANK.items()
)


class Refused(Exception):
    """A tool does not take its text."""

    def __init__(self, tool: str, error: RuntimeError) -> None:
        super().__init__(str(error))
        self.tool = tool


class Router:
    """Loads rulesets into the router and reads them back."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.used_legacy = self.has_legacy = False
        self.facts: dict[str, Any] = {
            "ip_address": json.loads(net.inside("router", "ip", "-j", "-d", "address", "show")),
            "ip_route": json.loads(net.inside("router", "ip", "-j", "route", "show", "table", "all")),
            "ip6_route": json.loads(net.inside("router", "ip", "-6", "-j", "route", "show", "table", "all")),
            "ip_rule": json.loads(net.inside("router", "ip", "-j", "rule", "show")),
            "sysctl": {"net.bridge.bridge-nf-call-iptables": "1", "net.bridge.bridge-nf-call-ip6tables": "1"},
            "kernel": "6.18.0",
        }

    def clear(self) -> None:
        self.used: set[str] = set()  # the tools that loaded something
        self.net.inside("router", "nft", "-f", "-", text="flush ruleset\n" + KEEP)
        if self.used_legacy:
            for tool in ("iptables-legacy-restore", "ip6tables-legacy-restore"):
                self.net.inside("router", tool, text=BLANK)
            self.used_legacy = False

    def load(self, rules: dict[str, str]) -> None:
        """rules: text by tool. Raises Refused."""
        for tool, text in rules.items():
            self.used.add(tool)
            if "legacy" in tool:
                self.used_legacy = self.has_legacy = True
            command = (tool, "-f", "-") if tool == "nft" else (tool,)
            try:
                self.net.inside("router", *command, text=text)
            except RuntimeError as error:
                raise Refused(tool, error) from error

    def evidence(self) -> dict[str, Any]:
        found = {**self.facts, "nft": json.loads(self.net.inside("router", "nft", "-j", "list", "ruleset"))}
        for command in ("iptables", "ip6tables"):
            nft: str | None = ""
            if self.used & {"nft", f"{command}-nft-restore"}:
                try:
                    nft = self.net.inside("router", f"{command}-nft-save", "-c")
                except RuntimeError:  # rules of nft that it cannot read at all
                    nft = None
            # No legacy table comes into being by itself.
            legacy = self.net.inside("router", f"{command}-legacy-save", "-c") if self.has_legacy else ""
            found[command] = {"nft": nft, "legacy": legacy, "selected": "nft"}
        return found


def rules_of(random: Random, only: str) -> dict[str, str]:
    """A random ruleset: text by the tool that loads it."""
    modes = {
        "legacy": ("legacy",), "iptables": ("iptables",), "nft": ("nft",),
    }.get(only) or random.choice(
        (("legacy",), ("iptables",), ("nft",), ("nft",), ("iptables", "nft"), ("legacy", "iptables"), ("legacy", "nft"))
    )  # fmt: skip
    rules: dict[str, str] = {}
    for mode in modes:
        if mode == "nft":
            rules["nft"] = forwarding_nft.Grammar(random).ruleset()
            continue
        tool = "legacy" if mode == "legacy" else "nft"
        versions = random.choice(((4,), (4,), (4, 6)))
        for version in versions:
            text = forwarding_iptables.Grammar(random, version, tool).ruleset()
            if text:
                rules[f"ip{'6' if version == 6 else ''}tables-{tool}-restore"] = text
    return rules


SHAPES = {"wide": rules_of, "dense": forwarding_dense.rules_of, "odd": forwarding_odd.rules_of}


class Flow:
    """One question: the packet as the walker is told it, and the frames that make it real."""

    def __init__(self, random: Random, number: int) -> None:
        version = random.choice((4, 4, 4, 6))
        origin, target = random.choice(
            (("a", "s"), ("a", "s"), ("a", "s"), ("s", "a"), ("s", "a"), ("a", "b"), ("a", "router"))
        )
        protocol = random.choice(("tcp", "tcp", "udp", "udp", "icmp"))
        sport = 30000 + number % 30000
        source, destination = (random.choice(ADDRESSES[one][version]) for one in (origin, target))
        dport = random.choice((53, 80, 80, 22, 8472))
        self.frame = Frame(origin, target, version, source, destination, protocol, sport, dport)
        if protocol == "icmp":
            self.frame.icmp_type = 8 if version == 4 else 128
        self.before: list[Frame] = []
        self.packet: dict[str, Any] = {
            "in": {"s": "wan0"}.get(origin, "br0"), "out": {"s": "wan0"}.get(target, "br0"),
            "source": source, "destination": destination, "protocol": protocol, "state": "new",
        }  # fmt: skip
        self.hooks = INPUT if target == "router" else FORWARD
        if target == "router":
            del self.packet["out"]
        if protocol != "icmp":
            self.packet.update(source_port=sport, destination_port=dport)
            if target != "router":
                self._state(random)

    def _state(self, random: Random) -> None:
        kind = random.choice(("new", "new", "new", "established", "answer", "invalid"))
        one, tcp = self.frame, self.frame.protocol == "tcp"
        other = Frame(
            one.target, one.origin, one.version, one.destination, one.source, one.protocol, one.dport, one.sport
        )
        if kind == "invalid" and tcp:
            one.flags = "ack"
            self.packet.update(state="invalid", tcp_flags=["ack"])
        if kind not in ("established", "answer"):
            return
        first, second = (one, other) if kind == "established" else (other, one)
        opening = Frame(**first.__dict__)
        reply = Frame(**{**second.__dict__, "flags": "synack", "seq": 5000, "ack": 1001})
        finish = Frame(**{**first.__dict__, "flags": "ack", "seq": 1001, "ack": 5001})
        self.before = [opening, reply] + ([finish] if tcp else [])
        if tcp:
            one.flags, one.seq, one.ack = "data", *((1001, 5001) if kind == "established" else (5001, 1001))
            self.packet["tcp_flags"] = ["ack", "psh"]
        self.packet["state"] = "established"
        self.packet["connmark"] = 0
        self.packet["direction"] = "original" if kind == "established" else "reply"


def judge(evidence: dict[str, Any], flows: list[Flow]) -> list[str]:
    rules = Ruleset.from_evidence(evidence)
    return [walk(rules, flow.packet, flow.hooks).verdict for flow in flows]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=("legacy", "iptables", "nft"), default="")
    parser.add_argument("--shape", choices=SHAPES, default="", help="one of the generators; else all")
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first ruleset")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    print(f"seed {seed}, {options.count} rulesets, {PER_RULESET} packets each", flush=True)
    tally: Counter[str] = Counter()
    failed = 0
    with Net() as net:
        router = Router(net)
        for number in range(options.first, options.first + options.count):
            random = Random(f"{seed}/{number}")
            if not one(net, router, random, number, f"{seed}/{number}", tally, options):
                failed += 1
    asked = sum(tally[key] for key in ("accept", "drop", "undetermined"))
    share = tally["undetermined, not odd"] / (tally["not odd"] or 1)
    print(
        f"answers: {tally['accept']} accept, {tally['drop']} drop, {tally['undetermined']} undetermined "
        f"(of shapes with a share {share:.1%}), {tally['wrong']} wrong; arrived {tally['arrived']} of {asked}; "
        f"{tally['refused']} texts were refused, mended or redrawn"
    )
    # The answers about one ruleset belong together; two standard deviations are within what chance does.
    deviation = (MOST_UNDETERMINED * (1 - MOST_UNDETERMINED) / options.count) ** 0.5
    most = MOST_UNDETERMINED + (0.0 if options.count >= ENOUGH else 2 * deviation)
    if share > most:
        print(f"more than {most:.1%} undetermined")
        failed += 1
    print(f"{options.count - min(failed, options.count)} passed, {failed} failed")
    return 1 if failed else 0


def one(net: Net, router: Router, random: Random, number: int, name: str, tally: Counter[str], options: Any) -> bool:
    """One ruleset; False where an answer is wrong."""
    router.clear()
    flows = [Flow(random, number * PER_RULESET + position) for position in range(PER_RULESET)]
    for position in range(3):
        net.send([flow.before[position] for flow in flows if position < len(flow.before)], wait=0.002)
    shape = options.shape or random.choice(list(SHAPES))
    draw = SHAPES[shape]
    rules = draw(random, options.only)
    while True:
        try:
            router.load(rules)
            evidence = router.evidence()
            break
        except json.JSONDecodeError:  # nft 1.0 breaks off where it writes a table's flags
            router.clear()
            rules = draw(random, options.only)
        except Refused as error:
            tally["refused"] += 1
            if options.verbose:
                print(f"{name}: refused: {error}")
            router.clear()
            rules[error.tool] = forwarding_dense.without_refused(rules[error.tool], str(error))
            if not rules[error.tool]:
                rules = draw(random, options.only)
    verdicts = judge(evidence, flows)
    if options.verbose:
        for flow, verdict in zip(flows, verdicts):
            if verdict == "undetermined":
                found = walk(Ruleset.from_evidence(evidence), flow.packet, flow.hooks)
                print(f"{name}: undetermined by {found.by.rule or found.by.action if found.by else None}")
    good = True
    for flow, verdict, arrived in zip(flows, verdicts, net.send([flow.frame for flow in flows])):
        tally[verdict] += 1
        tally["not odd"] += shape != "odd"
        tally["undetermined, not odd"] += shape != "odd" and verdict == "undetermined"
        tally["arrived"] += arrived
        if verdict == "undetermined" or (verdict == "accept") == arrived:
            continue
        if verdict == "accept" and net.send([flow.frame], wait=0.05)[0] and flow.packet["state"] != "new":
            continue  # the machine was slow
        tally["wrong"] += 1
        good = False
        show(name, rules, evidence, flow, verdict, arrived)
    return good


def show(name: str, rules: dict[str, str], evidence: dict[str, Any], flow: Flow, verdict: str, arrived: bool) -> None:
    print(f"--- {name}: {verdict}, but the packet {'arrived' if arrived else 'did not arrive'}: {flow.packet}")
    for tool, text in rules.items():
        print(f"# {tool}\n{text}")
    full = walk(Ruleset.from_evidence(evidence), flow.packet, flow.hooks)
    for place in full.trail:
        print(f"  {place.hook} {place.family} {place.table} {place.chain}: {place.rule} -> {place.action}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
