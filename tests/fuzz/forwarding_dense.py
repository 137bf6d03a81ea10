# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random rulesets of another shape: long chains in deep nests, maps of every kind, rules of nft in iptables' tables.

forwarding_iptables.py and forwarding_nft.py draw few rules from a wide grammar; here a packet meets many rules that
differ in one detail each, so that a wrong reading of a detail decides something. A rule is a template whose <words>
are drawn from a table; what a tool refuses is left out (without_refused).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

WORDS = {
    "no": ("", "", "!= "), "not": ("", "", "! "), "end": ("saddr", "daddr"), "port": ("53", "80", "22", "8472"),
    "ports": ("53", "80", "1-79", "80-8471", "30000-65535", "81"), "way": ("dport", "dport", "sport"),
    "l4": ("tcp", "udp", "meta l4proto { tcp, udp } th"), "tcpudp": ("tcp", "udp"),
    "mark": ("0x0", "0x1", "0x2", "0x10"), "bits": ("0x1", "0x3", "0xf", "0x12"), "cmp": ("==", "!=", "<", ">="),
    "state": ("new", "established", "related", "invalid", "untracked"), "link": ("br0", "wan0", '"b*"', '"w*"', "p1"),
    "one": ("br0", "wan0"), "end!": ("accept", "drop", "return", "continue"), "maybe": ("accept", "drop", "", ""),
    # iptables
    "if": ("br0", "wan0", "b+", "wan+", "eth+", "p1"), "word": ("0x1", "0x0/0x1", "0x2/0x2", "0x10/0xf0", "0x0"),
    "xmark": ("0x1/0x3", "0x2/0xffffffff", "0x0/0xf", "0x11/0x0"),
    "STATE": ("NEW", "ESTABLISHED", "RELATED", "INVALID", "UNTRACKED"), "src": ("src", "dst"),
    "span": ("80", "53", ":79", "22:80", "1000:"), "list": ("22,80", "1:52,8472", "53,81:9000"),
    "flags": ("SYN,ACK SYN", "ALL SYN", "SYN,RST SYN", "ACK,PSH ACK,PSH"),
    "text": ("-j DROP", "a b", "--dport 80", "! -i eth0", "it -g x"),
}  # fmt: skip
OF_VERSION = {
    4: {
        "ip": ("ip",), "addr": ("10.1.0.5", "10.1.0.9", "10.1.0.6", "10.2.0.7", "10.2.0.8", "10.2.3.4", "10.1.0.1"),
        "net": ("10.1.0.0/24", "10.2.0.0/24", "10.2.3.0/24", "10.0.0.0/8", "10.1.0.4/30", "10.2.0.8/29"),
        "range": ("10.1.0.5-10.1.0.6", "10.1.0.6-10.1.0.200", "10.2.0.0-10.2.0.7", "10.2.0.8-10.2.3.4"),
        "type": ("ipv4_addr",), "near": ("10.1.0.0/24",), "far": ("10.2.0.0/16",), "own": ("10.2.0.1",),
        "dest": ("10.2.0.8", "10.1.0.6", "10.2.3.4"), "proto": ("protocol",), "icmp": ("icmp",),
    },
    6: {
        "ip": ("ip6",), "addr": ("fd01::5", "fd01::9", "fd01::6", "fd02::7", "fd02::8", "fd02::3:4", "fd01::1"),
        "net": ("fd01::/64", "fd02::/64", "fd02:0:0:1::/64", "fd00::/8", "fd01::4/126", "fd02::8/125", "2001:db8::/32"),
        "range": ("fd01::5-fd01::6", "fd01::6-fd01::200", "fd02::-fd02::7", "fd02::8-fd02::3:4"),
        "type": ("ipv6_addr",), "near": ("fd01::/64",), "far": ("fd02::/16",), "own": ("fd02::1",),
        "dest": ("fd02::8", "fd01::6", "fd02::3:4"), "proto": ("nexthdr",), "icmp": ("icmpv6",),
    },
}  # fmt: skip
SETS = (
    "set hosts { type <type>; elements = { <addr>, <addr> } }",
    "set nets { type <type>; flags interval; auto-merge; elements = { <net>, <addr> } }",
    "set ranges { type <type>; flags interval; elements = { <range> } }",
    "set empty { type inet_service; }",
    "set numbers { type inet_service; elements = { <port>, <port> } }",
    'set links { type ifname; flags interval; elements = { "br*", "eth0" } }',
    "set marks { type mark; elements = { <mark>, <mark> } }",
    "set three { type <type> . inet_proto . inet_service; flags interval; "
    "elements = { <near> . tcp . 1-<port>, <far> . udp . 53 } }",
    "map verdicts { type <type> : verdict; elements = { <near1> : <end!>, <far1> : <end!>, * : continue } }",
    "map tomark { type <type> : mark; flags interval; elements = { <near> : <mark>, <far> : <mark> } }",
    "map todest { type inet_service : <type>; elements = { 80 : <dest>, 53 : <dest> } }",
)
NFT = (
    "<ip> <end> <no><addr>", "<ip> <end> <no><net>", "<ip> <end> <no><range>", "<ip> <end> <no>{ <addr>, <net> }",
    "<ip> <end> <no>@hosts", "<ip> <end> <no>@nets", "<ip> <end> <no>@ranges", "<l4> <way> <no><ports>",
    "<l4> <way> <no>{ <port>, <port>, 100-200 }", "<tcpudp> dport <no>@numbers", "<tcpudp> dport <no>@empty",
    "<ip> saddr . <ip> daddr <no>{ <net> . <net> }", "<ip> <end> . meta l4proto . th dport <no>@three",
    "meta l4proto . th dport <no>{ tcp . 80, udp . 53, tcp . 22 }", "iifname <no>@links", "iifname <no><link>",
    'iifname <no>{ "<one>", "lo" }', "meta mark <no>@marks", "meta mark <no><mark>", "meta mark <no>0x1-0xf",
    "meta mark & <bits> <cmp> <mark>", "ct mark <no><mark>", "ct mark & 0x3 <cmp> <mark>", "ct state <no><state>",
    "ct state <no><state>", "ct state { <state>, <state> }", "ct state <state>,<state>",
    "ct direction <no>original", "ct status dnat", "ct status snat,dnat", "ct original <ip> <end> <no><addr>",
    "tcp flags syn", "tcp flags != syn", "tcp flags & (syn | ack) == ack", "tcp flags & (fin | syn) != syn",
    "tcp flags ack,psh", "meta nfproto <no>ipv4", "meta protocol <no>ip6", "meta l4proto <no><tcpudp>",
    "meta l4proto <no>{ tcp, icmp }", "<icmp> type <no>echo-request", "<icmp> type { echo-reply, echo-request }",
    "<ip> <proto> <no><tcpudp>", "ip <end> & 255.255.0.255 == 10.1.0.5", "ip <end> & 255.255.0.255 != 10.2.0.4",
)  # fmt: skip
NFT_RARE = (
    "limit rate 1/hour", "tcp option maxseg size 1400", "ip ttl 3", "ct bytes > 50", "quota over 1 kbytes",
    "meta cpu 1", "ip length > 90",
)  # fmt: skip
NFT_OUT = ("oifname <no><link>", 'oifname <no>{ "<one>", "eth*" }',
           "iifname . oifname <no>{ br0 . <one>, wan0 . wan0 }",
           "<ip> daddr . oifname <no>{ <addr> . <one> }")  # fmt: skip
