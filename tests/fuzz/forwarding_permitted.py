# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody denies stays denied: random rulesets, mended by `permitted`, and asked again.

./dev fuzz forwarding_permitted [--count N] [--seed S]

A random ruleset gets denies with the comment "denied" at random places: pairs, small networks, sets, protocols, ports,
marks. What they drop is found by taking every other drop out of the text. Then `permitted` runs in the namespace with
the commands it has on a host. A packet that was dropped, is denied, and is accepted afterwards is a failure; so are
pods that are cut off after a run that says it mended, and rules that are left after `absent`.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import forwarding
import forwarding_dense
from forwarding_net import Net

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import boot
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import Accepts, accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.change import ChangeError, Tools
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.host import Host
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import judge, worst
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, Ruleset, walk

ACCEPTS = accepts_of(["10.0.0.0/14"], [])
NAMES = (("br0", "cni0"), ("wan0", "tun0"), ('"b*"', '"c*"'), ('"w*"', '"t*"'), ("wan+", "tun+"), ("br+", "cni+"),
         ("w+", "t+"), ("b+", "c+"))  # fmt: skip
PODS = ("10.1.0.5", "10.1.0.6", "10.1.0.9", "10.1.0.77")
OTHERS = ("10.2.0.7", "10.2.0.8", "10.2.3.4", "10.2.0.99", "10.3.0.2")
KINDS: tuple[dict[str, Any], ...] = (
    {"protocol": "tcp", "destination_port": 80}, {"protocol": "tcp", "destination_port": 22},
    {"protocol": "udp", "destination_port": 53}, {"protocol": "udp", "destination_port": 8472}, {"protocol": "icmp"},
)  # fmt: skip
DENIES = {
    "iptables": (
        "-s <pod> -d <other>", "-d <other>", "-s <pod>", "-s 10.1.0.4/30", "-d 10.2.0.0/29", "-s 10.2.3.0/24",
        "-d 10.1.0.0/24", "-m iprange --src-range 10.1.0.2-10.1.0.8", "-p icmp", "-p udp", "-p tcp",
        "-p tcp -m tcp --dport 22", "-p udp -m multiport --dports 53,8472", "-s <pod> -p udp -m udp --dport 53",
        "-m mark --mark 0x5", "! -s 10.1.0.0/24 -d <pod>", "-i cni0 ! -d 10.0.0.0/14",
    ),
    "nft": (
        "ip saddr <pod> ip daddr <other>", "ip daddr <other>", "ip saddr <pod>", "ip saddr 10.1.0.4/30",
        "ip saddr { <pod>, <pod>, 10.2.3.0/24 }", "ip daddr 10.2.0.0-10.2.0.8",
        "ip saddr . ip daddr { <pod> . <other> }",
        "meta l4proto icmp", "meta l4proto udp", "tcp dport 22", "udp dport { 53, 8472 }", "meta mark 0x5",
        "ip saddr <pod> udp dport 53", "ip daddr != 10.1.0.0/24 ip saddr <pod>",
    ),
}  # fmt: skip
_WORD = {"pod": PODS, "other": OTHERS}


def fill(random: Random, template: str) -> str:
    return re.sub(r"<(\w+)>", lambda found: random.choice(_WORD[found[1]]), template)


