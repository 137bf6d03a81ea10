# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parts of iptables or nftables that kube-proxy, flannel or a plugin needs are absent.

## What it means
kube-proxy and flannel bring their own iptables and nft in their images; the kernel has to have the tables and matches
they use. In iptables mode that is nf_tables with nft_compat, or the legacy ip_tables with its tables; in nftables mode
nf_tables, nft_fib and a kernel of 5.13 or newer. The portmap plugin runs on the host and needs the host's own tool.

## How it looks
`Extension MASQUERADE revision 0 not supported, missing kernel module?`, `Module ip_tables not found`, `can't
initialize iptables table 'nat': Table does not exist`, `could not find nftables binary: exec: "nft"`. Services do not
work, or pods with a host port do not start.

## What looks like it but is not
- A host without an iptables command in nftables mode: nothing needs it there.
- Enterprise Linux 10, which has no legacy tables: with the nf_tables backend all is well while nft_compat is there.
- ip6tables failing where IPv6 is off: see `ipv6-disabled`. Rules in both backends: see `iptables-backend-mix`.

## Mend
On Enterprise Linux 10 and kernels without x_tables: `cluster_kube_proxy_mode: nftables`, which switches flannel too.
Where the tools point to legacy and the kernel has none: `update-alternatives --set iptables /usr/sbin/iptables-nft`.
Otherwise install kernel-modules-extra, iptables or nftables.

## Prevent
podnet.kubeadm.preflight looks for what the chosen mode needs before anything is built.

## Sources
- kubernetes/kops issues 17789, 18179; rancher/rke2 issues 6601, 6602; kubernetes documentation, "Kernel version
  requirements"; containernetworking/plugins portmap
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import flannel_nftables, proxy_mode
from ..._evidence._host import Host
from ..._evidence._said import said_on, said_without_host
from ..._evidence._versions import version
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import available
from .ipv6_disabled import ipv6_off

RULE = Rule(
    title="Netfilter lacks parts",
    severity="error",
    needs=("nodes.iptables", "nodes.modules", "nodes.modules_available"),
    remedy="Set cluster_kube_proxy_mode: nftables where the kernel has no x_tables; otherwise install what is named.",
    explains=("service-path-broken", "flannel-rules-missing", "flannel-link-missing", "route-missing"),
    rank=20,
)

_NFT_COMPAT = ("nf_tables", "nft_compat")
_LEGACY = ("ip_tables", "iptable_filter", "iptable_nat")
_MATCHES = ("xt_comment", "xt_conntrack", "xt_mark", "xt_statistic", "xt_addrtype", "xt_nat", "xt_tcpudp")
_NFTABLES = ("nf_tables", "nft_fib", "nft_fib_ipv4", "nft_chain_nat", "nft_masq", "nft_nat", "nft_ct")
_SIGNS = re.compile(
    r"could not find nftables binary|no nftables support|Module (ip_tables|nf_tables|x_tables) not found"
    r"|Extension \w+ revision \d+ not supported, missing kernel module"
    r"|Couldn't load (match|target .(?!FLANNEL|KUBE|CNI|DOCKER))|Could not fetch rule set generation id"
    r"|(CHAIN|RULE|TABLE)_(ADD|APPEND|INSERT) failed \((No such file|Operation not supported)"
    r"|unknown option \\*\"--random-fully|iptables-restore binary was not found"
    r"|(iptables|nft)\S* is not available on this host|nftables[^\n]*(kernel|nft)[^\n]*(too old|or later|or newer)"
    r"|can't initialize iptables table|unable to initialize table|Table does not exist \(do you need to insmod"
    r"|exec: \"(ip6?tables|nft)[\w-]*\": executable file not found"
    r"|Failed to initialize nft: Protocol not supported",
    re.IGNORECASE,
)
_CLEANING = re.compile(r"error cleaning up (nf|ip)tables", re.IGNORECASE)
"""kube-proxy's first words where the mode that it does not use is not there."""


def check_node(node: Host, view: View) -> Iterator[Found]:
    said = _complaint(node, view)
    if said:
        yield Found("a component misses a part of netfilter", {"said": said})
        return
    yield from _tools(node)
    if proxy_mode(view) == "nftables":
        yield from _kernel_for_nftables(node)
    if proxy_mode(view) != "nftables" or not flannel_nftables(view):
        yield from _kernel_for_iptables(node)


def check_cluster(view: View) -> Iterator[Found]:
    for place, _kube, lines in said_without_host(view):
        if said := next(filter(_complains, lines), ""):
            yield Found("a component misses a part of netfilter", {"said": said.strip()[-300:]}, where=place)


def _complains(line: str) -> bool:
    return _SIGNS.search(line) is not None and not _CLEANING.search(line)


def _complaint(node: Host, view: View) -> str:
    for line in said_on(view, node):
        if _complains(line) and not ("ip6tables" in line and ipv6_off(node)):
            return line.strip()[-300:]
    return ""


def _tools(node: Host) -> Iterator[Found]:
    """What the portmap plugin is told to use has to be on the host."""
    try:
        asked = {plugin.text("backend") for file in node.cni_files for plugin in file.plugins}
        installed = set(node.packages)
    except Missing:
        return
    if "nftables" in asked and installed and "nftables" not in installed and not node.raw.get("nft"):
        yield Found(
            "the portmap plugin is told to use nftables, and the host has no nft", {"packages": sorted(installed)}
        )


def _kernel_for_nftables(node: Host) -> Iterator[Found]:
    kernel = version(node.kernel) if node.has("kernel") else None
    if kernel and kernel[:2] < (5, 13):
        yield Found(f"kernel {node.kernel} is too old for nftables mode: 5.13 is needed", {"kernel": node.kernel})
        return
    if not node.modules_available or _has_chains(node):
        return  # a kernel without modules to load, or one that shows its tables
    have = available(node)
    gone = [name for name in _NFTABLES if name not in have]
    if gone:
        yield Found(f"nftables mode needs {', '.join(gone)}, which the kernel does not have", {"absent": gone})


def _has_chains(node: Host) -> bool:
    try:
        tables = node.nft.items("nftables")
    except Missing:
        return False
    return any(one.text("table", "name") == "kube-proxy" for one in tables)


def _kernel_for_iptables(node: Host) -> Iterator[Found]:
    saved = node.saved4
    if any(rules and rules.of_proxy_or_flannel for rules in (saved.nft, saved.legacy)):
        return  # the rules are in the kernel: it has what they need
    if not node.modules_available:
        return
    have = available(node)
    absent = {name: [part for part in parts if part not in have] for name, parts in _backends(saved.selected).items()}
    if all(absent.values()):
        gone = sorted({part for parts in absent.values() for part in parts})
        backend = "" if len(absent) > 1 else f" for the {list(absent)[0]} backend that the host's iptables uses"
        compared = {"absent": absent, "iptables": saved.selected}
        yield Found(f"the kernel has no {', '.join(gone)}{backend}", compared)
        return
    gone = [name for name in _MATCHES if name not in have]
    if "xt_MASQUERADE" not in have and "ipt_MASQUERADE" not in have:
        gone.append("xt_MASQUERADE")
    if gone and any(name.startswith("xt_") for name in have):
        yield Found(f"the kernel has no {', '.join(gone)}", {"absent": gone})


def _backends(selected: str) -> dict[str, tuple[str, ...]]:
    every = {"nft": _NFT_COMPAT, "legacy": _LEGACY}
    return {selected: every[selected]} if selected in every else every
