# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host's firewall as the module sees it: looks, plans, changes, remembers, takes back."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

from .._evidence.gather import gather
from .._evidence.node import TABLE
from .._evidence.source import Source
from .._netfilter import Ruleset
from . import boot, change, firewalld
from .accepts import Accepts
from .change import ChangeError, Tools
from .judgement import Judged, judge, place_of
from .kernel import nft_tables
from .remedy import CHAINS, ENOUGH, Jump, Refusal, Remedy, describe, remedy_for
from .simulate import carry_out, chain_of, position

KEYS = (
    "iptables", "ip6tables", "nft", "ip_address", "ip_route", "ip6_route", "ip_rule", "sysctl", "kernel", "subnet_env",
)  # fmt: skip
_MOST_ROUNDS = 12


class Host:
    """`apply`: False in check mode; then everything is told and nothing done."""

    def __init__(self, tools: Tools, apply: bool) -> None:
        self.tools, self.apply = tools, apply
        self.changed = False
        self.node: dict[str, Any] = {}
        self.rules: Ruleset = Ruleset.from_evidence({})
        self.judged: list[Judged] = []
        self.idle: frozenset[str] = frozenset()
        self._moved: set[tuple[str, ...]] = set()  # places that the plan enters our chain in
        self.before = self._remembered()
        self.known = Accepts.from_dict(self.before.get("accepts") or {})  # what is let in already
        self.after: dict[str, Any] = json.loads(json.dumps(self.before))

    def look(self, accepts: Accepts) -> None:
        self.node, _missing = gather(Source(), TABLE, KEYS)
        if "nft" not in self.node and nft_tables() == []:  # a fresh host has no tools and no rules
            self.node["nft"] = {"nftables": []}
        self.rules = Ruleset.from_evidence(self.node)
        self.judged = judge(self.node, accepts)
        owners = {one.verdict.by.owner or "" for one in self.judged if one.verdict.by and one.verdict.verdict == "drop"}
        self.idle = frozenset(name for name in owners & set(change.STATE_COMMANDS) if not change.runs(self.tools, name))

    def plan(self, accepts: Accepts) -> list[Remedy]:
        """What has to be told to whom, until nothing is dropped any more, as far as it is ours to mend."""
        rules = Ruleset.from_evidence(self.node)
        remedies: list[Remedy] = []
        for _round in range(_MOST_ROUNDS):
            dropped = [one for one in judge(self.node, accepts, rules) if one.verdict.verdict == "drop"]
            found = next((one for one in _remedies(rules, dropped, self.idle) if one not in remedies), None)
            if found is None:
                break
            remedies.append(found)
            carry_out(rules, found, accepts)
        self.judged_then = judge(self.node, accepts, rules)
        return remedies

    def permit(self, accepts: Accepts) -> list[Remedy]:
        """Carries the plan out, unless something would stay dropped; then nothing is changed."""
        remedies = self.plan(accepts)
        stays = [one for one in self.judged_then if one.verdict.verdict == "drop"]
        if stays:
            return []
        renewed = bool(self.before) and self.known != accepts
        if not remedies and not renewed:
            self._write_files()
            return []
        self._refuse_foreign_chains(remedies)
        self._remember(remedies, accepts)
        idle_jumps, idle_tools = self._forget_idle(accepts)
        self.changed = self.before != self.after or bool(remedies)
        if not self.apply:
            self.judged = self.judged_then
            return remedies
        # Remembered first: whatever ends this run half way, absent and the next run know of it.
        self._write_state()
        self._undo(idle_jumps, idle_tools)
        self._carry_out(accepts)
        self._write_files()
        self.look(accepts)
        if {"tool": "firewalld", "hook": "forward"} in self.after["tools"] and self._firewalld_drops():
            firewalld.add_zone(self.tools, accepts)
            self.look(accepts)
        return remedies

    def _firewalld_drops(self) -> bool:
        dropped = [one.verdict.by for one in self.judged if one.hook == "forward" and one.verdict.verdict == "drop"]
        return any(by is not None and by.owner == "firewalld" for by in dropped)

    def _remember(self, remedies: list[Remedy], accepts: Accepts) -> None:
        after = self.after
        after["accepts"] = accepts.as_dict()
        after.setdefault("jumps", [])
        after.setdefault("tools", [])
        for remedy in remedies:
            if remedy.jump is None:
                entry = {"tool": remedy.tool, "hook": remedy.hook}
                if entry not in after["tools"]:
                    after["tools"].append(entry)
            else:
                self._remember_jump(remedy.jump)

    def _forget_idle(self, accepts: Accepts) -> tuple[list[Jump], list[dict[str, str]]]:
        """What was made for a hook for which nothing is accepted any more, out of what is remembered."""
        needed = [hook for hook in CHAINS if accepts.versions(hook)]
        jumps = [Jump(**one) for one in self.after["jumps"] if one["hook"] not in needed]
        tools = [one for one in self.after["tools"] if one["hook"] not in needed]
        for key in ("jumps", "tools"):
            self.after[key] = [one for one in self.after[key] if one["hook"] in needed]
        return jumps, tools

    def _remember_jump(self, wanted: Jump) -> None:
        """Once for each chain that ours is entered in: it accepts the same wherever that is."""
        jump = change.located(self.tools, wanted, self._number(wanted))
        key = change.place_key(jump)
        jumps = self.after["jumps"]
        self._moved.add(key)
        known = next((one for one in jumps if change.place_key(Jump(**one)) == key), None)
        if known is None:
            jumps.append(jump.as_dict())
        elif not change.comes_before(self.tools, jump):
            jumps[jumps.index(known)] = jump.as_dict()

    def _number(self, jump: Jump) -> int | None:
        """Index of the rule before which a jump has to come, in its chain as it is now; None: the end."""
        chain = chain_of(self.rules, jump)
        number = position(chain, jump) if chain is not None else 0
        return number if chain is not None and number < len(chain.rules) else None

    def _refuse_foreign_chains(self, remedies: list[Remedy]) -> None:
        """A chain of our name that is not remembered is somebody's: it would be flushed now, and deleted by absent."""
        known = {change.place_key(Jump(**one))[:4] for one in self.before.get("jumps") or []}
        for jump in (remedy.jump for remedy in remedies if remedy.jump):
            name = CHAINS[jump.hook]
            chain = chain_of(self.rules, dataclasses.replace(jump, chain=name))
            if chain is not None and chain.rules and change.place_key(jump)[:4] not in known:
                raise ChangeError(
                    f"table {jump.family} {jump.table} has a chain {name} with rules already, and {boot.STATE_PATH} "
                    "does not say that forward_policy made it. It would be emptied: rename it if it is yours, or take "
                    "it away with what enters it if it was left behind."
                )

    def _undo(self, jumps: list[Jump], tools: list[dict[str, str]]) -> None:
        for jump in jumps:
            change.remove_jump(self.tools, jump)
        for jump in jumps:
            change.remove_chain(self.tools, jump)
        for entry in tools:
            if entry["tool"] == "firewalld":
                firewalld.remove(self.tools, entry["hook"])
            else:
                change.remove_ufw(self.tools, entry["hook"], self.known)

    def _carry_out(self, accepts: Accepts) -> None:
        for data in self.after["jumps"]:
            jump = Jump(**data)
            move = change.place_key(jump) in self._moved
            # What was entered before may have lost its table since; the unit enters it again when that comes back.
            if move or change.has_place(self.tools, jump):
                change.add_jump(self.tools, jump, accepts, move)
        for entry in self.after["tools"]:
            if entry["tool"] == "firewalld":
                firewalld.add_policy(self.tools, entry["hook"], accepts)
            else:
                if self.known != accepts:
                    change.remove_ufw(self.tools, entry["hook"], self.known)
                change.add_ufw(self.tools, entry["hook"], accepts)

    def take_back(self) -> list[str]:
        """Undoes what is remembered; answers what that was."""
        before = self.before
        if not before:
            return []
        self.after, self.changed = {}, True
        jumps = [Jump(**data) for data in before.get("jumps") or []]
        told = describe([Remedy("jump", jump.hook, jump) for jump in jumps])
        told += [entry["tool"] for entry in before.get("tools") or []]
        if not self.apply:
            return told
        self._forget_files()
        self._undo(jumps, before.get("tools") or [])
        _remove(boot.STATE_PATH)
        _remove_folder(os.path.dirname(boot.STATE_PATH))
        return told

    def diff(self) -> dict[str, Any]:
        return {
            "before_header": "what podnet.kubeadm added to the firewall",
            "after_header": "what podnet.kubeadm added to the firewall",
            "before": _lines(self.before),
            "after": _lines(self.after),
        }

    # Files

    def _remembered(self) -> dict[str, Any]:
        try:
            with open(boot.STATE_PATH, encoding="utf-8") as file:
                data = json.load(file)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ChangeError(
                f"{boot.STATE_PATH}, which says what was added to the firewall, cannot be read: {error}. "
                "Bring it back, or remove it together with the chains PODNET-FORWARD and PODNET-INPUT."
            ) from error
        return data if isinstance(data, dict) else {}

    def _write_files(self) -> None:
        """The state, and where there are jumps the unit that enters them again; what is so already is left."""
        if not self.after:
            return
        wanted = {boot.STATE_PATH: (json.dumps(self.after, indent=2, sort_keys=True) + "\n", 0o600)}
        if self.after.get("jumps"):
            jumps = [Jump(**data) for data in self.after["jumps"]]
            script = boot.script(jumps, Accepts.from_dict(self.after["accepts"]))
            wanted[boot.SCRIPT_PATH] = (script, 0o700)
            wanted[boot.UNIT_PATH] = (boot.UNIT_TEXT, 0o644)
        stale = [path for path, (text, _mode) in wanted.items() if _read(path) != text]
        jumps_stay = bool(self.after.get("jumps"))
        enabled = jumps_stay and self.tools.try_run("systemctl", "is-enabled", "-q", boot.UNIT)
        if not stale and enabled is jumps_stay and (jumps_stay or not os.path.exists(boot.UNIT_PATH)):
            return
        self.changed = True
        if not self.apply:
            return
        for path in stale:
            _write(path, *wanted[path])
        if jumps_stay:
            self.tools.run("systemctl", "daemon-reload")
            self.tools.run("systemctl", "enable", "-q", boot.UNIT)
            self.tools.run("systemctl", "start", boot.UNIT)
        else:
            self._forget_files()

    def _write_state(self) -> None:
        _write(boot.STATE_PATH, json.dumps(self.after, indent=2, sort_keys=True) + "\n", 0o600)

    def _forget_files(self) -> None:
        if os.path.exists(boot.UNIT_PATH):
            # Without stopping it: that would change nothing, and PartOf has no meaning for it then.
            self.tools.run("systemctl", "disable", "-q", "--now", boot.UNIT)
            _remove(boot.UNIT_PATH)
            self.tools.run("systemctl", "daemon-reload")
        _remove(boot.SCRIPT_PATH)


def _remedies(rules: Ruleset, dropped: list[Judged], idle: frozenset[str]) -> list[Remedy]:
    """For each place that drops, unless it has to be left alone for any of the packets that it drops."""
    places: dict[str, list[Remedy] | None] = {}
    for one in dropped:
        known = places.setdefault(place_of(one.verdict), [])
        if known is None or len(known) == ENOUGH:
            continue
        try:
            known.append(remedy_for(rules, one, idle))
        except Refusal:
            places[place_of(one.verdict)] = None
    return [one for found in places.values() for one in found or ()]


def _lines(state: dict[str, Any]) -> str:
    return json.dumps(state, indent=2, sort_keys=True) + "\n" if state else ""


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def _write(path: str, text: str, mode: int) -> None:
    """Whole or not at all."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    handle = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path + ".new", mode)
    os.replace(path + ".new", path)


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


def _remove_folder(path: str) -> None:
    if os.path.isdir(path) and not os.listdir(path):
        os.rmdir(path)
