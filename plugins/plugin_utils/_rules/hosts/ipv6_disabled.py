# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""IPv6 is off on the host, and something needs it or trips over its absence.

## What it means
Booted with `ipv6.disable=1` there is no /proc/sys/net/ipv6 at all; with disable_ipv6=1 links get no IPv6 address. Pods
with IPv6 need it. Some releases need the tree even on IPv4: flannel 0.24.3 runs ip6tables in any case, some plugins
open /proc/sys/net/ipv6/conf/eth0/accept_dad.

## How it looks
flannel ends with `ip6tables-restore: unable to initialize table`; pods stay in ContainerCreating with
`open /proc/sys/net/ipv6/conf/eth0/accept_dad: no such file or directory`; in dual stack flannel finds no IPv6 address.

## What looks like it but is not
- IPv6 off on an IPv4 cluster whose components do not mind: nothing is wrong, nothing is reported.
- No IPv6 default route: see `interface-none`. net.ipv6.conf.all.forwarding off: see `sysctl-wrong`.

## Mend
Where IPv6 is asked for: take ipv6.disable=1 from the kernel's command line, set disable_ipv6 to 0, reboot. Where only
a component trips: update it (`flannel_version`, kubernetes-cni).

## Prevent
Leave IPv6 on; it costs nothing. Releases of flannel from 0.28.6 on do not mind.

## Sources
- flannel issues 1913, 1906; containernetworking/plugins issue 1023
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import flannel_intent, pod_versions
from ..._evidence._host import Host
from ..._evidence._said import said_on
from ..._evidence._versions import Version, image_name, image_version, version
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="IPv6 is off on the host",
    severity="error",
    needs=("nodes.sysctl",),
    remedy=(
        "Turn IPv6 on (kernel command line, net.ipv6.conf.all.disable_ipv6=0) or set flannel_version to one that "
        "does without."
    ),
    explains=(
        "netfilter-incomplete",
        "cni-plugin-missing",
        "interface-none",
        "flannel-link-missing",
        "flannel-rules-missing",
        "route-missing",
        "sysctl-wrong",
    ),
    rank=20,
)

_TRIPS = re.compile(
    r"/proc/sys/net/ipv6/\S*: no such file|address family not supported by protocol"
    r"|ip6tables\S*[ :].*(unable|can't|cannot|fail|not supported|exist)",
    re.IGNORECASE,
)
_AFFECTED = {Version(0, 24, 3)}
"""Releases of flannel that run ip6tables where EnableIPv6 is false (flannel issue 1913)."""


def check_node(node: Host, view: View) -> Iterator[Found]:
    if not ipv6_off(node):
        return
    compared = {name: value for name, value in node.sysctl.items() if name.endswith("disable_ipv6")}
    if 6 in pod_versions(view):
        yield Found("IPv6 is off, and the pod range has IPv6", compared)
        return
    said = next((line.strip() for line in said_on(view, node) if _TRIPS.search(line)), "")
    if said:
        yield Found("IPv6 is off, and a component trips over that", {**compared, "said": said[-300:]})
    elif (release := _flannel(view)) and release in _AFFECTED:
        yield Found(f"IPv6 is off, and flannel {release} runs ip6tables in any case", compared)


def ipv6_off(node: Host) -> bool:
    """Whether the host, or every link of it, has IPv6 off. Raises `Missing` where kernel values were not looked at."""
    switches = {name: value for name, value in node.sysctl.items() if name.startswith("net.ipv6.")}
    if not switches:
        return bool(node.sysctl) and not _has_ipv6(node)
    return (
        switches.get("net.ipv6.conf.all.disable_ipv6") == "1"
        or switches.get("net.ipv6.conf.default.disable_ipv6") == "1"
    )


def _has_ipv6(node: Host) -> bool:
    try:
        return bool(node.addresses(6))
    except Missing:
        return False


def _flannel(view: View) -> Version | None:
    try:
        images = [image for one in view.cluster.flannel_daemonsets for image in one.images]
    except Missing:
        images = []
    for image in images:
        if image_name(image) == "flannel" and (found := image_version(image)):
            return found
    return version(flannel_intent(view).text("version"))
