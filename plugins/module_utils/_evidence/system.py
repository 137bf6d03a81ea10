# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Services, journals, packages, swap, proxies."""

from __future__ import annotations

import os
import re
import time
from datetime import datetime, timezone
from typing import Any

from .scrub import last_lines, scrub
from .source import Missing, Source

UNITS = (
    "kubelet", "containerd", "crio", "docker", "cri-docker", "firewalld", "ufw", "nftables", "iptables",
    "NetworkManager", "systemd-networkd", "systemd-resolved", "dhcpcd", "apparmor", "chrony", "systemd-timesyncd",
)  # fmt: skip

PACKAGES = (
    "kubelet", "kubeadm", "kubectl", "kubernetes-cni", "cri-tools", "containerd", "containerd.io", "runc", "cri-o",
    "docker.io", "docker-ce", "moby-engine", "podman", "iptables", "nftables", "ufw", "firewalld", "ethtool",
    "conntrack", "conntrack-tools", "flannel", "containernetworking-plugins", "NetworkManager", "network-manager",
    "dhcpcd", "dhcpcd5",
)  # fmt: skip

# What a kernel was started with may hold anything; these parameters bear on the network or on kubelet.
_BOOT_PARAMETER = re.compile(
    r"(ipv6\.|net\.|systemd\.unified_cgroup|systemd\.legacy|cgroup|apparmor|selinux|security=|swapaccount|nomodule|module)"
)
_PROXY = re.compile(r"(?i)^(https?_proxy|no_proxy|all_proxy|ftp_proxy)$")

# The longest that kubelet waits before it tries something again, in seconds.
_SAID_AGAIN = 300


def units(source: Source) -> dict[str, dict[str, str]]:
    """State of each unit in `UNITS`: `active`, `enabled` (`not-found` where there is none), `since` (UTC, ISO 8601)."""
    text = source.output(
        "systemctl", "show", "--no-pager",
        "--property=Id,LoadState,ActiveState,UnitFileState,ActiveEnterTimestampMonotonic",
        *(f"{name}.service" for name in UNITS),
    )  # fmt: skip
    found = {}
    for name, block in zip(UNITS, text.split("\n\n")):
        said = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        there = said.get("LoadState") != "not-found"
        found[name] = {
            "active": said.get("ActiveState", ""),
            "enabled": said.get("UnitFileState", "") if there else "not-found",
            "since": _since(said.get("ActiveEnterTimestampMonotonic", "0"))
            if said.get("ActiveState") == "active"
            else "",
        }
    return found


def _since(microseconds: str) -> str:
    """The moment that lies MICROSECONDS after boot; systemd's own text for it depends on the host's time zone."""
    if not microseconds.isdigit() or microseconds == "0":
        return ""
    moment = round(time.time() - _age(microseconds))
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _age(microseconds: str) -> float:
    """How many seconds ago it was MICROSECONDS after boot."""
    return time.clock_gettime(time.CLOCK_MONOTONIC) - int(microseconds) / 1e6


def journal(source: Source) -> dict[str, str]:
    """The last warnings and errors of kubelet, the runtime and the kernel: at most 200 lines each, without secrets.

    What a unit said before its last start is left out when it has run for `_SAID_AGAIN` since: what still holds it has
    said again, what was mended it has not.
    """
    found = {}
    for unit, worse in (
        ("kubelet", re.compile(r"^[EWF]\d{4} |^(?!I\d{4} ).*\b(?i:error|fatal|panic|failed)\b")),
        ("containerd", re.compile(r"\blevel=(warning|error|fatal|panic)\b|\bpanic:", re.I)),
        ("crio", re.compile(r"\blevel=(warning|error|fatal|panic)\b|\bpanic:", re.I)),
    ):
        if unit == "crio" and not source.exists("/etc/crio"):
            continue
        try:
            # -o cat: the line as the program wrote it, which has its own time
            text = source.output(
                "journalctl", "-q", "--no-pager", "-o", "cat", "-n", "1500", "-u", f"{unit}.service",
                *_of_this_run(source, unit),
            )  # fmt: skip
            found[unit] = last_lines("\n".join(line for line in text.splitlines() if worse.search(line)))
        except Missing as reason:
            source.lack(f"journal.{unit}", reason)
    try:
        found["kernel"] = _boot_line(source) + last_lines(kernel_warnings(source))
    except Missing as reason:
        source.lack("journal.kernel", reason)
    if not found:
        raise Missing("no journal could be read")
    return found


def _of_this_run(source: Source, unit: str) -> list[str]:
    """Arguments of journalctl for what the unit's process said; none where it is too young, or does not run.

    A unit of type notify is active only after it has said what failed in its start, so that this is the process's age.
    """
    properties = "--property=ActiveState,ExecMainStartTimestampMonotonic"
    try:
        text = source.output("systemctl", "show", "--no-pager", properties, f"{unit}.service")
    except Missing:
        return []
    said = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    started = said.get("ExecMainStartTimestampMonotonic", "")
    if said.get("ActiveState") != "active" or not started.isdigit() or started == "0" or _age(started) < _SAID_AGAIN:
        return []
    return [f"--since=@{int(time.time() - _age(started))}"]


def kernel_warnings(source: Source) -> str:
    """The kernel's warnings of this boot."""
    return source.output("journalctl", "-q", "--no-pager", "-k", "-b", "-o", "short", "-p", "warning", "-n", "200")


def _boot_line(source: Source) -> str:
    """The kernel's first line, as its log has it, of the parameters that matter; it is long gone from the log's end."""
    words = [word for word in source.read_or("/proc/cmdline", "").split() if _BOOT_PARAMETER.match(word)]
    return f"kernel: Command line: {' '.join(words)}\n" if words else ""


