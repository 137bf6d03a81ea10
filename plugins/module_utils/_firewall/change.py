# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands that carry a remedy out, and those that take it back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from typing import Callable

from .accepts import Accepts
from .remedy import CHAINS, Jump

RunCommand = Callable[..., "tuple[int, str, str]"]
STATE_COMMANDS = {"firewalld": ("firewall-cmd", "--state"), "ufw": ("ufw", "status")}
COMMENT = "podnet.kubeadm"


class ChangeError(Exception):
    """A command of a firewall failed; the text says which, and what it said."""


class Tools:
    """Runs the firewalls' commands. `run`: AnsibleModule.run_command."""

    def __init__(self, run: RunCommand) -> None:
        self._run = run

    def run(self, *argv: str) -> str:
        code, out, err = self._run(list(argv))
        if code:
            raise ChangeError(f"`{' '.join(argv)}` failed: {(err or out).strip()}")
        return out

    def try_run(self, *argv: str) -> bool:
        return self._run(list(argv))[0] == 0


def is_there(command: str) -> bool:
    return shutil.which(command, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin") is not None


def runs(tools: Tools, firewall: str) -> bool:
    """Whether a firewall is there to be told something."""
    command = STATE_COMMANDS[firewall]
    if not is_there(command[0]):
        return False
    try:
        said = tools.run(*command)
    except ChangeError:
        # One that runs and does not answer is told all the same, and its own words say why it cannot be.
        return tools.try_run("systemctl", "is-active", "-q", firewall)
    return firewall != "ufw" or "Status: active" in said


def iptables(jump: Jump) -> str:
    return f"{'iptables' if jump.family == 'ip' else 'ip6tables'}-{jump.backend}"


def accept_words(accepts: Accepts, hook: str, version: int) -> list[list[str]]:
    """The rules of our chain in the language of iptables."""
    if hook == "forward":
        return [[end, cidr, "-j", "ACCEPT"] for cidr in accepts.cidrs_of(version) for end in ("-s", "-d")]
    return [
        ["-p", port.protocol, "-s", port.source, "-m", port.protocol, "--dport", port.ports(":"), "-j", "ACCEPT"]
        for port in accepts.ports_of(version)
    ]


def accept_nft(accepts: Accepts, hook: str, family: str) -> list[str]:
    """The rules of our chain in the language of nft."""
    found = []
    for version in {"ip": (4,), "ip6": (6,)}.get(family, (4, 6)):
        ip = "ip" if version == 4 else "ip6"
        if hook == "forward":
            found += [f"{ip} {end} {cidr} accept" for cidr in accepts.cidrs_of(version) for end in ("saddr", "daddr")]
        else:
            found += [
                f"{ip} saddr {port.source} {port.protocol} dport {port.ports('-')} accept"
                for port in accepts.ports_of(version)
            ]
    return found


def place_key(jump: Jump) -> tuple[str, ...]:
    """What our chain is entered in: once, wherever in it."""
    return (jump.hook, jump.backend, jump.family, jump.table, jump.chain)


def nth_of(rules: Sequence[str], before: str, nth: int) -> int:
    """Index of the nth of the rules that read like `before`, else of the last of them, else the end."""
    found = [number for number, rule in enumerate(rules) if before and rule == before]
    return found[min(nth, len(found)) - 1] if found else len(rules)


def rules_of(tools: Tools, jump: Jump) -> list[tuple[str, int]]:
    """(text, handle, or number from 1 for iptables) of the rules in a chain, as the host's tools list them."""
    if jump.native:
        return nft_rules(tools.run("nft", "-s", "-a", "list", "chain", jump.family, jump.table, jump.chain))
    listing = tools.run(*_base(jump), "-S", jump.chain).splitlines()
    return [(line, number) for number, line in enumerate((x for x in listing if x.startswith("-A ")), 1)]


def located(tools: Tools, jump: Jump, number: int | None) -> Jump:
    """The jump in the words of the host's tools. number: index of the rule before which it comes, None: the end."""
    before, nth = "", 1
    if number is not None:
        texts = [text for text, _handle in rules_of(tools, jump)]
        before = texts[number] if number < len(texts) else jump.before
        nth = max(1, texts[: number + 1].count(before))
    return replace(jump, before=before, handle=None, nth=nth)


def comes_before(tools: Tools, jump: Jump) -> bool:
    """Whether our chain is entered already, before the place of the jump."""
    texts = [text for text, _handle in rules_of(tools, jump)]
    place = nth_of(texts, jump.before, jump.nth)
    return _own(jump) in texts[:place]


def _own(jump: Jump) -> str:
    chain = CHAINS[jump.hook]
    return f"jump {chain}" if jump.native else f"-A {jump.chain} -j {chain}"


def _base(jump: Jump) -> tuple[str, ...]:
    return (iptables(jump), "-w", "5", "-t", jump.table)


def has_place(tools: Tools, jump: Jump) -> bool:
    """Whether the chain that a jump is entered in exists."""
    if jump.native:
        return tools.try_run("nft", "list", "chain", jump.family, jump.table, jump.chain)
    return tools.try_run(iptables(jump), "-w", "5", "-t", jump.table, "-S", jump.chain)


def add_jump(tools: Tools, jump: Jump, accepts: Accepts, move: bool) -> None:
    """Makes our chain and enters it. move: also where it is entered already, but only after the place of the jump."""
    if jump.native:
        _fill_native(tools, jump, accepts)
    else:
        _fill_iptables(tools, jump, accepts)
    rules = rules_of(tools, jump)
    texts, own = [text for text, _handle in rules], _own(jump)
    if own in texts and not move:
        return
    place = nth_of(texts, jump.before, jump.nth)
    if own in texts[:place]:
        return
    chain = CHAINS[jump.hook]
    # Entered at the new place first: between the two nothing is dropped that was accepted.
    if jump.native:
        at, words = (jump.family, jump.table, jump.chain), ("jump", chain)
        if place < len(rules):
            tools.run("nft", "insert", "rule", *at, "handle", str(rules[place][1]), *words)
        else:
            tools.run("nft", "add", "rule", *at, *words)
    else:
        where = ("-I", jump.chain, str(place + 1)) if place < len(rules) else ("-A", jump.chain)
        tools.run(*_base(jump), *where, "-j", chain)
    for text, handle in reversed(rules):
        if text == own:
            _delete(tools, jump, handle if jump.native else handle + 1)


def _delete(tools: Tools, jump: Jump, number: int) -> None:
    if jump.native:
        tools.run("nft", "delete", "rule", jump.family, jump.table, jump.chain, "handle", str(number))
    else:
        tools.run(*_base(jump), "-D", jump.chain, str(number))


def _fill_iptables(tools: Tools, jump: Jump, accepts: Accepts) -> None:
    base, chain = _base(jump), CHAINS[jump.hook]
    if not tools.try_run(*base, "-N", chain):
        tools.run(*base, "-F", chain)
    for words in accept_words(accepts, jump.hook, 4 if jump.family == "ip" else 6):
        tools.run(*base, "-A", chain, *words)


def _fill_native(tools: Tools, jump: Jump, accepts: Accepts) -> None:
    place, chain = (jump.family, jump.table), CHAINS[jump.hook]
    tools.run("nft", "add", "chain", *place, chain)
    tools.run("nft", "flush", "chain", *place, chain)
    for text in accept_nft(accepts, jump.hook, jump.family):
        tools.run("nft", "add", "rule", *place, chain, *text.split())


def nft_rules(listing: str) -> list[tuple[str, int]]:
    """(text, handle) of the rules in what `nft -a list chain` prints."""
    found = []
    for line in listing.splitlines():
        match = re.match(r"\s+(.*?) # handle (\d+)$", line)
        if match and not match.group(1).endswith("{"):
            found.append((match.group(1), int(match.group(2))))
    return found


def remove_jump(tools: Tools, jump: Jump) -> None:
    """Enters our chain there no more; what is not there is fine, what cannot be removed raises ChangeError."""
    if not _exists(tools, jump, jump.chain):
        return
    for text, number in reversed(rules_of(tools, jump)):
        if text == _own(jump):
            _delete(tools, jump, number)


def remove_chain(tools: Tools, jump: Jump) -> None:
    """Takes our chain out of a jump's table, once nothing enters it; errors as above."""
    chain = CHAINS[jump.hook]
    if not _exists(tools, jump, chain):
        return
    if jump.native:
        tools.run("nft", "flush", "chain", jump.family, jump.table, chain)
        tools.run("nft", "delete", "chain", jump.family, jump.table, chain)
    else:
        tools.run(*_base(jump), "-F", chain)
        tools.run(*_base(jump), "-X", chain)


def _exists(tools: Tools, jump: Jump, chain: str) -> bool:
    """Whether a table has a chain: raises ChangeError where that cannot be told."""
    argv = ("nft", "list", "chain", jump.family, jump.table, chain) if jump.native else (*_base(jump), "-S")
    try:
        said = tools.run(*argv)
    except ChangeError as error:
        # What nft says of a chain and of a table, and iptables-legacy of a table, that is not there.
        if "No such file or directory" in str(error) or "Table does not exist" in str(error):
            return False
        raise
    return jump.native or any(line.split()[:2] in (["-N", chain], ["-P", chain]) for line in said.splitlines())


def ufw_rules(hook: str, accepts: Accepts) -> list[list[str]]:
    """The rules in ufw's words, without the verb."""
    if hook == "forward":
        return [["route", "allow", end, cidr] for cidr in accepts.cidrs for end in ("from", "to")]
    return [
        ["allow", "proto", port.protocol, "from", port.source, "to", "any", "port", port.ports(":")]
        for port in accepts.ports
    ]


def add_ufw(tools: Tools, hook: str, accepts: Accepts) -> None:
    for words in ufw_rules(hook, accepts):
        tools.run("ufw", *words, "comment", COMMENT)


def remove_ufw(tools: Tools, hook: str, accepts: Accepts) -> None:
    if not is_there("ufw"):
        return
    for words in ufw_rules(hook, accepts):
        verb = ["route", "delete", *words[1:]] if words[0] == "route" else ["delete", *words]
        tools.try_run("ufw", *verb)
