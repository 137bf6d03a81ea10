# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""What pods leave on a host when they go, and how their sandboxes are stopped. Standard library only.

Commands run through ``run_command`` as AnsibleModule has it: (code, stdout, stderr).
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shlex
import time
from collections.abc import Iterable
from typing import Any, Callable

RunCommand = Callable[..., "tuple[int, str, str]"]

NETWORKS = "/var/lib/cni/networks"
LEASE_AGE = 120.0
"""Seconds for which a lease may be without a sandbox: one that is being made is not listed yet."""
SETTLE = 1.0
"""Seconds after which the runtime has read a change of its configuration's folder."""
HOSTPORT_CHAIN = "CNI-HOSTPORT-DNAT"


class CniError(Exception):
    """A sentence about what cannot be cleared, and why."""


class Runtime:
    """The container runtime, asked through crictl."""

    def __init__(self, run_command: RunCommand, socket: str) -> None:
        self._run_command = run_command
        self._base = ["timeout", "60", "crictl", "-r", socket]

    def _run(self, *args: str) -> str:
        code, out, err = self._run_command([*self._base, *args])
        if code:
            raise CniError(f"crictl {' '.join(args)}: {err.strip() or out.strip() or 'no answer within 60 s'}")
        return str(out)

    def sandboxes(self) -> list[dict[str, Any]]:
        """All sandboxes, those that stopped too, as C(crictl pods -o json) lists them."""
        return json.loads(self._run("pods", "-o", "json")).get("items") or []

    def own_network(self, sandbox: str) -> bool:
        """Whether a sandbox has a network of its own, that is, is not one of the host's network."""
        status = json.loads(self._run("inspectp", "-o", "json", sandbox)).get("status", {})
        options = status.get("linux", {}).get("namespaces", {}).get("options", {})
        return options.get("network", "POD") == "POD"

    def remove(self, sandbox: str) -> None:
        """Stops a sandbox, which undoes its network with the configuration that is there now, and removes it.

        The runtime takes a moment to see that a configuration is gone, so a failure is tried once more.
        """
        try:
            self._run("stopp", sandbox)
        except CniError:
            time.sleep(SETTLE)
            self._run("stopp", sandbox)
        self._run("rmp", "--force", sandbox)


def title_of(sandbox: dict[str, Any]) -> str:
    metadata = sandbox.get("metadata", {})
    return f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"


def bridges_of(configurations: Iterable[str]) -> list[str]:
    """The bridges that CNI configurations make pods members of; what is no configuration names none."""
    found: list[str] = []
    for text in configurations:
        try:
            config = json.loads(text)
        except ValueError:
            continue
        plugins = config.get("plugins", [config]) if isinstance(config, dict) else []
        for plugin in plugins if isinstance(plugins, list) else []:
            if isinstance(plugin, dict) and plugin.get("type") == "bridge":
                found.append(str(plugin.get("bridge") or "cni0"))
    return sorted(set(found))


def members(bridge: str, sys_net: str = "/sys/class/net") -> list[str]:
    """The links that are ports of a bridge."""
    folder = os.path.join(sys_net, bridge, "brif")
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def there(link: str, sys_net: str = "/sys/class/net") -> bool:
    return os.path.isdir(os.path.join(sys_net, link))


def delete_link(link: str, run_command: RunCommand) -> None:
    code, out, err = run_command(["ip", "link", "delete", link])
    if code:
        raise CniError(f"ip link delete {link}: {err.strip() or out.strip()}")


def leaked_leases(live: set[str], folder: str = NETWORKS, now: float | None = None) -> list[str]:
    """Files of host-local leases whose sandbox is none of ``live`` (whole ids), and not younger than LEASE_AGE."""
    found = []
    limit = (time.time() if now is None else now) - LEASE_AGE
    for network in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        for name in sorted(os.listdir(os.path.join(folder, network))):
            path = os.path.join(folder, network, name)
            if _is_address(name) and os.stat(path).st_mtime < limit and _owner(path) not in live:
                found.append(path)
    return found


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _owner(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.readline().strip()


def dead_host_ports(saved: str, live: set[str]) -> list[tuple[list[str], str]]:
    """HostPort rules of sandboxes that are gone, in what C(iptables-save -t nat) says.

    Answers pairs of the jump rule's arguments (after C(-A)) and the chain that it jumps to.
    """
    found = []
    for line in saved.splitlines():
        if not line.startswith(f"-A {HOSTPORT_CHAIN} "):
            continue
        words = shlex.split(line)
        named = re.search(r'id: "([^"]+)"', words[words.index("--comment") + 1] if "--comment" in words else "")
        if named and named.group(1) not in live and "-j" in words:
            found.append((words[1:], words[words.index("-j") + 1]))
    return found


def remove_host_ports(dead: list[tuple[list[str], str]], run_command: RunCommand, tool: str) -> None:
    """Takes out the jumps and then the chains."""
    for rule, chain in dead:
        for args in (["-D", *rule], ["-F", chain], ["-X", chain]):
            code, out, err = run_command([tool, "-w", "5", "-t", "nat", *args])
            if code:
                raise CniError(f"{tool} -t nat {args[0]} {args[1]}: {err.strip() or out.strip()}")
