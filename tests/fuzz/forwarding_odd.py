# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random rulesets of a third shape: little around one statement, and all statements there are.

The other two draw what rulesets are made of. Here a rule holds one match or statement of everything that iptables and
nft know, and the rest of the ruleset does the opposite of it: so each reading decides, whether it is known or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from forwarding_dense import Writer
from forwarding_odd_words import (
    NFT,
    NFT_GOES_ON,
    NFT_NAT,
    NFT_OF,
    NFT_OUT,
    OF_VERSION,
    SETS,
    WORDS,
    XT,
    XT_GOES_ON,
    XT_L4,
    XT_OF,
    XT_TCP,
)  # fmt: skip

HOOKS = ("forward", "forward", "forward", "prerouting", "postrouting")


class Iptables(Writer):
    """A few rules about one match or target, in one table, and what tells the difference."""

    def __init__(self, random: Random, version: int) -> None:
        super().__init__(random, version)
        self.version = version
        self.words = {**WORDS, **OF_VERSION[version]}

    def ruleset(self) -> str:
        random = self.random
        if random.random() < 0.45:
            table, hook = random.choice(
                (("filter", "FORWARD"), ("filter", "FORWARD"), ("mangle", "PREROUTING"), ("raw", "PREROUTING"))
            )
            return self.decides(table, hook, [self.match(table, hook) for _one in range(random.choice((1, 1, 1, 2)))])
        kind = random.choice(("filter", "mangle", "mangle", "raw", "nat", "natPOST"))
        table, hook = {"filter": ("filter", "FORWARD"), "natPOST": ("nat", "POSTROUTING")}.get(
            kind, (kind, "PREROUTING")
        )
        first = [f"-A {hook} {self.own(self.match(table, hook))} {self.fill(XT_GOES_ON[kind])}" for _one in range(2)]
        if table == "filter":
            return self.decides(table, hook, [self.match(table, hook)], first)
        text = "\n".join([f"*{table}", f":{hook} ACCEPT [0:0]", *first, "COMMIT", ""])
        return text + self.decides("filter", "FORWARD", [self.match("filter", "FORWARD")])

    def own(self, match: str) -> str:
        """Often all packets, else the match."""
        return match if self.random.random() < 0.5 else ""

    def decides(self, table: str, hook: str, matches: Sequence[str], before: Sequence[str] = ()) -> str:
        policy, end = self.random.choice((("ACCEPT", "DROP"), ("DROP", "ACCEPT"), ("DROP", "RETURN"), ("ACCEPT", "X")))
        rules = [f"-A {hook} {match} -j {end}" for match in matches]
        if end == "RETURN":  # to a chain that accepts
            rules = [f"-A {hook} -j X", f"-A {hook} -j ACCEPT", *(f"-A X {match} -j RETURN" for match in matches)]
            rules += ["-A X -j DROP"] if self.random.random() < 0.7 else []
        elif end == "X":
            rules += ["-A X -j DROP"]
        return "\n".join([f"*{table}", f":{hook} {policy} [0:0]", ":X - [0:0]", *before, *rules, "COMMIT", ""])

    def match(self, table: str, hook: str) -> str:
        protocol = self.fill(("", "", "", "tcp", "udp"))
        known = [*XT, *XT_OF[self.version]]
        known += XT_L4 * 4 if protocol else ()
        known += XT_TCP * 3 if protocol == "tcp" else ()
        known += ["<not>-o <one>", "<not>-o w+", "-m physdev <not>--physdev-out p2"] if hook != "PREROUTING" else []
        match = self.fill(known, p=(protocol,))
        return match if "-p " in match or not protocol else f"-p {protocol} {match}"


