# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host cannot set the kernel values that kube-proxy, flannel or the kubelet need.

## What it means
In a container (LXC, OpenVZ, WSL 1, an unprivileged Podman) parts of /proc/sys are read-only or belong to the host
below. kube-proxy wants to set conntrack limits, the kubelet vm.overcommit_memory and kernel.panic.

## How it looks
kube-proxy ends with `open /proc/sys/net/netfilter/nf_conntrack_max: permission denied`; the kubelet with
`open /proc/sys/vm/overcommit_memory: read-only file system`, or in LXC `open /dev/kmsg: no such file or directory`.
Services do not work on that node.

## What looks like it but is not
- Nodes in containers that are made for it (kind, this collection's lab): kube-proxy is told to leave conntrack alone.
- `no such file or directory` for the same file: the module is missing, see `module-missing`.

## Mend
Set the values on the host below (`sysctl -w net.netfilter.nf_conntrack_max=...`) and tell kube-proxy to leave them
alone: `cluster_kube_proxy_config: {conntrack: {maxPerCore: 0, min: 0}}`. Give the container /dev/kmsg
(`lxc.mount.entry: /dev/kmsg dev/kmsg none bind,create=file`). Or use a virtual machine.

## Prevent
Run nodes on machines or virtual machines.

## Sources
- kubernetes `pkg/proxy/conntrack`; kind `pkg/cluster/internal/kubeadm/config.go`; kubernetes issue 99903
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._said import said_on
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Kernel values cannot be set",
    severity="error",
    needs=("nodes.virtualization",),
    remedy=(
        "Set cluster_kube_proxy_config: {conntrack: {maxPerCore: 0, min: 0}}, set the values on the host below, "
        "or use a virtual machine."
    ),
    explains=("service-path-broken", "sysctl-wrong", "limit-too-low", "kubelet-down"),
    rank=20,
)

_REFUSED = re.compile(
    r"/proc/sys/(\S+?):? (permission denied|read-only file system|operation not permitted)", re.IGNORECASE
)
_KMSG = re.compile(
    r"(?<!disabling OOM events: )open /dev/kmsg: (no such file|operation not permitted|permission denied)",
    re.IGNORECASE,
)
_SHARED = ("lxc", "lxc-libvirt", "openvz", "vserver", "wsl")
_MEANT = ("docker", "podman", "systemd-nspawn", "container-other")


def check_node(node: Host, view: View) -> Iterator[Found]:
    lines = said_on(view, node)
    refused = sorted({match[1] for line in lines if (match := _REFUSED.search(line))})
    if not refused and (said := next((line for line in lines if _KMSG.search(line)), "")):
        seen = {"said": said.strip()[-300:], "virtualization": _kind(node)}
        yield Found("/dev/kmsg cannot be opened: the host is a container that was given none", seen)
        return
    if refused:
        compared = {"refused": [f"/proc/sys/{name}" for name in refused], "virtualization": _kind(node)}
        yield Found(f"/proc/sys/{refused[0]} cannot be set", compared)
        return
    kind = node.virtualization.strip()
    if kind in _SHARED + _MEANT:
        hard = kind in _SHARED and view.stage != "cluster"
        summary = f"the host is a container ({kind}): its kernel values are those of the host below"
        yield Found(summary, {"virtualization": kind}, severity="warning" if hard else "info")


def _kind(node: Host) -> str:
    try:
        return node.virtualization.strip()
    except Missing:
        return ""