FIB = ("fib daddr type <no>local", "fib daddr type <no>unicast", "fib daddr type { local, multicast }")
ACTIONS = (
    "accept", "accept", "drop", "return", "", "meta mark set <mark>", "meta mark set meta mark & 0xfe",
    "meta mark set meta mark | 0x2", "meta mark set meta mark ^ <bits>", "meta mark set meta mark & 0xf0 | 0x1",
    "meta mark set <ip> <end> map @tomark", "meta mark set tcp dport map { 80 : <mark>, 22 : 0x2 } <maybe>",
    "ct mark set <mark>", "ct mark set meta mark", "ct mark set ct mark | 0x2", "ct mark set meta mark & 0x1",
    "meta mark set ct mark <maybe>", "meta mark set ct mark & 0x1", "<ip> <end> vmap @verdicts",
    "tcp dport vmap { 1-79 : <to>, 80 : <to>, 81-9000 : <to> }",
    "ct state vmap { new : <to>, established : <to>, invalid : <to> }",
    "meta l4proto vmap { tcp : <to>, udp : <to>, * : <to> }", "meta l4proto vmap { tcp : <to>, <icmp> : <to> }",
    "<ip> saddr . <ip> daddr vmap { <near> . <far> : <to>, <far> . <near> : <to> }",
    "meta mark vmap { 0x0 : <to>, 0x1-0xf : <to> }", "meta nfproto vmap { ipv4 : <to>, ipv6 : <to> }",
    "iifname vmap { br0 : <to>, wan0 : <to> }", "numgen random mod 2 vmap { 0-1 : <to> }",
    "jhash <ip> saddr mod 2 vmap { 0-1 : <to> }", "ip dscp set cs1 <maybe>",
)  # fmt: skip
ACTIONS_RARE = ("tcp option maxseg size set 1400 <maybe>", "numgen inc mod 2 vmap { 0 : <to>, 1 : <to> }",
                "tcp dport { 22, 80 } jump { <ip> saddr <addr> accept; drop; }")  # fmt: skip
