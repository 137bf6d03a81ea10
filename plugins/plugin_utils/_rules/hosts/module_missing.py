# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kernel module that the pod network needs is not there.

## What it means
br_netfilter has to be loaded by somebody: flannel ends without it, and without it services fail between pods of one
node. vxlan, wireguard, overlay and nf_conntrack are loaded by the kernel at need, and are missed only where the
running kernel has no such module: a small kernel build, a package of extra modules that is not installed, a kernel
that was updated without a reboot.

## How it looks
flannel ends with `Failed to check br_netfilter: stat /proc/sys/net/bridge/bridge-nf-call-iptables: no such file or
directory` (0.26 and newer), with `Error registering network: operation not supported` (no vxlan), or kube-proxy with
`open /proc/sys/net/netfilter/nf_conntrack_max: no such file or directory`.

## What looks like it but is not
- vxlan not loaded on a host without a cluster: flannel's link loads it.
- A kernel without /proc/modules: there everything that counts is built in.
- Parts of iptables and nftables: see `netfilter-incomplete`. Loaded now and lost at boot: see `module-not-persistent`.

## Mend
`modprobe NAME` and a line in /etc/modules-load.d; podnet.kubeadm.site does both. Where the kernel has no such module:
install the distribution's extra modules (linux-modules-extra, kernel-modules-extra), reboot into the kernel that is
installed, or choose a backend that needs none (`flannel_backend: host-gw`).

## Prevent
`host_kernel_modules` of the role host loads and keeps them; preflight tells before the cluster is built.

## Sources
- flannel issues 2166, 2068, 1747, 1502; kubernetes pull request 123464 (kubeadm no longer looks)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import backend, flannel_nftables, proxy_mode
from ..._evidence._host import Host
from ..._evidence._said import heard, refused, said_on, said_without_host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import available, joined, present

RULE = Rule(
    title="A kernel module is missing",
    severity="error",
    needs=("nodes.modules", "nodes.modules_available"),
    remedy="Run podnet.kubeadm.site, which loads and keeps host_kernel_modules, or modprobe the module.",
    repair="host:main",
    explains=(
        "bridge-nf-off",
        "module-not-persistent",
        "sysctl-wrong",
        "flannel-link-missing",
        "flannel-rules-missing",
        "route-missing",
        "service-path-broken",
        "netfilter-incomplete",
    ),
    rank=15,
)

_BACKEND = {"vxlan": "vxlan", "wireguard": "wireguard", "ipip": "ipip", "udp": "tun"}
_OTHER_KERNEL = (
    "Install the distribution's extra kernel modules, or reboot where the kernel was updated; "
    "for vxlan, flannel_backend: host-gw does without."
)


_SAID = {
    "br_netfilter": re.compile(r"Failed to check br_netfilter|stat /proc/sys/net/bridge/\S+: no such file"),
    "the backend's module": re.compile(r"Error registering network: [^\n]*operation not supported"),
}
"""What flannel says, for hosts whose modules were not looked at."""
_IPVS = re.compile(r"IPVS proxier[^\n]*(?:requires? the ip_vs|required kernel modules are not loaded)")
_PREFLIGHT = re.compile(r"/proc/sys/net/bridge/bridge-nf-call-ip\S+ does not exist")


def check_cluster(view: View) -> Iterator[Found]:
    for place, kube, lines in said_without_host(view):
        if not view.cluster.has("pods") or not view.cluster.flannel_runs_on(kube.name):
            yield from _by_words(lines, place)


def _by_words(lines: list[str], where: str) -> Iterator[Found]:
    for name, sign in {**_SAID, "modules of ip_vs": _IPVS}.items():
        if said := next(filter(sign.search, lines), ""):
            yield Found(
                f"{'kube-proxy' if 'ip_vs' in name else 'flannel'} misses {name}",
                {"said": said.strip()[-300:]},
                where=where,
            )


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.stage == "cluster" and not node.has("modules") and not view.flannel_runs(node):
        yield from _by_words(said_on(view, node), node.name)
    if not node.has("modules") and not node.has("proc_net_bridge") and (said := refused(node, _PREFLIGHT)):
        yield Found("br_netfilter is not loaded", {"said": said})
        return
    if said := heard(view, node, _IPVS):
        yield Found("kube-proxy misses modules of ip_vs", {"said": said})
    have = present(node)
    loadable = available(node) if node.has("modules_available") else None
    member = joined(node, view)

    waiting = []  # nobody loads it by itself
    if "br_netfilter" not in have and (loadable is None or "br_netfilter" in loadable):
        waiting.append("br_netfilter")
    if member and view.stage == "cluster" and "nf_conntrack" not in have and node.has("sysctl"):
        waiting.append("nf_conntrack")
    if waiting:
        names, verb = ", ".join(waiting), "is" if len(waiting) == 1 else "are"
        later = "" if loadable is None else ", though the kernel can load it"
        compared = {"not loaded": waiting, "can be loaded": loadable is not None}
        soft = not member or waiting == ["br_netfilter"] and flannel_nftables(view)
        yield Found(f"{names} {verb} not loaded{later}", compared, severity="warning" if soft else None)

    absent = [name for name in _loaded_at_need(node, view) if name not in have and name not in waiting]
    if not absent:
        return
    if loadable is None:
        raise Missing(f"{node.path}.modules_available")
    gone = [name for name in absent if name not in loadable]
    if gone:
        kernel = node.raw.get("kernel")
        compared = {"neither loaded, built in nor loadable": gone, "kernel": kernel if isinstance(kernel, str) else ""}
        yield Found(f"the running kernel has no {', '.join(gone)}", compared, remedy=_OTHER_KERNEL)


def _loaded_at_need(node: Host, view: View) -> Iterator[str]:
    yield "br_netfilter"
    if not (node.has("sandboxes") and node.sandboxes):
        yield "overlay"
    try:
        if name := _BACKEND.get(backend(view)):
            yield name
    except Missing:
        pass
    yield "nf_conntrack"
    if proxy_mode(view) == "nftables" or flannel_nftables(view):
        yield "nf_tables"
    if proxy_mode(view) == "ipvs":
        yield from ("ip_vs", "ip_vs_rr")
