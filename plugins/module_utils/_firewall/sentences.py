# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The refusals: what is dropped, where, who loads it, and what to do."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable

from .._netfilter import Ruleset
from . import firewalld
from .accepts import Accepts
from .change import accept_nft, accept_words, iptables, ufw_rules
from .judgement import Judged, loaded_by, place_of
from .remedy import ENOUGH, Refusal, Remedy, Unowned, remedy_for
from .simulate import chain_of, position

BETWEEN_PODS = ("pod to pod on another node", "pod from pod on another node")


def refusal(host: str, rules: Ruleset, judged: Iterable[Judged], accepts: Accepts, idle: Collection[str] = ()) -> str:
    """One sentence for each place that drops something, with the packets it drops. idle: as in `remedy_for`."""
    places: dict[str, list[Judged]] = {}
    for one in judged:
        if one.verdict.verdict != "accept":
            places.setdefault(one.hook + one.verdict.verdict + place_of(one.verdict), []).append(one)
    return " ".join(_sentence(host, rules, group, accepts, idle) for group in places.values())


def _sentence(host: str, rules: Ruleset, group: list[Judged], accepts: Accepts, idle: Collection[str]) -> str:
    first = group[0]
    accepts = accepts.only({ipaddress.ip_address(str(one.packet["source"])).version for one in group})
    if first.hook == "forward":
        subject, what = _forwarded(group), ", ".join(accepts.cidrs)
    else:
        subject = "what the cluster sends to this host is not let in"
        what = ", ".join(sorted({one.name for one in group}))
    if first.verdict.verdict == "undetermined":
        by = first.verdict.by
        why = (
            place_of(first.verdict) if by is None or not by.table else f"{place_of(first.verdict)} may or may not match"
        )
        what = "pods are forwarded" if first.hook == "forward" else "what the cluster sends to this host is let in"
        return f"{host}: the rules alone do not tell whether {what} ({first.name}): {why}."
    by = first.verdict.by
    no_accept = (
        f"no rule accepts {what}" if by and by.rule.startswith("(policy") else f"no rule before it accepts {what}"
    )
    text = f"{host}: {subject}: {place_of(first.verdict, idle)}; {no_accept}."
    file = loaded_by(first.verdict)
    if file:
        text += f" Loaded by {file}."
    remedy = None
    for one in group[:ENOUGH]:
        try:
            remedy = remedy or remedy_for(rules, one, idle)
        except Refusal as reason:
            by_hand = _by_hand(one, accepts) if isinstance(reason, Unowned) else ""
            return f"{text} Not mended by firewall_mode=permitted, because {reason}. {by_hand}".strip()
    return f"{text} Add: {advice(remedy, accepts, rules) if remedy else ''}, or set firewall_mode=permitted."


def _forwarded(group: list[Judged]) -> str:
    names = [one.name for one in group]
    if any(name.removesuffix(" (IPv6)") in BETWEEN_PODS for name in names):
        return "pods are not forwarded"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"some of the pods' traffic is not forwarded ({'; '.join(names[:3])}{more})"


def _by_hand(one: Judged, accepts: Accepts) -> str:
    """The exact rules for an nft table that is not ours to edit."""
    by = one.verdict.by
    if by is None or by.family not in ("inet", "ip", "ip6"):
        return ""
    at = "" if by.rule.startswith("(policy") or by.handle is None else f" handle {by.handle}"
    verb = "insert" if at else "add"
    rules = [
        f"nft {verb} rule {by.family} {by.table} {by.chain}{at} {text}"
        for text in accept_nft(accepts, one.hook, by.family)
    ]
    return f"The rules to add: {'; '.join(rules)}" if rules else ""


def advice(remedy: Remedy, accepts: Accepts, rules: Ruleset) -> str:
    """The commands that a person would type."""
    if remedy.tool == "firewalld":
        return firewalld.advice(remedy.hook, accepts)
    if remedy.tool == "ufw":
        return "; ".join(" ".join(["ufw", *words]) for words in ufw_rules(remedy.hook, accepts))
    jump = remedy.jump
    if jump is None:
        return ""
    if jump.native:
        at = f"handle {jump.handle} " if jump.before and jump.handle is not None else ""
        verb = "insert" if at else "add"
        place = f"{jump.family} {jump.table} {jump.chain}"
        texts = accept_nft(accepts, remedy.hook, jump.family)
        return "; ".join(f"nft {verb} rule {place} {at}{text}" for text in texts)
    chain = chain_of(rules, jump) if jump.before else None
    where = f"-A {jump.chain}" if chain is None else f"-I {jump.chain} {position(chain, jump) + 1}"
    tool = iptables(jump)
    version = 4 if jump.family == "ip" else 6
    words = [" ".join(one) for one in accept_words(accepts, remedy.hook, version)]
    suffix = f" (right before `{jump.before}`)" if jump.before else ""
    return "; ".join(f"{tool} {where} {text}" for text in words) + suffix
