# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random rulesets in nft's own language."""

from __future__ import annotations

from random import Random

NETS = {
    4: [
        "10.1.0.5",
        "10.1.0.0/24",
        "10.0.0.0/8",
        "10.2.0.7",
        "10.2.0.0/16",
        "10.2.3.4",
        "10.2.0.7-10.2.0.9",
        "192.0.2.0/24",
    ],
    6: ["fd01::5", "fd01::/64", "fd00::/8", "fd02::7", "fd02::/16", "fd02::3:4", "fd02::7-fd02::9", "2001:db8::/32"],
}
NAMES = ['"br0"', '"wan0"', '"br*"', '"w*"', '"p1"', '"eth0"']
PORTS = ["53", "80", "53-80", "1024-65535", "8472", "{ 53, 80 }", "{ 22, 80-90 }", "@ports"]
PRIORITIES = [-400, -300, -225, -150, -110, -90, -10, -5, 0, 0, 0, 5, 10, 50, 90, 110, 300]
STATES = [
    "new", "established", "established,related", "{ new, established }", "invalid", "invalid,untracked", "untracked",
    "{ established, related }", "!= established", "!= new", "related",
]  # fmt: skip


class Grammar:
    """Writes tables for `nft -f`."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.version = 4

    def no(self, chance: float = 0.25) -> str:
        return "!= " if self.random.random() < chance else ""

    def ruleset(self) -> str:
        families = ["ip", "ip", "ip6", "inet", "inet", "inet", "inet", "bridge"]
        if self.random.random() < 0.03:  # nft 1.0 does not tell which device such a table is for
            families = ["netdev"]
        count = self.random.choice((1, 1, 2, 2, 3))
        return "".join(self.table(self.random.choice(families), f"t{number}") for number in range(count))

    def table(self, family: str, name: str) -> str:
        random = self.random
        self.family = family
        own = [f"c{number}" for number in range(random.randint(0, 3))]
        lines = [f"table {family} {name} {{"]
        if family != "netdev":
            lines += self.sets()
        chains = []
        for number in reversed(range(len(own))):
            chains.append((own[number], "", "", own[number + 1 :]))
        for number in range(random.choice((1, 1, 2, 3))):
            chains.append((f"b{number}", *self.base(family), own))
        bodies = []
        for chain, hook, head, below in chains:
            rules = [self.rule(hook, head, below) for _count in range(random.randint(0, 5))]
            bodies.append(
                [f" chain {chain} {{", *([f"  {head}"] if head else []), *(f"  {rule}" for rule in rules), " }"]
            )
        return "\n".join([*lines, *(line for body in bodies for line in body), "}", ""])

    def base(self, family: str) -> tuple[str, str]:
        random = self.random
        policy = "drop" if random.random() < 0.3 else "accept"
        if family == "netdev":
            device = random.choice(("wan0", "br0"))
            return "ingress", f"type filter hook ingress device {device} priority 0; policy {policy};"
        hook = random.choice(("prerouting", "forward", "forward", "forward", "forward", "postrouting", "input"))
        if family in ("ip", "ip6", "inet") and hook in ("prerouting", "postrouting") and random.random() < 0.5:
            priority = random.choice((-100, -90) if hook == "prerouting" else (100, 90))
            return hook, f"type nat hook {hook} priority {priority}; policy accept;"
        return hook, f"type filter hook {hook} priority {random.choice(PRIORITIES)}; policy {policy};"

    def sets(self) -> list[str]:
        inner = "ip6" if self.family == "ip6" else "ip"
        nets = [net for net in NETS[6 if inner == "ip6" else 4] if "/8" not in net and "/16" not in net]
        kind = f"ipv{'6' if inner == 'ip6' else '4'}_addr"
        self.inner = inner
        random = self.random
        first = nets[0] if random.random() < 0.5 else nets[5]
        elements = [" elements = { " + one + " }" for one in (
            ", ".join(random.sample([nets[1], nets[3], nets[4]], 2)), "53, 80-90",
            f"{first} . 80 : {random.choice(('accept', 'drop', 'return'))}, {nets[3]} . 53 : continue",
            f"{nets[0]}, {nets[2]}",
        )]  # fmt: skip
        return [
            f" set nets {{ type {kind}; flags interval;{elements[0]} }}",
            f" set ports {{ type inet_service; flags interval;{elements[1]} }}",
            f" map pairs {{ type {kind} . inet_service : verdict; flags interval;{elements[2]} }}",
            f" set hosts {{ type {kind};{elements[3]} }}",
            f" set seen {{ type {kind}; flags dynamic; size 1000; }}",
        ]

    def rule(self, hook: str, head: str, below: list[str]) -> str:
        random = self.random
        self.version = {"ip": 4, "ip6": 6}.get(self.family, random.choice((4, 4, 6)))
        parts = [self.match(hook) for _count in range(random.choice((0, 1, 1, 1, 2, 2)))]
        if random.random() < 0.15:
            parts.append("counter")
        parts.append(self.verdict(hook, head, below, parts))
        if random.random() < 0.1:
            parts.append('comment "drop -j DROP"')
        return " ".join(part for part in parts if part)

    def match(self, hook: str) -> str:
        random, version = self.random, self.version
        ip = "ip" if version == 4 else "ip6"
        nets = NETS[version]
        some = ", ".join(random.sample([nets[0], nets[3], nets[5]], 2))
        protocol = random.choice(("tcp", "udp"))
        port = random.choice(PORTS if self.family != "netdev" else PORTS[:-1])
        found = [
            f"{ip} {random.choice(('saddr', 'daddr'))} {self.no()}{random.choice(nets)}",
            f"{ip} {random.choice(('saddr', 'daddr'))} {self.no()}{random.choice(nets)}",
            f"{ip} {random.choice(('saddr', 'daddr'))} {self.no()}{{ {some} }}",
            f"{protocol} {random.choice(('dport', 'dport', 'sport'))} {self.no()}{port}",
            f"{protocol} {random.choice(('dport', 'dport', 'sport'))} {self.no()}{port}",
            f"meta l4proto {self.no()}{random.choice(('tcp', 'udp', '{ tcp, udp }', 'icmp', 'ipv6-icmp'))}",
            f"meta l4proto {{ tcp, udp }} th dport {self.no()}{random.choice(('53', '80'))}",
            f"meta mark {self.no()}{random.choice(('0x0', '0x1', '0x1-0x5', '{ 0x0, 0x2 }'))}",
            f"meta mark & 0x{random.choice(('1', '3', '4000'))} == {random.choice(('0x1', '0x0'))}",
            f"tcp flags {random.choice(('syn', 'ack', '& (syn|ack) == syn', '& (fin|syn|rst|ack) == syn', '!= syn'))}",
            random.choice(UNKNOWN) if random.random() < 0.3 else "counter",
            f"{ip} {'protocol' if version == 4 else 'nexthdr'} {self.no()}{random.choice(('tcp', 'udp'))}",
            "icmp type echo-request" if version == 4 else "icmpv6 type { echo-request, echo-reply }",
            "ip frag-off & 0x1fff != 0" if version == 4 else "",
            f"iifname {self.no()}{random.choice(NAMES)}",
            f"iifname {self.no()}{{ {random.choice(NAMES[:2])}, {random.choice(NAMES[4:])} }}",
        ]
        if self.family != "netdev":
            found += [
                f"{self.inner} {random.choice(('saddr', 'daddr'))} {self.no()}@{random.choice(('nets', 'hosts'))}",
                f"oifname {self.no()}{random.choice(NAMES)}", f"oifname {self.no()}{random.choice(NAMES)}",
                f"oif {self.no()}{random.choice(NAMES[:2])}",
                f"iif {self.no()}{random.choice(NAMES[:2])}",
            ]  # fmt: skip
        if self.family in ("ip", "ip6", "inet"):
            found += [f"ct state {random.choice(STATES)}"] * 4
            found += [
                f"ct mark {self.no()}{random.choice(('0x0', '0x1'))}",
                f"ct direction {random.choice(('original', 'reply'))}",
                "ct status dnat", f"ct original {ip} daddr {self.no()}{random.choice(nets[:5])}",
                "meta pkttype host", f"meta nfproto {random.choice(('ipv4', 'ipv6'))}",
            ]  # fmt: skip
        if self.family in ("ip", "inet") and hook in ("prerouting", "forward", "input"):
            found += [f"fib daddr type {self.no()}{random.choice(('local', 'unicast', '{ local, broadcast }'))}"]
        if self.family in ("ip", "ip6", "inet") and hook == "prerouting":
            found += [f"fib saddr . iif oif {random.choice(('missing', 'exists'))}", "fib saddr oif missing"]
        return random.choice([one for one in found if one])

    def verdict(self, hook: str, head: str, below: list[str], parts: list[str]) -> str:
        random = self.random
        if "type nat" in head:
            return self.translation(hook)
        if below and random.random() < 0.3:
            return f"{random.choice(('jump', 'jump', 'goto'))} {random.choice(below)}"
        found = ["accept", "accept", "accept", "drop", "drop", "return", "continue", "", *self.maps(below)]
        if self.family in ("ip", "ip6", "inet"):
            found += [
                "meta mark set 0x1", "meta mark set meta mark or 0x2", "ct mark set meta mark", "meta mark set ct mark",
                "ct mark set 0x1 accept", "meta mark set 0x1 accept",
            ]  # fmt: skip
            if hook in ("forward", "input") and "type filter" in head:
                found += [
                    "reject",
                    "reject with tcp reset" if not any("udp" in p or "icmp" in p for p in parts) else "reject",
                ]
            if hook == "prerouting" and "priority -3" in head:
                found += ["notrack"] * 3
        return random.choice(found)

    def maps(self, below: list[str]) -> list[str]:
        """Verdict maps over what the packet is."""
        random = self.random
        if self.family == "netdev":
            return []
        ip, nets = self.inner, NETS[6 if self.inner == "ip6" else 4]
        ends = ["accept", "drop", "return", "continue", *(f"{random.choice(('jump', 'goto'))} {one}" for one in below)]

        def pick() -> str:
            return random.choice(ends)

        return [
            f"{ip} {random.choice(('saddr', 'daddr'))} vmap {{ {nets[0]} : {pick()}, {nets[3]} : {pick()} }}",
            f"{ip} daddr . tcp dport vmap @pairs",
            f"{ip} saddr . th dport vmap {{ {nets[1]} . 80 : {pick()}, {nets[5]} . 53-60 : {pick()} }}",
            f"meta l4proto vmap {{ tcp : {pick()}, udp : {pick()} }}",
            f"udp dport vmap {{ 53 : {pick()}, 80-90 : {pick()} }}",
            f'iifname vmap {{ "br0" : {pick()}, "wan0" : {pick()} }}',
            *([f"ct state vmap {{ established : {pick()}, invalid : {pick()}, new : {pick()} }}"] * 2
              if self.family != "bridge" else []),
            f"numgen random mod 2 vmap {{ 0 : {pick()}, 1 : {pick()} }}" if random.random() < 0.2 else "accept",
            f"add @seen {{ {ip} saddr }}" if random.random() < 0.3 else "accept",
        ]  # fmt: skip

    def translation(self, hook: str) -> str:
        random, version = self.random, self.version
        family = f"{'ip' if version == 4 else 'ip6'} " if self.family == "inet" else ""
        only = (
            f"meta nfproto {'ipv4' if version == 4 else 'ipv6'} "
            if self.family == "inet" and random.random() < 0.5
            else ""
        )
        if hook == "prerouting":
            target = random.choice(("10.2.0.8", "10.1.0.6") if version == 4 else ("fd02::8", "fd01::6"))
            return random.choice((f"{only}dnat {family}to {target}", "accept", "return", ""))
        own = "10.2.0.1" if version == 4 else "fd02::1"
        return random.choice((f"{only}snat {family}to {own}", "masquerade", "accept", "return", ""))


UNKNOWN = (
    "limit rate 1/hour", "limit rate over 1/hour", "ip ttl < 5", "meta length > 60", "quota over 1 kbytes",
    "ct count over 3", "meta cpu 0", 'meta hour "00:00"-"12:00"', "@th,64,8 0x70", "ip dscp cs1",
    "numgen random mod 2 0",
)  # fmt: skip