class Nft(Writer):
    """The same for `nft -f`."""

    def __init__(self, random: Random, version: int) -> None:
        super().__init__(random, version)
        self.version = version
        self.words = {**WORDS, **OF_VERSION[version]}
        self.family = "inet"

    def ruleset(self) -> str:
        return "".join(self.table(f"o{number}") for number in range(self.random.choice((1, 1, 1, 2))))

    def table(self, name: str) -> str:
        random = self.random
        self.family = random.choice(("inet", "inet", "inet", "ip6" if self.version == 6 else "ip", "bridge"))
        self.words["family"] = (f"{self.words['ip'][0]} " if self.family == "inet" else "",)
        lines = [f"table {self.family} {name} {{"]
        lines += [" flags dormant"] if random.random() < 0.04 else []
        lines += [" " + self.fill((one,)) for one in SETS if self.family != "bridge" or "flowtable" not in one]
        chains = [self.deciding()]
        if self.family != "bridge" and random.random() < 0.25:
            chains.insert(0, self.translating())
        elif random.random() < 0.5:
            chains.insert(0, self.going_on())
        return "\n".join([*lines, " chain x {", "  drop", " }", *(line for chain in chains for line in chain), "}", ""])

    def chain(self, name: str, head: str, rules: Sequence[str]) -> list[str]:
        return [f" chain {name} {{", f"  {head}", *(f"  {rule}" for rule in rules), " }"]

    def deciding(self) -> list[str]:
        random, hook = self.random, self.fill(HOOKS)
        policy, end = random.choice((("accept", "drop"), ("drop", "accept"), ("accept", "jump x"), ("accept", "goto x"),
                                     ("accept", "reject"), ("drop", "<ip> saddr vmap @go")))  # fmt: skip
        if "@go" in end:
            policy = self.fill(("accept", "drop"))
        elif end == "reject" and hook != "forward":
            end = "drop"
        head = f"type filter hook {hook} priority {random.choice((-310, -150, -5, 0, 0, 10, 200))}; policy {policy};"
        rules = [f"{self.match(hook)} {self.fill((end,))}" for _one in range(random.choice((1, 1, 1, 2)))]
        if random.random() < 0.3:
            rules.insert(0, f"{self.maybe(hook)}{self.fill(NFT_GOES_ON)}")
        if self.family == "inet" and random.random() < 0.04:
            head = f'type filter hook ingress device "{self.fill(("wan0", "br0"))}" priority 0; policy {policy};'
        return self.chain("d", head, rules)

    def going_on(self) -> list[str]:
        hook = self.fill(("forward", "prerouting", "prerouting"))
        rules = [f"{self.maybe(hook)}{self.fill(NFT_GOES_ON)}" for _one in range(self.random.choice((1, 1, 2)))]
        return self.chain("g", f"type filter hook {hook} priority {self.random.choice((-350, -301, -20))};", rules)

    def translating(self) -> list[str]:
        hook = self.fill(("prerouting", "postrouting"))
        rules = [f"{self.maybe(hook)}{self.fill(NFT_NAT[hook])}" for _one in range(self.random.choice((1, 1, 2)))]
        return self.chain("n", f"type nat hook {hook} priority {'-100' if hook == 'prerouting' else '100'};", rules)

    def maybe(self, hook: str) -> str:
        return f"{self.match(hook)} " if self.random.random() < 0.4 else ""

    def match(self, hook: str) -> str:
        return self.fill((*NFT, *NFT_OF[self.version], *(NFT_OUT if hook in ("forward", "postrouting") else ())))


def rules_of(random: Random, only: str) -> dict[str, str]:
    """A random ruleset: text by the tool that loads it."""
    version = random.choice((4, 4, 4, 6))
    mode = only or random.choice(("legacy", "iptables", "iptables", "nft", "nft", "nft"))
    if mode == "nft":
        return {"nft": Nft(random, version).ruleset()}
    tool = f"ip{'6' if version == 6 else ''}tables-{'legacy' if mode == 'legacy' else 'nft'}-restore"
    return {tool: Iptables(random, version).ruleset()}