REJECTS = ("reject", "reject with icmpx admin-prohibited", "tcp dport 80 reject with tcp reset")
REWRITES = ("ip daddr set 10.2.0.8", "ip saddr set 10.1.0.9", "tcp dport set 22")
NAT = {
    "prerouting": (
        "dnat <family>to <dest>", "dnat <family>to tcp dport map @todest", "accept", "return", "continue",
        "dnat <family>to numgen inc mod 1 map { 0 : <dest> }", "dnat <family>to <ip> saddr map { <addr> : <dest> }",
    ),
    "postrouting": ("snat <family>to <own>", "masquerade", "accept", "return", "masquerade random", "continue"),
}  # fmt: skip
PRIORITIES = (-350, -300, -160, -150, -140, -20, -1, 0, 0, 0, 0, 0, 1, 20, 100, 250)

XT = (
    "<not>-s <addr>", "<not>-s <net>", "<not>-d <addr>", "<not>-d <net>", "-m iprange <not>--<src>-range <range>",
    "-m mark <not>--mark <word>", "-m connmark <not>--mark <word>", "-m conntrack <not>--ctstate <STATE>,<STATE>",
    "-m conntrack <not>--ctstate <STATE>", "-m conntrack <not>--ctstate DNAT", "-m conntrack <not>--ctstate SNAT",
    "-m conntrack <not>--ctorigdst <addr>", "-m conntrack <not>--ctorigdst <net>",
    "-m conntrack <not>--ctstatus ASSURED", "-m conntrack --ctproto 6 <not>--ctorigdst <addr>",
    '-m comment --comment "<text>"', "-m pkttype <not>--pkt-type unicast", "-m pkttype <not>--pkt-type broadcast",
    "-m addrtype <not>--dst-type LOCAL",
)  # fmt: skip
XT_L4 = ("-m <p> <not>--dport <span>", "-m <p> <not>--sport <span>", "-m multiport <not>--dports <list>",
         "-m multiport <not>--ports <list>")  # fmt: skip
XT_RARE = (
    "-m limit --limit 1/hour", "-m statistic --mode nth --every 2 --packet 0", "-m u32 --u32 0x0>>0x16=0x1",
    "-m length --length 60:100", "-m time --timestart 00:00 --timestop 12:00", "-m string --string DROP --algo bm",
    "-m hashlimit --hashlimit-upto 1/hour --hashlimit-name h --hashlimit-mode srcip",
)  # fmt: skip
FULL = "--nfmask 0xffffffff --ctmask 0xffffffff"
COMMON = ("-j ACCEPT", "-j RETURN", "-j RETURN", "")
TARGETS = {
    "filter": ("-j DROP", "-j DROP", "-j REJECT", "-j ACCEPT", *COMMON),
    "raw": ("-j CT --notrack", "-j CT --notrack", "-j DROP", *COMMON),
    "mangle": (
        "-j MARK --set-xmark <xmark>", "-j MARK --set-xmark <xmark>", "-j CONNMARK --set-xmark <xmark>",
        f"-j CONNMARK --save-mark {FULL}", f"-j CONNMARK --restore-mark {FULL}", "-j DROP", "-j NFLOG",
        "-j CONNMARK --save-mark --nfmask 0x1 --ctmask 0x3", *COMMON,
    ),
    "natPREROUTING": ("-j DNAT --to-destination <dest>", "-j DNAT --to-destination <dest>", *COMMON),
    "natPOSTROUTING": ("-j SNAT --to-source <own>", "-j MASQUERADE", *COMMON),
    "nat": COMMON,
}  # fmt: skip


class Writer:
    """Fills templates."""

    def __init__(self, random: Random, version: int) -> None:
        self.random = random
        self.words: dict[str, Sequence[str]] = {**WORDS, **OF_VERSION[version]}

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def fill(self, templates: Sequence[str], **more: Sequence[str]) -> str:
        words: Mapping[str, Sequence[str]] = {**self.words, **more}
        return re.sub(r"<(\S+?)>", lambda found: self.random.choice(words[found[1]]), self.random.choice(templates))


