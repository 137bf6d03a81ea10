# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Swap comes back at the next boot.

## What it means
Swap is off now, by `swapoff -a`, and /etc/fstab still asks for it. After the next boot the kubelet does not start.

## How it looks
Nothing, until a reboot. Then as in `swap-on`: the node is NotReady and the kubelet restarts with
`running with swap on is not supported`.

## What looks like it but is not
- A swap line with `noauto`: nobody mounts it at boot.
- A commented line in /etc/fstab.
- A kubelet with `failSwapOn: false`.

## Mend
Comment the line in /etc/fstab, or set `host_swap: off` and run podnet.kubeadm.site.

## Prevent
`host_swap: off` takes swap away now and at boot.

## Sources
- kubernetes/kubeadm issue 1026; kubernetes-sigs/kubespray issue 5689
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View
from .swap_on import may_swap

RULE = Rule(
    title="Swap comes back at the next boot",
    severity="warning",
    needs=("nodes.fstab_swap",),
    remedy="Set host_swap: off and run podnet.kubeadm.site, or comment the swap line in /etc/fstab.",
    repair="host:main",
    rank=60,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    lines = [line for line in node.fstab_swap if not line.lstrip().startswith("#") and "noauto" not in _options(line)]
    if not lines or may_swap(node, view) or (node.has("swap") and node.swap_devices):
        return
    yield Found("swap is off, and /etc/fstab turns it on at the next boot", {"/etc/fstab": lines})


def _options(line: str) -> list[str]:
    words = line.split()
    return words[3].split(",") if len(words) > 3 else []
