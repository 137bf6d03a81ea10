# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who a host is: names, identities, system, size, time."""

from __future__ import annotations

import os
import re
import shlex
import time
from typing import Any

from .source import Missing, Source


def hostname(source: Source) -> str:
    """The running host name, as `hostname` prints it."""
    return source.read("/proc/sys/kernel/hostname").strip()


def machine_id(source: Source) -> str:
    """The text of /etc/machine-id; empty where there is none."""
    return source.read_or("/etc/machine-id", "").strip()


def product_uuid(source: Source) -> str:
    """The DMI product UUID in lower case; absent where the machine has none."""
    return source.read("/sys/class/dmi/id/product_uuid").strip().lower()


def boot_id(source: Source) -> str:
    """The kernel's identity of this boot."""
    return source.read("/proc/sys/kernel/random/boot_id").strip()


def os_release(source: Source) -> dict[str, str]:
    """The assignments of /etc/os-release, unquoted."""
    path = "/etc/os-release" if source.exists("/etc/os-release") else "/usr/lib/os-release"
    found = {}
    for line in source.read(path).splitlines():
        match = re.match(r"([A-Z][A-Z0-9_]*)=(.*)", line.strip())
        if match:
            try:
                found[match.group(1)] = "".join(shlex.split(match.group(2)))
            except ValueError:
                found[match.group(1)] = match.group(2)
    return found


def kernel(source: Source) -> str:
    """The kernel's release, as `uname -r` prints it."""
    return source.read("/proc/sys/kernel/osrelease").strip()


def architecture(source: Source) -> str:
    """The machine's name, as `uname -m` prints it."""
    return os.uname().machine


def clock(source: Source) -> float:
    """Seconds since the epoch."""
    return round(time.time(), 3)


def memory_mib(source: Source) -> int:
    """MemTotal in MiB, rounded down."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", source.read("/proc/meminfo"), re.M)
    if not match:
        raise Missing("/proc/meminfo has no MemTotal")
    return int(match.group(1)) // 1024


def cpus(source: Source) -> int:
    """Processors that are on."""
    return os.cpu_count() or 1


def virtualization(source: Source) -> str:
    """What `systemd-detect-virt` prints; it prints `none` and fails on bare metal."""
    said = source.result("systemd-detect-virt").stdout.strip()
    if not said:
        raise Missing("systemd-detect-virt said nothing")
    return said


KEYS: dict[str, Any] = {
    "hostname": hostname,
    "machine_id": machine_id,
    "product_uuid": product_uuid,
    "boot_id": boot_id,
    "os_release": os_release,
    "kernel": kernel,
    "architecture": architecture,
    "clock": clock,
    "memory_mib": memory_mib,
    "cpus": cpus,
    "virtualization": virtualization,
}
