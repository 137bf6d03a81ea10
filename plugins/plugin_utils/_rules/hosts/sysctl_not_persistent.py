# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kernel value is right now and will be wrong after the next boot.

## What it means
The running value was set by hand or by a component, and the files in sysctl.d either set another value or, for
ip_forward whose default is off, none at all.

## How it looks
Nothing, until a reboot or `sysctl --system`; then as in `ip-forward-off` or `bridge-nf-off`: pods of the node reach
nothing outside it until somebody sets the value again.

## What looks like it but is not
- bridge-nf-call-iptables in no file: the kernel's default is 1 once br_netfilter is loaded.
- Docker, which turns ip_forward on at its start, while it is enabled.
- A wrong running value: see `ip-forward-off`, `bridge-nf-off`, `sysctl-wrong`.

## Mend
Write the value to a file in /etc/sysctl.d, or run podnet.kubeadm.site; take it out of the file that sets it back.

## Prevent
`host_sysctls` of the role host writes /etc/sysctl.d.

## Sources
- kubernetes documentation, "Container runtimes"; sysctl.d(5)
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._asked import pod_versions
from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A kernel value is not kept at boot",
    severity="warning",
    needs=("nodes.sysctl", "nodes.sysctl_persistent"),
    remedy="Run podnet.kubeadm.site, which writes host_sysctls to /etc/sysctl.d.",
    repair="host:main",
    rank=60,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    lost = {}
    for name, default in _needed(view).items():
        kept = node.sysctl_persistent.get(name, default)
        if node.sysctl.get(name) == "1" and kept != "1":
            lost[name] = kept
    if _docker(node) and "net.ipv4.ip_forward" not in node.sysctl_persistent:
        lost.pop("net.ipv4.ip_forward", None)
    if lost:
        names = ", ".join(lost)
        compared = {"running": dict.fromkeys(lost, "1"), "after a boot": lost}
        yield Found(f"{names} {'is' if len(lost) == 1 else 'are'} on, and off after the next boot", compared)


def _needed(view: View) -> dict[str, str]:
    """What has to be 1, with the kernel's default."""
    found = {"net.ipv4.ip_forward": "0", "net.bridge.bridge-nf-call-iptables": "1"}
    if 6 in pod_versions(view):
        found.update({"net.ipv6.conf.all.forwarding": "1", "net.bridge.bridge-nf-call-ip6tables": "1"})
    return found


def _docker(node: Host) -> bool:
    try:
        return node.unit("docker").text("enabled") == "enabled"
    except Missing:
        return False
