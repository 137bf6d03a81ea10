# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Packet filter rules, read without bringing a filter to life.

Listing is not free: opening nfnetlink loads nf_tables, and iptables-legacy-save loads ip_tables, where the kernel
has them as modules. So it is asked first whether the backend is there at all; where it is not, there are no rules.
"""

from __future__ import annotations

import os
from typing import Any

from .source import Missing, Source

_TABLES = {"filter", "nat", "mangle", "raw", "security"}


def iptables(source: Source) -> dict[str, str]:
    """The IPv4 rules of both backends, and which one `iptables` speaks to."""
    return _both(source, "iptables", "ip", "/proc/net/ip_tables_names")


def ip6tables(source: Source) -> dict[str, str]:
    """The IPv6 rules of both backends."""
    return _both(source, "ip6tables", "ip6", "/proc/net/ip6_tables_names")


def _both(source: Source, command: str, family: str, names: str) -> dict[str, str]:
    found = {}
    for key, value in (
        ("nft", lambda: _nft_save(source, command, family)),
        ("legacy", lambda: _legacy_save(source, command, names)),
        ("selected", lambda: _selected(source, command)),
    ):
        try:
            found[key] = value()
        except Missing as reason:
            source.lack(f"{command}.{key}", reason)
    if not found:
        raise Missing("neither backend could be read")
    return found


def _nft_save(source: Source, command: str, family: str) -> str:
    if not _nf_tables_loaded(source):
        return ""
    # Before the list of tables, so that a host without `nft` is read as well: -save of a missing table makes none,
    # but versions before 1.8.3 made the one they were asked for.
    try:
        tables = source.output("nft", "list", "tables").split("\n")
    except Missing:
        tables = None
    if tables is not None and not any(line.split() == ["table", family, name] for line in tables for name in _TABLES):
        return ""
    return source.output(f"{command}-nft-save", "-c")


def _legacy_save(source: Source, command: str, names: str) -> str:
    # The kernel lists the tables of this network namespace here; no list, no ip_tables.
    if not source.read_or(names, "").strip():
        return ""
    return source.output(f"{command}-legacy-save", "-c")


def _selected(source: Source, command: str) -> str:
    """Told by the file that the command is a link to: running it would open a socket to the kernel."""
    for folder in ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"):
        path = f"{folder}/{command}"
        if not source.exists(path):
            continue
        # Alternatives are links to links.
        for _unused in range(8):
            for backend in ("nft", "legacy"):
                if backend in os.path.basename(path):
                    return backend
            target = source.link(path)
            if not target:
                break
            path = os.path.normpath(os.path.join(os.path.dirname(path), target))
        # One binary per backend, as before 1.8, or a wrapper.
        return "nft" if "(nf_tables)" in source.output(command, "--version") else "legacy"
    return "none"


def nft(source: Source) -> Any:
    """`nft -j list ruleset`."""
    if not _nf_tables_loaded(source):
        return {"nftables": []}
    try:
        return source.json("nft", "-j", "list", "ruleset")
    except Missing:
        return {"nftables": _table_by_table(source)}


def _table_by_table(source: Source) -> list[Any]:
    """The same without what breaks it: nft 1.0 writes JSON that is none where a table's only flag is `dormant`.

    Of such a table nothing is called by the kernel, so its name is enough. Raises Missing where that is not why.
    """
    found: list[Any] = []
    asleep = 0
    for line in source.output("nft", "list", "tables").splitlines():
        place = line.split()[1:3]
        if "\tflags dormant\n" in source.output("nft", "-t", "list", "table", *place):
            asleep += 1
            found.append({"table": {"family": place[0], "name": place[1], "flags": "dormant"}})
        else:
            found += source.json("nft", "-j", "list", "table", *place)["nftables"]
    if not asleep:
        raise Missing("'nft -j list ruleset' did not answer JSON")
    return found


def _nf_tables_loaded(source: Source) -> bool:
    # A kernel that lists no modules has everything built in.
    if not source.exists("/proc/modules") or source.exists("/sys/module/nf_tables"):
        return True
    release = source.read("/proc/sys/kernel/osrelease").strip()
    return "/nf_tables.ko" in source.read_or(f"/lib/modules/{release}/modules.builtin", "")


def firewalld(source: Source) -> dict[str, Any]:
    """Whether firewalld runs, and then its zones and policies."""
    if source.result("systemctl", "is-active", "firewalld").stdout.strip() != "active":
        return {"active": False, "zones": "", "policies": ""}
    return {
        "active": True,
        "zones": source.output("firewall-cmd", "--list-all-zones"),
        "policies": source.output("firewall-cmd", "--list-all-policies"),
    }


def ufw(source: Source) -> str:
    """`ufw status verbose` where ufw is enabled; empty where it is not there or off."""
    if "ENABLED=yes" not in source.read_or("/etc/ufw/ufw.conf", "").split():
        return ""
    return source.output("ufw", "status", "verbose")


KEYS: dict[str, Any] = {
    "iptables": iptables,
    "ip6tables": ip6tables,
    "nft": nft,
    "firewalld": firewalld,
    "ufw": ufw,
}
