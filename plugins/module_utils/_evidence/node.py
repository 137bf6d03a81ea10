# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What `node_evidence_info` can gather: every key of evidence format 1 that one host answers by itself."""

from __future__ import annotations

from typing import Any

from . import identity, kernel, kubernetes, netfilter, network, runtime, system

TABLE: dict[str, Any] = {
    **identity.KEYS,
    **network.KEYS,
    **netfilter.KEYS,
    **kernel.KEYS,
    **runtime.KEYS,
    **kubernetes.KEYS,
    **system.KEYS,
}

# What is judged before a cluster is built, and cheap.
BEFORE = (
    "hostname", "machine_id", "product_uuid", "os_release", "kernel", "architecture", "clock", "memory_mib", "cpus",
    "ip_address", "ip_route", "ip6_route", "resolv_conf", "etc_hosts", "swap", "fstab_swap", "cni_config",
    "kubernetes_files", "kubeconfig_servers", "packages", "units", "sysctl", "sysctl_persistent", "modules",
    "modules_persistent", "modules_available", "proc_net_bridge", "inotify", "cgroup", "selinux",
    "virtualization", "proxy_env",
)  # fmt: skip

# What is read back after flannel was applied.
PROOF = ("ip_address", "ip_route", "ip6_route", "bridge_fdb", "ip_neigh", "subnet_env", "cni_config", "cni_bin")

GROUPS: dict[str, Any] = {"all": tuple(TABLE), "before": BEFORE, "proof": PROOF}
