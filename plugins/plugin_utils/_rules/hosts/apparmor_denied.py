# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

r"""AppArmor denied something that pods or their network need.

## What it means
The profile of containers keeps runc or a network component from a signal, a file or a socket. Known: AppArmor 4 on
Ubuntu 24.04 forbids runc of older releases to signal the container's init.

## How it looks
Pods stay in Terminating: `unable to signal init: permission denied`; the kernel's log has `apparmor="DENIED"
operation="signal" profile="cri-containerd.apparmor.d" comm="runc" ... peer="runc"`. Networks of such pods are not
cleaned up.

## What looks like it but is not
- Denials of desktop or server programs, of snaps, of Docker's own containers beside.
- A single container that tries to trace or mount: its own affair, it is left out.
- `apparmor="ALLOWED"`: a profile in complain mode.

## Mend
Update containerd and runc (1.1.13 and newer have a profile that fits), or AppArmor's abstractions; restart the
runtime. For a flannel or plugin file: allow its path in the profile that is named.

## Prevent
Runtime and distribution of one time.

## Sources
- Ubuntu bug 2040483 (runc, AppArmor 4); moby issue 47749; containerd issue 10542
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View
from ._network_path import concerns

RULE = Rule(
    title="AppArmor denies the pod network",
    severity="error",
    needs=("nodes.apparmor_denials",),
    remedy="Update containerd and runc, or allow what is named in the profile that is named; then restart the runtime.",
    explains=("flannel-rules-missing", "flannel-link-missing", "ipam-leak"),
    rank=25,
)

_DENIED = re.compile(r'apparmor="DENIED"')
_RUNTIME = re.compile(r'(comm|peer)="(runc|crun|containerd-shim[\w-]*|conmon)"')


def check_node(node: Host, view: View) -> Iterator[Found]:
    kernel = node.journal.get("kernel", "").splitlines() if node.has("journal") else []
    noted = node.apparmor_denials if node.has("apparmor_denials") or not any(map(_DENIED.search, kernel)) else []
    denied = list(dict.fromkeys(line for line in [*noted, *kernel] if _DENIED.search(line)))
    signals = [line for line in denied if 'operation="signal"' in line and _RUNTIME.search(line)]
    lines = signals or [line for line in denied if concerns(line)]
    if not lines:
        return
    profile = re.search(r'profile="([^"]+)"', lines[-1])
    operation = re.search(r'operation="([^"]+)"', lines[-1])
    target = re.search(r'name="([^"]+)"', lines[-1]) or re.search(r'comm="([^"]+)"', lines[-1])
    said = f"the profile {profile[1] if profile else '?'} denied {operation[1] if operation else 'something'}"
    summary = f"{said} ({target[1]})" if target else said
    yield Found(summary, {"denials": [line.strip()[:300] for line in lines[-3:]]})