def packages(source: Source) -> dict[str, dict[str, Any]]:
    """Installed packages that matter, with their version and whether they are held."""
    if source.exists("/var/lib/dpkg/status"):
        # it fails when one of the names is not known, and still prints the others
        text = source.result(
            "dpkg-query", "-W", "-f", r"${Package}\t${Version}\t${db:Status-Want}\t${db:Status-Status}\n", *PACKAGES
        ).stdout
        rows = [line.split("\t") for line in text.splitlines() if line.count("\t") == 3]
        return {
            name: {"version": version, "held": want == "hold"}
            for name, version, want, status in rows
            if status == "installed"
        }
    text = source.result("rpm", "-q", "--qf", r"%{NAME}\t%{VERSION}-%{RELEASE}\n", *PACKAGES).stdout
    held = source.read_or("/etc/dnf/plugins/versionlock.list", "") + source.read_or(
        "/etc/yum/pluginconf.d/versionlock.list", ""
    )
    rows = [line.split("\t") for line in text.splitlines() if line.count("\t") == 1]
    return {name: {"version": version, "held": _locked(name, held)} for name, version in rows}


def _locked(name: str, held: str) -> bool:
    return re.search(rf"(?m)^(?:\d+:)?{re.escape(name)}-(?:\d+:)?\d", held) is not None


def package_sources(source: Source) -> list[str]:
    """One line for each repository that is on: apt's one-line form (deb822 is written so), or a base URL of yum."""
    lines: list[str] = []
    apt = source.texts(["/etc/apt/sources.list.d"], (".list", ".sources"))
    for text in [source.read_or("/etc/apt/sources.list", "")] + [apt[name] for name in apt if name.endswith(".list")]:
        lines += [" ".join(line.split()) for line in text.splitlines() if re.match(r"\s*deb(-src)?\s", line)]
    for name in apt:
        if name.endswith(".sources"):
            lines += _deb822(apt[name])
    for text in source.texts(["/etc/yum.repos.d", "/etc/zypp/repos.d"], (".repo",)).values():
        for block in re.split(r"(?m)^(?=\[)", text):
            if not re.search(r"(?m)^enabled\s*=\s*(0|false|no)\s*$", block, re.I):
                lines += re.findall(r"(?m)^(?:baseurl|mirrorlist|metalink)\s*=\s*(\S+)", block)
    lines += [
        line.strip()
        for line in source.read_or("/etc/apk/repositories", "").splitlines()
        if line.strip()[:1] not in ("", "#")
    ]
    return [scrub(line) for line in lines]


def _deb822(text: str) -> list[str]:
    lines = []
    for stanza in re.split(r"\n\s*\n", text):
        fields = {
            name.lower(): " ".join(value.split())
            for name, value in re.findall(r"(?m)^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t].*)*)", stanza)
        }
        if fields.get("enabled", "yes").lower() in ("no", "false", "0") or "uris" not in fields:
            continue
        signed = fields.get("signed-by", "")
        option = f" [signed-by={signed}]" if signed.startswith("/") else ""
        for kind in fields.get("types", "deb").split():
            for uri in fields["uris"].split():
                for suite in fields.get("suites", "").split():
                    lines.append(f"{kind}{option} {uri} {suite} {fields.get('components', '')}".rstrip())
    return lines


def swap(source: Source) -> str:
    """The text of /proc/swaps."""
    return source.read("/proc/swaps")


def fstab_swap(source: Source) -> list[str]:
    """Lines of /etc/fstab that turn swap on at boot."""
    found = []
    for line in source.read_or("/etc/fstab", "").splitlines():
        fields = line.split()
        if (
            len(fields) >= 3
            and not fields[0].startswith("#")
            and fields[2] == "swap"
            and "noauto" not in (fields + [""])[3]
        ):
            found.append(line.strip())
    return found


def proxy_env(source: Source) -> dict[str, dict[str, str]]:
    """Proxy variables of the runtime, of kubelet, and of login shells; URLs without user and password."""
    found = {}
    for name in ("containerd", "kubelet"):
        try:
            found[name] = _unit_proxies(source, name)
        except Missing as reason:
            source.lack(f"proxy_env.{name}", reason)
    lines = source.read_or("/etc/environment", "").splitlines()
    for text in source.texts(["/etc/profile.d"], (".sh",)).values():
        lines += text.splitlines()
    own = [f"{name}={value}" for name, value in os.environ.items()] if not source.root else []
    found["shell"] = _proxies(lines + own)
    return found


def _unit_proxies(source: Source, unit: str) -> dict[str, str]:
    text = source.output(
        "systemctl", "show", "--no-pager", "--property=Environment,EnvironmentFiles", f"{unit}.service"
    )
    said = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    lines = []
    for path in re.findall(r"(/\S+) \(ignore_errors=", said.get("EnvironmentFiles", "")):
        lines += source.read_or(path, "").splitlines()
    # systemd quotes the whole assignment when it holds a space
    lines += [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', said.get("Environment", ""))]
    return _proxies(lines)


def _proxies(lines: list[str]) -> dict[str, str]:
    found = {}
    for line in lines:
        match = re.match(r"\s*(?:export\s+)?(\w+)=[\"']?([^\"'\s;]*)", line)
        if match and _PROXY.match(match.group(1)) and match.group(2):
            # Up to the last @: a password may hold one, or a slash.
            found[match.group(1)] = re.sub(r"^((?:\w+://)?).*@", r"\1", match.group(2))
    return found


KEYS: dict[str, Any] = {
    "units": units,
    "journal": journal,
    "packages": packages,
    "package_sources": package_sources,
    "swap": swap,
    "fstab_swap": fstab_swap,
    "proxy_env": proxy_env,
}
