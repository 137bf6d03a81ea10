# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kernel value is not what the cluster needs.

## What it means
Of the values that matter beside ip_forward, rp_filter and bridge-nf-call-iptables (which have codes of their own):
forwarding of IPv6 and bridge-nf-call-ip6tables where pods have IPv6; forwarding of a single link that was turned off
while the global switch is on; and, where the kubelet is told to protect kernel defaults, the values it insists on.

## How it looks
IPv6 between nodes fails while IPv4 works; or all traffic through one link stops; or the kubelet ends with
`invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 0`.

## What looks like it but is not
- IPv6 switches on a cluster without IPv6.
- The running value is right and the files say otherwise: see `sysctl-not-persistent`.
- net.ipv4.ip_forward: see `ip-forward-off`; rp_filter: see `rp-filter-strict`; bridge-nf-call-iptables: see
  `bridge-nf-off`.

## Mend
`sysctl -w NAME=VALUE`, or run podnet.kubeadm.site.

## Prevent
`host_sysctls` of the role host sets them now and at boot; look for the file that sets them back (`grep -r NAME
/etc/sysctl.d /usr/lib/sysctl.d`).

## Sources
- kubernetes documentation, "Validate dual-stack"; kubernetes `pkg/kubelet/cm/container_manager_linux.go`,
  setupKernelTunables
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._asked import pod_versions
from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A kernel value is wrong",
    severity="error",
    needs=("nodes.sysctl",),
    remedy="Run podnet.kubeadm.site, which sets host_sysctls, or set the value with sysctl -w.",
    repair="host:main",
    rank=40,
)

_PROTECTED = {"vm.overcommit_memory": "1", "kernel.panic": "10", "kernel.panic_on_oops": "1"}
_OWN_LINKS = ("flannel", "cni0")


def check_node(node: Host, view: View) -> Iterator[Found]:
    wanted = dict(_wanted(node, view))
    wrong = {
        name: said
        for name, value in wanted.items()
        if (said := node.sysctl.get(name, value)) != value and said.isdigit() and len(said) < 5
    }
    if wrong:
        said = ", ".join(f"{name} is {value}, {wanted[name]} is needed" for name, value in sorted(wrong.items()))
        yield Found(said, {"running": wrong, "needed": {name: wanted[name] for name in wrong}})


def _wanted(node: Host, view: View) -> Iterator[tuple[str, str]]:
    if 6 in pod_versions(view):
        yield "net.bridge.bridge-nf-call-ip6tables", "1"
        yield "net.ipv6.conf.all.forwarding", "1"
    if node.sysctl.get("net.ipv4.ip_forward") == "1":
        for name in node.sysctl:
            link = name.removeprefix("net.ipv4.conf.").removesuffix(".forwarding")
            if name == f"net.ipv4.conf.{link}.forwarding" and link.startswith(_OWN_LINKS):
                yield name, "1"
    try:
        if node.kubelet_config.flag("protectKernelDefaults"):
            yield from _PROTECTED.items()
    except Missing:
        pass