class Nft(Writer):
    """Tables for `nft -f`."""

    def __init__(self, random: Random) -> None:
        super().__init__(random, 4)
        self.family = "inet"

    def ruleset(self) -> str:
        families = self.random.choices(("inet", "ip", "ip6"), (3, 1, 1), k=self.random.choice((1, 1, 2, 3)))
        return "".join(self.table(family, f"d{number}") for number, family in enumerate(families))

    def shared(self) -> str:
        """Rules of nft for FORWARD of `ip filter`, which iptables-nft made before."""
        self.family = "ip"
        rules = [
            f"{self.match('forward')} {self.fill(('accept', 'drop'))}" for _one in range(self.random.randint(1, 3))
        ]
        return "".join(f"{self.fill(('add', 'insert'))} rule ip filter FORWARD {rule}\n" for rule in rules)

    def table(self, family: str, name: str) -> str:
        self.family = family
        self.words.update(OF_VERSION[6 if family == "ip6" or (family == "inet" and self.chance(0.2)) else 4])
        self.words["family"] = (f"{self.words['ip'][0]} " if family == "inet" else "",)
        hosts = self.words["addr"]
        lines = [f"table {family} {name} {{"]
        lines += [" " + self.fill((one,), near1=hosts[:3], far1=hosts[3:]) for one in SETS]
        user = [f"u{number}" for number in range(self.random.randint(2, 6))]
        for number in reversed(range(len(user))):
            rules = [self.rule("", "", user[number + 1 :]) for _one in range(self.random.randint(1, 5))]
            lines += [f" chain {user[number]} {{", *(f"  {rule}" for rule in rules), " }"]
        for number in range(self.random.randint(1, 4)):
            hook, head = self.base()
            rules = [self.rule(hook, head, user) for _one in range(self.random.randint(2, 8))]
            lines += [f" chain b{number} {{", f"  {head}", *(f"  {rule}" for rule in rules), " }"]
        return "\n".join([*lines, "}", ""])

    def base(self) -> tuple[str, str]:
        hook = self.fill(("prerouting", "forward", "forward", "forward", "postrouting"))
        if hook != "forward" and self.chance(0.35):
            priority = self.fill(("dstnat", "-150", "-90") if hook == "prerouting" else ("srcnat", "50", "150"))
            return hook, f"type nat hook {hook} priority {priority}; policy {'drop' if self.chance(0.1) else 'accept'};"
        policy = "drop" if self.chance(0.25) else "accept"
        return hook, f"type filter hook {hook} priority {self.random.choice(PRIORITIES)}; policy {policy};"

    def rule(self, hook: str, head: str, below: Sequence[str]) -> str:
        parts = [self.match(hook) for _one in range(self.random.choice((0, 1, 1, 1, 2, 2, 3)))]
        if self.chance(0.2):
            parts.insert(self.random.randint(0, len(parts)), self.fill(("counter", 'log prefix "drop "')))
        return " ".join([*parts, self.action(hook, head, below)])

    def match(self, hook: str) -> str:
        if self.chance(0.01):
            return self.fill(NFT_RARE)
        return self.fill((*NFT, *(NFT_OUT * 2 if hook in ("forward", "postrouting") else ()), *(FIB if hook else ())))

    def action(self, hook: str, head: str, below: Sequence[str]) -> str:
        if "type nat" in head:
            return self.fill(NAT[hook])
        entered = [f"{verb} {one}" for verb in ("jump", "goto") for one in below]
        if entered and self.chance(0.3):
            return self.random.choice(entered)
        found = [*ACTIONS, *(ACTIONS_RARE if self.chance(0.05) else ())]
        if hook == "forward":
            # In an inet table nft lists `meta protocol ip6 reject with icmp ...` without its first test.
            found += [*REJECTS, *(["reject with icmp host-unreachable"] if self.family == "ip" else [])]
        if hook == "prerouting":
            found += ["notrack"] * (4 if "priority -3" in head else 0) + list(REWRITES if self.chance(0.1) else ())
        return self.fill(found, to=("accept", "drop", "return", "continue", *entered[:4]))


