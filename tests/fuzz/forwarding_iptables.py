# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random rulesets in the language of iptables-restore."""

from __future__ import annotations

from random import Random

NETS = {
    4: ["10.1.0.5/32", "10.1.0.0/24", "10.0.0.0/8", "10.2.0.7/32", "10.2.0.0/16", "10.2.3.4/32", "10.1.0.1/32",
        "10.1.0.4/255.255.255.6", "192.0.2.0/24"],
    6: ["fd01::5/128", "fd01::/64", "fd00::/8", "fd02::7/128", "fd02::/16", "fd02::3:4/128", "2001:db8::/32"],
}  # fmt: skip
RANGES = {
    4: ["10.1.0.2-10.1.0.7", "10.2.0.7-10.2.0.7", "10.2.0.0-10.2.9.9"],
    6: ["fd01::2-fd01::7", "fd02::7-fd02::8"],
}
NAMES = ["br0", "wan0", "br+", "w+", "p1", "eth0", "b+"]
PORTS = ["53", "80", "53:80", "1024:65535", ":79", "8472"]
HOOKS = {
    "raw": ["PREROUTING"],
    "mangle": ["PREROUTING", "FORWARD", "POSTROUTING", "INPUT"],
    "nat": ["PREROUTING", "POSTROUTING"],
    "filter": ["FORWARD", "INPUT"],
}


