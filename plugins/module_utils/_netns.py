# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The network namespaces of the pods on a host: find them through the runtime, and enter them.

PRIVATE to the collection. Standard library only. Whoever enters keeps the host's files, users and processes: only
sockets that are opened afterwards, and threads and processes that are started afterwards, are in the pod.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any, Callable

RunCommand = Callable[..., "tuple[int, str, str]"]

CLONE_NEWNET = 0x40000000
SIOCGIFMTU = 0x8921
DROP_COUNTERS = (
    "InDiscards",
    "OutDiscards",
    "OutNoRoutes",
    "InNoRoutes",
    "ReasmFails",
    "FragFails",
    "InCsumErrors",
    "IPReversePathFilter",
    "ListenDrops",
)


class NetnsError(Exception):
    """A sentence about what could not be found or entered."""


@dataclass(frozen=True)
class Sandbox:
    """A pod's sandbox. netns: path of its network namespace. addresses: the pod's addresses, IPv4 or IPv6."""

    id: str
    namespace: str
    pod: str
    pid: int
    netns: str
    addresses: tuple[str, ...]


def enter(path: str) -> None:
    """Make the calling thread a member of the network namespace at *path* (setns(2))."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as exc:
        raise NetnsError(f"the network namespace {path} cannot be opened: {exc.strerror}") from exc
    try:
        if hasattr(os, "setns"):  # Python 3.12
            os.setns(handle, CLONE_NEWNET)
        else:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(handle, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    except OSError as exc:
        raise NetnsError(f"the network namespace {path} cannot be entered: {exc.strerror}") from exc
    finally:
        os.close(handle)


def mtu_of(link: str) -> int:
    """MTU of *link* in the namespace that the caller is in (/sys shows that of the namespace it was mounted in)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        answer = fcntl.ioctl(sock, SIOCGIFMTU, struct.pack("16sI12x", link.encode(), 0))
    return int(struct.unpack_from("I", answer, 16)[0])


def drops(proc: str = "/proc/1/net") -> dict[str, int]:
    """The host's counters of dropped packets: per link, and those of the protocols whose name says so.

    Read through process 1, so that they are the host's also for a thread that has entered a pod.
    """
    found = {}
    with open(f"{proc}/dev", encoding="ascii") as handle:
        for line in handle.readlines()[2:]:
            link, _colon, numbers = line.partition(":")
            fields = numbers.split()
            found[f"{link.strip()} received"], found[f"{link.strip()} sent"] = int(fields[3]), int(fields[11])
    for name in ("snmp", "netstat"):
        with open(f"{proc}/{name}", encoding="ascii") as handle:
            lines = handle.readlines()
        for titles, numbers in zip(lines[::2], lines[1::2]):
            for title, number in zip(titles.split()[1:], numbers.split()[1:]):
                if title in DROP_COUNTERS:
                    found[title] = int(number)
    return found


class Runtime:
    """The container runtime, asked through crictl."""

    def __init__(self, run_command: RunCommand, socket_path: str, binary: str = "crictl") -> None:
        self._run_command = run_command
        self._base = ["timeout", "10", binary, "-r", socket_path]

    def _json(self, args: list[str]) -> Any:
        code, out, err = self._run_command([*self._base, *args])
        if code:
            raise NetnsError(f"crictl {' '.join(args)}: {err.strip() or out.strip() or 'no answer within 10 s'}")
        return json.loads(out)

    def sandboxes(self, namespace: str, pod: str = "") -> list[Sandbox]:
        """The ready sandboxes of *namespace*, or of one *pod* of it, that have an address and a process."""
        args = ["pods", "--namespace", f"^{namespace}$", "--state", "ready", "-o", "json"]
        if pod:
            args += ["--name", f"^{pod}$"]
        found = [self._inspect(item) for item in self._json(args).get("items") or []]
        return [one for one in found if one is not None]

    def _inspect(self, item: dict[str, Any]) -> Sandbox | None:
        try:
            answer = self._json(["inspectp", "-o", "json", item["id"]])
        except NetnsError:  # it went away between the two questions
            return None
        return sandbox_of(answer)


def sandbox_of(answer: dict[str, Any]) -> Sandbox | None:
    """What C(crictl inspectp) says of one sandbox, or None while it has no process or no address."""
    status, info = answer.get("status", {}), answer.get("info", {})
    network = status.get("network", {})
    addresses = [network.get("ip", "")] + [one.get("ip", "") for one in network.get("additionalIps") or []]
    pid = int(info.get("pid") or 0)
    namespaces = info.get("runtimeSpec", {}).get("linux", {}).get("namespaces", [])
    paths = [one["path"] for one in namespaces if one.get("type") == "network" and one.get("path")]
    if not pid or not addresses[0]:
        return None
    metadata = status.get("metadata", {})
    return Sandbox(
        id=status.get("id", ""),
        namespace=metadata.get("namespace", ""),
        pod=metadata.get("name", ""),
        pid=pid,
        netns=paths[0] if paths else f"/proc/{pid}/ns/net",
        addresses=tuple(address for address in addresses if address),
    )