class Iptables(Writer):
    """Long chains for iptables-restore (version 4) or ip6tables-restore (6)."""

    def __init__(self, random: Random, version: int) -> None:
        super().__init__(random, version)
        self.version = version

    def ruleset(self) -> str:
        shares = (("raw", 0.2), ("mangle", 0.5), ("nat", 0.35), ("filter", 0.95))
        return "".join(self.table(name) for name, share in shares if self.chance(share))

    def table(self, table: str) -> str:
        hooks = {"raw": ("PREROUTING",), "mangle": ("PREROUTING", "FORWARD", "POSTROUTING"),
                 "nat": ("PREROUTING", "POSTROUTING"), "filter": ("FORWARD",)}[table]  # fmt: skip
        user = [f"U{number}" for number in range(self.random.randint(2, 6))]
        most = {"filter": 9, "mangle": 4, "raw": 2, "nat": 3}[table]
        lines = [f"*{table}"]
        for hook in hooks:
            drops = table != "nat" and self.chance(0.35 if table == "filter" else 0.04)
            lines.append(f":{hook} {'DROP' if drops else 'ACCEPT'} [0:0]")
        lines += [f":{chain} - [0:0]" for chain in user]
        for hook in hooks:
            lines += [f"-A {hook} {self.rule(table, hook, user)}" for _one in range(self.random.randint(1, most))]
        for number, chain in enumerate(user):
            rules = range(self.random.randint(1, 4))
            lines += [f"-A {chain} {self.rule(table, '', user[number + 1 :])}" for _one in rules]
        return "\n".join([*lines, "COMMIT", ""])

    def rule(self, table: str, hook: str, below: Sequence[str]) -> str:
        protocol = self.fill(("", "", "", "tcp", "tcp", "udp", "icmp" if self.version == 4 else "ipv6-icmp"))
        known = [*XT, *(XT_L4 * 3 if protocol in ("tcp", "udp") else ()), *(XT_RARE if self.chance(0.03) else ())]
        known += ["<not>-i <if>"] * 2 if hook != "POSTROUTING" else []
        known += ["<not>-o <if>"] * 2 if hook not in ("PREROUTING", "") else []
        known += ["-m tcp <not>--tcp-flags <flags>"] if protocol == "tcp" else []
        known += ["-m icmp <not>--icmp-type 8", "-m icmp --icmp-type 8/1"] if protocol == "icmp" else []
        parts: dict[str, str] = {"-p": f"-p {protocol}"} if protocol else {}
        for _one in range(self.random.choice((0, 1, 1, 2, 2, 3))):
            match = self.fill(known, p=(protocol,))
            # An option of iptables itself may stand once in a rule, a module too.
            words = match.removeprefix("! ").split()
            parts.setdefault(words[1] if words[0] == "-m" else words[0], match)
        ordered = sorted(parts.values(), key=lambda part: part.startswith("-m"))
        return " ".join([*ordered, self.target(table, hook, below)]).strip()

    def target(self, table: str, hook: str, below: Sequence[str]) -> str:
        if below and self.chance(0.4):
            return f"-{self.random.choice('jjg')} {self.random.choice(below)}"
        return self.fill(TARGETS[f"nat{hook}" if table == "nat" else table])


def without_refused(text: str, error: str) -> str:
    """The text without the lines that a tool names in its error; empty where it names none."""
    numbers = {int(number) for number in re.findall(r"(?:/dev/stdin:|occurred at line: )(\d+)", error)}
    lines = text.splitlines()
    kept = [line for number, line in enumerate(lines, 1) if number not in numbers]
    return "\n".join([*kept, ""]) if len(kept) < len(lines) else ""


def rules_of(random: Random, only: str) -> dict[str, str]:
    """A random ruleset: text by the tool that loads it."""
    modes = {"legacy": ("legacy",), "iptables": ("iptables",), "nft": ("nft",)}.get(only) or random.choice(
        (("legacy",), ("iptables",), ("nft",), ("nft",), ("iptables", "shared"), ("iptables", "nft"), ("legacy", "nft"))
    )
    rules: dict[str, str] = {}
    for mode in modes:
        if mode == "nft":
            rules["nft"] = Nft(random).ruleset()
        elif mode == "shared":
            if "*filter" in rules.get("iptables-nft-restore", ""):
                rules["nft"] = Nft(random).shared()
        else:
            tool = "legacy" if mode == "legacy" else "nft"
            for version in (4,) if "shared" in modes else random.choice(((4,), (4,), (6,), (4, 6))):
                text = Iptables(random, version).ruleset()
                if text:
                    rules[f"ip{'6' if version == 6 else ''}tables-{tool}-restore"] = text
    return rules