class Grammar:
    """Writes one ruleset for iptables-restore (version 4) or ip6tables-restore (6)."""

    def __init__(self, random: Random, version: int, backend: str) -> None:
        self.random, self.version, self.backend = random, version, backend

    def no(self, chance: float = 0.25) -> str:
        return "! " if self.random.random() < chance else ""

    def ruleset(self) -> str:
        tables = [name for name, chance in (("raw", 0.15), ("mangle", 0.35), ("nat", 0.3), ("filter", 0.95))
                  if self.random.random() < chance]  # fmt: skip
        return "".join(self.table(name) for name in tables)

    def table(self, table: str) -> str:
        random = self.random
        own = [f"C{number}" for number in range(random.randint(0, 3))]
        lines = [f"*{table}"]
        for hook in HOOKS[table]:
            drops = table != "nat" and random.random() < (0.3 if table == "filter" else 0.06)
            lines.append(f":{hook} {'DROP' if drops else 'ACCEPT'} [0:0]")
        lines += [f":{chain} - [0:0]" for chain in own]
        for hook in HOOKS[table]:
            lines += self.chain(table, hook, hook, own)
        for number, chain in enumerate(own):
            lines += self.chain(table, chain, "", own[number + 1 :])
        return "\n".join([*lines, "COMMIT", ""])

    def chain(self, table: str, chain: str, hook: str, below: list[str]) -> list[str]:
        most = {"filter": 5, "mangle": 3, "raw": 2, "nat": 2}[table]
        return [f"-A {chain} {self.rule(table, hook, below)}" for _count in range(self.random.randint(0, most))]

    def rule(self, table: str, hook: str, below: list[str]) -> str:
        random = self.random
        parts: list[str] = []
        protocol = self.protocol(parts)
        for _count in range(random.choice((0, 0, 1, 1, 1, 2, 2))):
            match = random.choice(self.matches(table, hook, protocol))
            if _option(match) not in {_option(part) for part in parts}:
                parts.append(match)
        parts.sort(key=lambda part: part.startswith("-m"))
        target = self.target(table, hook, below, protocol)
        return " ".join(part for part in [*parts, target] if part)

    def protocol(self, parts: list[str]) -> str:
        random = self.random
        if random.random() < 0.6:
            return ""
        icmp = "icmp" if self.version == 4 else "ipv6-icmp"
        protocol = random.choice(("tcp", "udp", "tcp", "udp", icmp))
        if protocol != icmp and random.random() < 0.2:
            parts.append(f"! -p {protocol}")
            return ""
        parts.append(f"-p {protocol}")
        return protocol

    def matches(self, table: str, hook: str, protocol: str) -> list[str]:
        random, version = self.random, self.version
        nets, ranges = NETS[version], RANGES[version]
        found = [
            f"{self.no()}-s {random.choice(nets)}", f"{self.no()}-d {random.choice(nets)}",
            f"{self.no()}-s {random.choice(nets)}", f"{self.no()}-d {random.choice(nets)}",
            f"-m iprange {self.no()}--{random.choice(('src', 'dst'))}-range {random.choice(ranges)}",
            f"-m mark {self.no()}--mark {random.choice(('0x0', '0x1', '0x4000/0x4000', '0x1/0x3', '0x2'))}",
            f"-m connmark {self.no()}--mark {random.choice(('0x0', '0x1', '0x1/0x1'))}",
            f"-m conntrack {self.no()}--ctstate {self.states()}", f"-m conntrack {self.no()}--ctstate {self.states()}",
            f"-m state {self.no()}--state {random.choice(('NEW', 'RELATED,ESTABLISHED', 'INVALID'))}",
            f"-m conntrack {self.no(0.1)}--ctstate {self.states()} --ctdir {random.choice(('ORIGINAL', 'REPLY'))}",
            f"-m conntrack {self.no()}--ctproto {random.choice((6, 17))}",
            f"-m conntrack {self.no()}--ctorigdst {random.choice(nets)}",
            f"-m comment --comment {random.choice(COMMENTS)}",
            f"-m physdev {self.no()}--physdev-{random.choice(('is-in', 'is-bridged', 'is-in', 'in p1', 'in p+'))}",
            "-m pkttype --pkt-type unicast",
        ]  # fmt: skip
        if version == 4:
            kinds = random.choice(("LOCAL", "UNICAST", "BROADCAST", "MULTICAST", "LOCAL,BROADCAST", "UNICAST,LOCAL"))
            found.append(f"-m addrtype {self.no()}--{random.choice(('src', 'dst', 'dst'))}-type {kinds}")
            found.append("-m rpfilter" + random.choice(("", " --loose", " --invert")) if hook == "PREROUTING" else "")
            found.append(f"{self.no()}-f")
        else:
            found.append(f"-m addrtype {self.no()}--{random.choice(('src', 'dst'))}-type LOCAL")
        if hook not in ("POSTROUTING",):
            found += [f"{self.no()}-i {random.choice(NAMES)}"] * 2
        if hook not in ("PREROUTING", "INPUT"):
            found += [f"{self.no()}-o {random.choice(NAMES)}"] * 2
        if protocol in ("tcp", "udp"):
            found += [
                f"-m {protocol} {self.no()}--{random.choice(('dport', 'dport', 'sport'))} {random.choice(PORTS)}"
            ] * 3
            listed = random.choice(("53,80", "22,80:90,8472", "1:52,54:79", "40000:50000"))
            found.append(f"-m multiport {self.no()}--{random.choice(('dports', 'sports', 'ports'))} {listed}")
        if protocol == "tcp":
            flags = random.choice(("FIN,SYN,RST,ACK SYN", "SYN SYN", "ACK ACK", "ALL NONE", "SYN,ACK SYN"))
            found.append(f"-m tcp {self.no()}--tcp-flags {flags}")
        if protocol == "icmp":
            found += [f"-m icmp {self.no()}--icmp-type {random.choice(('8', '0', '8/0', '3/1', 'any'))}"]
        if protocol == "ipv6-icmp":
            found += [f"-m icmp6 {self.no()}--icmpv6-type {random.choice(('128', '129', '128/0'))}"]
        if random.random() < 0.10:
            found = [random.choice(UNKNOWN if version == 4 else UNKNOWN[:-2])]
        return [one for one in found if one]

    def states(self) -> str:
        return self.random.choice(
            ("NEW", "ESTABLISHED", "RELATED,ESTABLISHED", "INVALID", "NEW,INVALID", "UNTRACKED", "DNAT",
             "INVALID,UNTRACKED", "RELATED,ESTABLISHED,DNAT", "SNAT")
        )  # fmt: skip

    def target(self, table: str, hook: str, below: list[str], protocol: str) -> str:
        random = self.random
        if below and random.random() < 0.3:
            return f"-{random.choice('jjg')} {random.choice(below)}"
        if table == "nat":
            return self.translation(hook, protocol)
        common = ["-j ACCEPT", "-j ACCEPT", "-j ACCEPT", "-j DROP", "-j DROP", "-j RETURN", "-j NFLOG", ""]
        words = random.choice(("0x1/0xffffffff", "0x4000/0x4000", "0x0/0x1", "0x3/0x0", "0x2/0xff"))
        marks = [
            f"-j MARK --set-xmark {words}",
            "-j CONNMARK --save-mark --nfmask 0xffffffff --ctmask 0xffffffff",
            "-j CONNMARK --restore-mark --nfmask 0xffffffff --ctmask 0xffffffff",
            "-j CONNMARK --set-xmark 0x1/0x1",
        ]
        if table == "filter":
            return random.choice([*common, "-j REJECT", "-j REJECT"])
        if table == "mangle":
            return random.choice([*common[:3], "-j RETURN", *marks, *marks, "-j DROP"])
        return random.choice(["-j CT --notrack", "-j CT --notrack", "-j ACCEPT", "-j DROP", "-j RETURN"])

    def translation(self, hook: str, protocol: str) -> str:
        random = self.random
        if hook == "PREROUTING":
            target = random.choice(
                ("10.2.0.8", "10.1.0.6", "10.2.3.4") if self.version == 4 else ("fd02::8", "fd01::6")
            )
            if protocol in ("tcp", "udp") and random.random() < 0.5:
                target = f"{target}:8080" if self.version == 4 else f"[{target}]:8080"
            return random.choice((f"-j DNAT --to-destination {target}", "-j ACCEPT", "-j RETURN"))
        if hook == "POSTROUTING":
            own = "10.2.0.1" if self.version == 4 else "fd02::1"
            return random.choice((f"-j SNAT --to-source {own}", "-j MASQUERADE", "-j ACCEPT", "-j RETURN"))
        return random.choice(("-j ACCEPT", "-j RETURN", ""))


def _option(match: str) -> str:
    """What may stand in a rule once only: -i, -o, -s, -d, -f; the rest differ by their text."""
    words = match.removeprefix("! ").split(" ")
    return words[0] if words[0] in ("-i", "-o", "-s", "-d", "-f") else match


COMMENTS = ('"-j DROP"', '"drop everything"', '"a \\" -j DROP"', "-j", '"! -s 10.0.0.0/8 -j REJECT"', "plain", '"!"')
UNKNOWN = (
    "-m limit --limit 1/hour --limit-burst 1", "-m statistic --mode random --probability 0.5",
    "-m length --length 0:60", "-m recent --rcheck --name x", "-m connlimit --connlimit-above 3",
    "-m ttl --ttl-lt 5", "-m u32 --u32 0>>22=1",
)  # fmt: skip
