# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A module is loaded now, and nothing loads it at the next boot.

## What it means
br_netfilter was loaded by hand or by something that need not come again. No file in /etc/modules-load.d names it.

## How it looks
Nothing, until a reboot; then as in `module-missing`: flannel ends with `Failed to check br_netfilter`, new pods get no
address.

## What looks like it but is not
- Modules that the kernel loads at need (vxlan, overlay, nf_conntrack): no file has to name them.
- br_netfilter built into the kernel: it is there at every boot.
- Docker or another service that loads it at its own start, while that service is enabled.

## Mend
`echo br_netfilter > /etc/modules-load.d/kubernetes.conf`, or run podnet.kubeadm.site.

## Prevent
`host_kernel_modules` of the role host writes the file.

## Sources
- kubernetes documentation, "Container runtimes"; modules-load.d(5); flannel issue 2166
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A kernel module is not loaded at boot",
    severity="warning",
    needs=("nodes.modules", "nodes.modules_persistent"),
    remedy="Run podnet.kubeadm.site, which writes host_kernel_modules to /etc/modules-load.d.",
    repair="host:main",
    rank=60,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    loaded = {name.replace("-", "_") for name in node.modules}
    kept = {name.replace("-", "_") for name in node.modules_persistent}
    if "br_netfilter" not in loaded or "br_netfilter" in kept or _built_in(node) or _docker(node):
        return
    yield Found("br_netfilter is loaded, and nothing loads it at boot", {"/etc/modules-load.d": sorted(kept)})


def _built_in(node: Host) -> bool:
    """A kernel whose modprobe knows no modules has what it has built in."""
    return node.has("modules_available") and not node.modules_available


def _docker(node: Host) -> bool:
    try:
        return node.unit("docker").text("enabled") == "enabled"
    except Missing:
        return False
