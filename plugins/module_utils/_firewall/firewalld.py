# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What firewalld is told: policies of our own, and a zone of our own where a policy alone is not looked at."""

from __future__ import annotations

import contextlib
import os

from .accepts import Accepts
from .change import Tools, is_there

POLICIES = {"forward": "podnet-forward", "input": "podnet-input"}
ZONE = "podnet-pods"
FOLDERS = {"policy": "/etc/firewalld/policies", "zone": "/etc/firewalld/zones"}
_EDIT = ("firewall-cmd", "--permanent")


def add_policy(tools: Tools, hook: str, accepts: Accepts) -> None:
    """A policy from any zone to any zone, or to the host. Where the zone of the pods is there, it follows them.

    A firewalld that was stopped since it was told before is told for its next start; one that was removed is not.
    """
    base = _editor(tools)
    if base is None:
        return
    policy = POLICIES[hook]
    if policy not in tools.run(*base, "--get-policies").split():
        tools.run(*base, f"--new-policy={policy}")
    edit = (*base, f"--policy={policy}")
    tools.run(*edit, "--set-priority=-100")
    for option, zone in (("ingress", "ANY"), ("egress", "ANY" if hook == "forward" else "HOST")):
        if not tools.try_run(*edit, f"--query-{option}-zone={zone}"):
            tools.run(*edit, f"--add-{option}-zone={zone}")
    wanted = rich_rules(hook, accepts)
    known = [line.strip() for line in tools.run(*edit, "--list-rich-rules").splitlines() if line.strip()]
    for rule in known:
        if rule not in wanted:
            tools.run(*edit, f"--remove-rich-rule={rule}")
    for rule in wanted:
        if rule not in known:
            tools.run(*edit, f"--add-rich-rule={rule}")
    if hook == "forward" and ZONE in tools.run(*base, "--get-zones").split():
        _set_sources(tools, base, accepts)
    _reload(tools, base)


def add_zone(tools: Tools, accepts: Accepts) -> None:
    """A zone whose sources are the pod ranges.

    firewalld from 2.1 on enters no policy for packets between two interfaces that are in no zone, as a pod's are
    (`_ingress_egress_zone` in its fw_policy.py passes over that pair). A zone with sources is a side of its own, and
    every policy is entered for it. It accepts what pods send to the host: nothing that the default zone let in before
    is closed by it.
    """
    if ZONE not in tools.run(*_EDIT, "--get-zones").split():
        tools.run(*_EDIT, f"--new-zone={ZONE}")
    tools.run(*_EDIT, f"--zone={ZONE}", "--set-target=ACCEPT")
    _set_sources(tools, _EDIT, accepts)
    _reload(tools, _EDIT)


def _editor(tools: Tools) -> tuple[str, ...] | None:
    """The command that edits what is permanent; None where firewalld was removed."""
    if not is_there("firewall-cmd"):
        return None
    return _EDIT if tools.try_run("firewall-cmd", "--state") else ("firewall-offline-cmd",)


def _reload(tools: Tools, base: tuple[str, ...]) -> None:
    if base == _EDIT:
        tools.run("firewall-cmd", "--reload")


def _set_sources(tools: Tools, base: tuple[str, ...], accepts: Accepts) -> None:
    edit = (*base, f"--zone={ZONE}")
    known = tools.run(*edit, "--list-sources").split()
    for source in known:
        if source not in accepts.cidrs:
            tools.run(*edit, f"--remove-source={source}")
    for source in accepts.cidrs:
        if source not in known:
            tools.run(*edit, f"--add-source={source}")


def remove(tools: Tools, hook: str) -> None:
    """Takes the policy of a hook back, and with the forward hook's the zone. Also where firewalld does not run."""
    base = _editor(tools)
    if base is None:
        return
    found = [("policy", POLICIES[hook], "--get-policies")]
    if hook == "forward":
        found.append(("zone", ZONE, "--get-zones"))
    gone = [(kind, name) for kind, name, listing in found if name in tools.run(*base, listing).split()]
    for kind, name in gone:
        tools.run(*base, f"--delete-{kind}={name}")
        with contextlib.suppress(FileNotFoundError):
            os.remove(FOLDERS[kind] + f"/{name}.xml.old")  # firewalld's copy of what it deletes
    if gone:
        _reload(tools, base)


def rich_rules(hook: str, accepts: Accepts) -> list[str]:
    found = []
    for version in (4, 6):
        family = f'rule family="ipv{version}"'
        if hook == "forward":
            for cidr in accepts.cidrs_of(version):
                found += [f'{family} {end} address="{cidr}" accept' for end in ("source", "destination")]
        else:
            found += [
                f'{family} source address="{port.source}" port port="{port.ports("-")}" '
                f'protocol="{port.protocol}" accept'
                for port in accepts.ports_of(version)
            ]
    return found


def advice(hook: str, accepts: Accepts) -> str:
    """The commands that a person would type."""
    if hook == "forward":
        sources = " ".join(f"--add-source={cidr}" for cidr in accepts.cidrs)
        return f"firewall-cmd --permanent --zone=trusted {sources}; firewall-cmd --reload"
    name = POLICIES[hook]
    rules = " ".join(f"--add-rich-rule='{rule}'" for rule in rich_rules(hook, accepts))
    edit = f"firewall-cmd --permanent --policy={name}"
    return (
        f"firewall-cmd --permanent --new-policy={name}; {edit} --add-ingress-zone=ANY; {edit} --add-egress-zone=HOST; "
        f"{edit} {rules}; firewall-cmd --reload"
    )