def plain(random: Random, _only: str = "") -> dict[str, str]:
    """What hosts have: some accepts, and a policy or a last word that drops the rest, somewhere."""
    harmless = (
        "-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT", "-i lo -j ACCEPT", "-s 192.0.2.0/24 -j ACCEPT",
        "-p tcp -m tcp --dport 22 -j ACCEPT", "-i eth0 -j MINE", "-j MINE", "-m conntrack --ctstate INVALID -j DROP",
    )  # fmt: skip
    rules = [f"-A FORWARD {one}" for one in random.sample(harmless, random.randint(0, 4))]
    closes = random.choice(("policy", "policy", "reject", "chain"))
    if closes != "policy":
        last = "-A FORWARD -j REJECT" if closes == "reject" else "-A FORWARD -j LAST"
        rules.insert(random.choice((0, len(rules), len(rules))), last)
    rules += [f"-A MINE {random.choice(harmless[:4])}", "-A LAST -j LOG", "-A LAST -j DROP"]
    filters = [
        "*filter",
        f":FORWARD {'DROP' if closes == 'policy' else 'ACCEPT'} [0:0]",
        ":MINE - [0:0]",
        ":LAST - [0:0]",
    ]
    marks = "*mangle\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -s 10.1.0.4/30 -j MARK --set-xmark 0x5\nCOMMIT\n"
    text = marks + "\n".join([*filters, *rules, "COMMIT", ""])
    return {f"iptables-{random.choice(('nft', 'legacy'))}-restore": text}


def with_denies(random: Random, tool: str, text: str) -> str:
    """The text with some denies in it, at random places of chains that have rules, and a mark that some speak of."""
    lines, language = text.splitlines(), "nft" if tool == "nft" else "iptables"
    if language == "iptables":
        places = [n for n, line in enumerate(lines) if _table_at(lines, n) == "filter" and line.startswith("-A ")]
        places += [n for n, line in enumerate(lines) if line == "COMMIT" and _table_at(lines, n) == "filter"] * 2
    else:
        places = [n for n, line in enumerate(lines) if line.startswith("  ") and "type " not in line]
        places += [n for n, line in enumerate(lines) if line == " }" and "hook forward" in _chain_at(lines, n)] * 2
    for _one in range(random.choice((1, 1, 2, 3)) if places else 0):
        place, deny = random.choice(places), fill(random, random.choice(DENIES[language]))
        if language == "nft":
            lines[place] = f'  {deny} drop comment "denied"\n{lines[place]}'
            continue
        chain = lines[place].split()[1] if lines[place].startswith("-A ") else "FORWARD"
        lines[place] = f'-A {chain} {deny} -m comment --comment "denied" -j DROP\n{lines[place]}'
    return "\n".join([*lines, ""])


def _table_at(lines: list[str], number: int) -> str:
    return next((line[1:] for line in reversed(lines[:number]) if line.startswith("*")), "")


def _chain_at(lines: list[str], number: int) -> str:
    return next((line for line in reversed(lines[:number]) if "type " in line or " chain " in line), "")


def only_denies(tool: str, text: str) -> str:
    """The text in which nothing else drops."""
    kept = []
    for line in text.splitlines():
        if "denied" in line:
            kept.append(line)
        elif tool == "nft":
            kept.append(
                re.sub(r"\breject( with [a-z]+ [a-z-]+)?|\bdrop\b", "continue", line.replace("policy drop", ""))
            )
        else:
            line = re.sub(r"-j (DROP|REJECT).*", "-j NFLOG", line)
            kept.append(re.sub(r"^(:\S+) DROP", r"\1 ACCEPT", line))
    return "\n".join([*kept, ""])


class Inside(Host):
    """The module's host, in the router's namespace."""

    def __init__(self, router: forwarding.Router) -> None:
        self.router = router
        super().__init__(Tools(self._run), apply=True)

    def _run(self, argv: list[str]) -> tuple[int, str, str]:
        if argv[0] == "systemctl":
            return 0, "", ""
        try:
            return 0, self.router.net.inside("router", *argv), ""
        except RuntimeError as error:
            return 1, "", str(error)

    def look(self, accepts: Accepts) -> None:
        self.node = self.router.evidence()
        self.rules = Ruleset.from_evidence(self.node)
        self.judged = judge(self.node, accepts)


def packets() -> list[dict[str, Any]]:
    found = []
    for pod in PODS:
        for other in OTHERS:
            for kind in KINDS:
                found.append({"in": "cni0", "out": "tun0", "source": pod, "destination": other, **kind})
                found.append({"in": "tun0", "out": "cni0", "source": other, "destination": pod, **kind})
    return found


