# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Swap is on.

## What it means
The kubelet refuses to start while the host swaps, unless its configuration says `failSwapOn: false`.

## How it looks
`kubeadm init` or `join` stops at the check "Swap"; on a member, the kubelet restarts with
`running with swap on is not supported` and the node goes NotReady.

## What looks like it but is not
- Swap lines in /etc/fstab with swap off now: see `swap-returns`.
- A kubelet with `failSwapOn: false`, in its configuration or by --fail-swap-on=false: swap is allowed there.
- zram as swap counts as swap.

## Mend
`swapoff -a`, then comment the line in /etc/fstab, or set `host_swap: off` and run the playbook `site`.

## Prevent
`host_swap: off` keeps it off over reboots.

## Sources
- kubernetes documentation, "Swap memory management"; kubernetes/kubeadm issue 1026
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import kubelet_asked
from ..._evidence._host import Host
from ..._evidence._said import heard, refused
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Swap is on",
    severity="error",
    needs=("nodes.swap",),
    remedy="Set host_swap: off and run podnet.kubeadm.site, or run swapoff -a and take its line out of /etc/fstab.",
    repair="host:main",
    explains=("kubelet-down", "swap-returns"),
    rank=30,
)


_SAID = re.compile(r"running with swap on is not supported")


def check_node(node: Host, view: View) -> Iterator[Found]:
    if not node.has("swap") and (said := heard(view, node, _SAID) or refused(node, _SAID)):
        yield Found("swap is on, says the kubelet", {"said": said})
        return
    if node.swap_devices and not may_swap(node, view):
        yield Found("swap is on", {"/proc/swaps": node.swap_devices})


def may_swap(node: Host, view: View) -> bool:
    """Whether the kubelet is, or will be, told to run with swap."""
    try:
        if node.kubelet_flags.get("fail-swap-on") == "false":
            return True
    except Missing:
        pass
    try:
        return node.kubelet_config.flag("failSwapOn") is False
    except Missing:
        return kubelet_asked(view).flag("failSwapOn") is False
