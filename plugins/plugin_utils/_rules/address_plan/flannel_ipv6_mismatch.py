# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's IPv6 settings are not those of the nodes' pod ranges.

## What it means
Flannel serves the families that EnableIPv4 (on unless switched off) and EnableIPv6 (off unless switched on) name, and
wants a network and, on every node, a pod range for each.

## How it looks
`missing IPv6 address on n.Spec.PodCIDRs`, `subnet "" specified in the flannel net config doesn't contain ... IPv6
PodCIDR`, or, with dual-stack nodes and EnableIPv6 off, a segmentation fault in older releases.

## What looks like it but is not
- IPv6 switched off on the hosts: see `ipv6-disabled`. No IPv6 default route: see `interface-none`.
- A single-stack cluster that an inventory asks to be dual stack: see `live-cidr-change`.

## Mend
Set EnableIPv6 and IPv6Network to what the nodes have, EnableIPv4 to false where they have IPv6 only, and roll the
DaemonSet.

## Prevent
Both come from `cluster_pod_cidr`, which takes a range of each family.

## Sources
- flannel `Documentation/configuration.md`, dual stack; `pkg/subnet/kube/kube.go`; flannel PR 1890
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._flannel import NetConf
from ..._evidence._net import Network, contains, network
from ..._evidence._said import places, told
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's IPv6 settings are not those of the nodes",
    severity="error",
    needs=("cluster.flannel_config", "cluster.nodes"),
    remedy="Run podnet.kubeadm.repair: it sets EnableIPv4, EnableIPv6 and IPv6Network to what the nodes have.",
    repair="flannel:rolled_out",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing", "flannel-netconf-invalid"),
    rank=10,
)

_SAID = re.compile(
    r'doesn\'t contain \\*"[^"]+" IPv6 PodCIDR of the'
    r"|specified in the PodCIDR, but doesn't exist in the flannel net config"
)
"""flanneld's own words, for a cluster whose configuration or nodes were not looked at."""


def check_intent(view: View) -> Iterator[Found]:
    if view.intent.has_net_conf:
        yield from _compare(view.intent.net_conf, list(view.plan.pod), "the pod range")


def check_cluster(view: View) -> Iterator[Found]:
    try:
        ranges = [one for node in view.cluster.nodes for one in node.pod_networks]
        if ranges:
            yield from _compare(view.cluster.net_conf, ranges, "the nodes' pod ranges")
    except Missing:
        said = told(view, _SAID)
        if not said:
            raise
        compared = {name: one.string.strip()[-300:] for name, one in said.items()}
        yield Found(
            "flannel says that its IPv6Network does not hold the node's IPv6 range", compared, where=places(said)
        )


def _compare(conf: NetConf, ranges: list[Network], whose: str) -> Iterator[Found]:
    versions = {one.version for one in ranges}
    compared = {
        "EnableIPv4": conf.enable_ipv4,
        "EnableIPv6": conf.enable_ipv6,
        "IPv6Network": conf.text("IPv6Network") or None,
        "families of the ranges": sorted(f"IPv{version}" for version in versions),
    }
    if 4 not in versions and conf.enable_ipv4:
        yield Found(f"{whose} have no IPv4 and EnableIPv4 is on, as it is unless set to false", compared)
    if 6 in versions and not conf.enable_ipv6:
        yield Found(f"{whose} have IPv6 and EnableIPv6 is off", compared)
    if 6 not in versions and conf.enable_ipv6:
        yield Found(f"EnableIPv6 is on and {whose} have no IPv6", compared)
    if 6 in versions and conf.enable_ipv6:
        wanted = network(conf.text("IPv6Network"))
        outside = sorted({str(one) for one in ranges if one.version == 6 and not (wanted and contains(wanted, one))})
        if outside:
            beside = {**compared, "outside": outside[:5], "outside in all": len(outside)}
            yield Found(f"IPv6Network does not contain {whose}", beside)