def verdicts(evidence: dict[str, Any], asked: list[dict[str, Any]]) -> list[Any]:
    rules = Ruleset.from_evidence(evidence)
    return [walk(rules, packet, FORWARD) for packet in asked]


def one(router: forwarding.Router, random: Random, tally: Counter[str], say: Callable[[str], None]) -> bool:
    """One ruleset; False where something denied was opened, or a mending did not hold what it said."""
    draw = random.choice((plain, plain, plain, forwarding.rules_of, forwarding_dense.rules_of))
    rules: dict[str, str] = {}
    while not rules:
        router.clear()
        rules = {}
        for tool, text in draw(random, "").items():
            for old, new in NAMES:
                text = text.replace(old, new)
            rules[tool] = text if tool.startswith("ip6") else with_denies(random, tool, text)
        rules = loaded(router, rules)
    asked = packets()
    router.clear()
    router.load({tool: only_denies(tool, text) for tool, text in rules.items()})
    denied = [one.verdict == "drop" and "denied" in one.by.rule for one in verdicts(router.evidence(), asked)]
    router.clear()
    router.load(rules)
    before = verdicts(router.evidence(), asked)
    listed = router.net.inside("router", "nft", "-s", "list", "ruleset")
    host = Inside(router)
    host.look(ACCEPTS)
    was = worst(host.judged)
    try:
        host.permit(ACCEPTS)
    except ChangeError as error:
        say(f"a command failed: {error}")
        return False
    now = worst(host.judged)
    kind = "nothing to mend" if was != "drop" else "refused" if not host.changed else "mended"
    tally[kind] += 1
    good = True
    if kind == "mended" and now == "drop":
        good = False
        say(f"mended, but {next(one for one in host.judged if one.verdict.verdict == 'drop')}")
    if kind != "mended":
        return good
    for packet, deny, old, new in zip(asked, denied, before, verdicts(host.node, asked)):
        tally["denied"] += deny
        if deny and old.verdict == "drop" and new.verdict != "drop":
            good = False
            say("\n".join(rules.values()))
            say(f"opened: {packet}, which was dropped by {old.by}, is now {new.verdict} by {new.by}")
            break
    Inside(router).take_back()
    if router.net.inside("router", "nft", "-s", "list", "ruleset") != listed:
        good = False
        say("absent did not leave the rules as they were")
    return good


def loaded(router: forwarding.Router, rules: dict[str, str]) -> dict[str, str]:
    """The rules as the tools take them; empty where one takes nothing of its text."""
    while True:
        router.clear()
        try:
            router.load(rules)
            return rules
        except forwarding.Refused as error:
            left = forwarding_dense.without_refused(rules[error.tool], str(error))
            if not left:
                return {}
            rules = {**rules, error.tool: left}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first ruleset")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    print(f"seed {seed}, {options.count} rulesets", flush=True)
    tally: Counter[str] = Counter()
    failed = 0
    own = {"cni0": ("10.1.0.1/24", "fd01::1/64"), "tun0": ("10.2.0.1/24", "fd02::1/64")}
    with tempfile.TemporaryDirectory() as folder, Net("cni0", "tun0", own=own) as net:
        for name in ("STATE_PATH", "SCRIPT_PATH", "UNIT_PATH"):
            setattr(boot, name, str(pathlib.Path(folder) / "etc" / name.lower()))
        router = forwarding.Router(net)
        for number in range(options.first, options.first + options.count):

            def say(text: str, name: str = f"{seed}/{number}") -> None:
                print(f"--- {name}: {text}", flush=True)

            if not one(router, Random(f"{seed}/{number}"), tally, say):
                failed += 1
    print(", ".join(f"{count} {kind}" for kind, count in sorted(tally.items())))
    print(f"{options.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
