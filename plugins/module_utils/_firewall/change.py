# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands that carry a remedy out, and those that take it back."""

from __future__ import annotations

import dataclasses
import re
import shutil
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


def rule_number(listing: str, rule: str) -> int | None:
    """Number, from 1, of a rule in what `iptables -S CHAIN` prints."""
    rules = [line for line in listing.splitlines() if line.startswith("-A ")]
    return rules.index(rule) + 1 if rule in rules else None


def has_place(tools: Tools, jump: Jump) -> bool:
    """Whether the chain that a jump is entered in exists."""
    if jump.native:
        return tools.try_run("nft", "list", "chain", jump.family, jump.table, jump.chain)
    return tools.try_run(iptables(jump), "-w", "5", "-t", jump.table, "-S", jump.chain)


def add_jump(tools: Tools, jump: Jump, accepts: Accepts) -> Jump:
    """Makes our chain and enters it; answers the jump as it is to be remembered."""
    return _add_native(tools, jump, accepts) if jump.native else _add_iptables(tools, jump, accepts)


def _add_iptables(tools: Tools, jump: Jump, accepts: Accepts) -> Jump:
    base = (iptables(jump), "-w", "5", "-t", jump.table)
    chain = CHAINS[jump.hook]
    if not tools.try_run(*base, "-N", chain):
        tools.run(*base, "-F", chain)
    for words in accept_words(accepts, jump.hook, 4 if jump.family == "ip" else 6):
        tools.run(*base, "-A", chain, *words)
    if not tools.try_run(*base, "-C", jump.chain, "-j", chain):
        number = rule_number(tools.run(*base, "-S", jump.chain), jump.before) if jump.before else None
        tools.run(*base, *(("-I", jump.chain, str(number)) if number else ("-A", jump.chain)), "-j", chain)
    return jump


def _add_native(tools: Tools, jump: Jump, accepts: Accepts) -> Jump:
    place, chain = (jump.family, jump.table), CHAINS[jump.hook]
    tools.run("nft", "add", "chain", *place, chain)
    tools.run("nft", "flush", "chain", *place, chain)
    for text in accept_nft(accepts, jump.hook, jump.family):
        tools.run("nft", "add", "rule", *place, chain, *text.split())
    listing = tools.run("nft", "-a", "list", "chain", *place, jump.chain)
    before = next((text for text, handle in nft_rules(listing) if jump.before and handle == jump.handle), "")
    if not any(text == f"jump {chain}" for text, _handle in nft_rules(listing)):
        if before:
            tools.run("nft", "insert", "rule", *place, jump.chain, "handle", str(jump.handle), "jump", chain)
        else:
            tools.run("nft", "add", "rule", *place, jump.chain, "jump", chain)
    return dataclasses.replace(jump, before=before, handle=None)


def nft_rules(listing: str) -> list[tuple[str, int]]:
    """(text, handle) of the rules in what `nft -a list chain` prints."""
    found = []
    for line in listing.splitlines():
        match = re.match(r"\s+(.*?) # handle (\d+)$", line)
        if match and not match.group(1).endswith("{"):
            found.append((match.group(1), int(match.group(2))))
    return found


def remove_jump(tools: Tools, jump: Jump) -> None:
    """Takes our chain out again; what is not there any more is fine."""
    chain = CHAINS[jump.hook]
    if not jump.native:
        base = (iptables(jump), "-w", "5", "-t", jump.table)
        while tools.try_run(*base, "-D", jump.chain, "-j", chain):
            pass
        if tools.try_run(*base, "-F", chain):
            tools.try_run(*base, "-X", chain)
        return
    place = (jump.family, jump.table)
    if not tools.try_run("nft", "list", "chain", *place, jump.chain):
        return
    for text, handle in nft_rules(tools.run("nft", "-a", "list", "chain", *place, jump.chain)):
        if text == f"jump {chain}":
            tools.run("nft", "delete", "rule", *place, jump.chain, "handle", str(handle))
    if tools.try_run("nft", "flush", "chain", *place, chain):
        tools.run("nft", "delete", "chain", *place, chain)


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
