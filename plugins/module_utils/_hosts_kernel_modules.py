# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""Whether what a kernel module brings is there, is built in, or can be loaded.

The feature is tested, not the list of loaded modules: a kernel without ``/proc/modules`` has everything built in, and
a list of loaded modules does not know what is built in.
"""

from __future__ import annotations

import os
import pathlib
from typing import Callable

RunCommand = Callable[..., "tuple[int, str, str]"]

# What is there when the module's feature is: a path, or a line of /proc/filesystems.
FEATURE_PATHS = {
    "br_netfilter": "proc/sys/net/bridge/bridge-nf-call-iptables",
    "nf_conntrack": "proc/sys/net/netfilter/nf_conntrack_max",
    "ip_tables": "proc/net/ip_tables_names",
    "ip6_tables": "proc/net/ip6_tables_names",
    "ip_vs": "proc/net/ip_vs",
}
FEATURE_FILESYSTEMS = {"overlay", "fuse", "nfs", "cifs"}
# Link types that are tried in a network namespace of their own, on kernels that cannot load modules.
FEATURE_LINKS = {
    "vxlan": ["vxlan", "id", "1", "dstport", "4789"],
    "wireguard": ["wireguard"],
    "bridge": ["bridge"],
    "veth": ["veth"],
    "dummy": ["dummy"],
}
FEATURE_COMMANDS = {"nf_tables": ["nft", "list", "tables"]}


class Modules:
    """The kernel modules of one host. ``root`` is ``/``, but for tests."""

    def __init__(self, run_command: RunCommand, root: str = "/") -> None:
        self._run = run_command
        self._root = pathlib.Path(root)
        self._builtin: set[str] | None = None

    def loadable_kernel(self) -> bool:
        """Whether this kernel can load modules at all."""
        return (self._root / "proc/modules").exists()

    def built_in(self, name: str) -> bool:
        """Whether the kernel needs no module file for it."""
        if not self.loadable_kernel():
            return self.present(name)
        if self._builtin is None:
            index = self._root / "lib/modules" / os.uname().release / "modules.builtin"
            lines = index.read_text(encoding="utf-8").splitlines() if index.exists() else []
            self._builtin = {pathlib.PurePath(line).name.split(".")[0].replace("-", "_") for line in lines}
        return name.replace("-", "_") in self._builtin

    def present(self, name: str) -> bool:
        """Whether the feature is there now."""
        name = name.replace("-", "_")
        if name in FEATURE_PATHS:
            return (self._root / FEATURE_PATHS[name]).exists()
        if name in FEATURE_FILESYSTEMS:
            return name in (self._root / "proc/filesystems").read_text(encoding="utf-8").split()
        if (self._root / "sys/module" / name).exists():
            return True
        if self.loadable_kernel():
            return self.built_in(name)
        if name in FEATURE_LINKS:
            command = ["unshare", "--net", "ip", "link", "add", "podnet0", "type", *FEATURE_LINKS[name]]
            return self._run(command)[0] == 0
        if name in FEATURE_COMMANDS:
            return self._run(FEATURE_COMMANDS[name])[0] == 0
        return False

    def loadable(self, name: str) -> bool:
        """Whether ``modprobe`` would find it. Loads nothing."""
        return self.loadable_kernel() and self._run(["modprobe", "--dry-run", "--quiet", name])[0] == 0

    def load(self, name: str) -> str:
        """Loads it and answers what modprobe said, empty when all went well."""
        code, out, err = self._run(["modprobe", name])
        return "" if code == 0 else (err.strip() or out.strip() or f"modprobe ended with {code}")


def missing_sentence(name: str, modules: Modules) -> str:
    """Why a module is not there and cannot be loaded, and what to do."""
    release = os.uname().release
    if not modules.loadable_kernel():
        return (
            f"kernel module {name}: this kernel ({release}) cannot load modules and was built without it. "
            "Boot a kernel that has it, or take it out of the list where nothing needs it."
        )
    return (
        f"kernel module {name}: neither loaded nor built in, and modprobe does not find it for kernel {release}. "
        "Install the package with the running kernel's modules (linux-image or linux-modules-extra of that version), "
        "or reboot where a newer kernel was installed."
    )
