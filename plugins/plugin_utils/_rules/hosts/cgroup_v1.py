# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host's control groups are of a version that the kubelet refuses or does not know.

## What it means
From 1.35 on the kubelet ends on a host with cgroup v1 (hybrid hosts count as v1), unless its configuration says
`failCgroupV1: false`. Before 1.19 no kubelet knew cgroup v2.

## How it looks
The kubelet restarts with `kubelet is configured to not run on a host using cgroup v1`; kubeadm 1.35 and newer stops at
the check SystemVerification. An old kubelet on v2 ends with `mountpoint for cpu not found`.

## What looks like it but is not
- cgroup v1 with `failCgroupV1: false`: it works, and support will end. Told as information.
- Different drivers of kubelet and runtime: see `cgroup-driver-mismatch`.

## Mend
Boot with cgroup v2 (take systemd.unified_cgroup_hierarchy=0 from the kernel's command line; every distribution since
2021 has v2 as default), or set `cluster_kubelet_config: {failCgroupV1: false}` for the time being.

## Prevent
Use a distribution with cgroup v2.

## Sources
- kubernetes enhancement 5573; kubernetes pull request 134298; kubernetes documentation, "About cgroup v2"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import kubelet_asked, kubernetes_version
from ..._evidence._host import Host
from ..._evidence._said import heard
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The kubelet refuses the host's control groups",
    severity="error",
    needs=("nodes.cgroup", "nodes.kubelet_version"),
    remedy=(
        "Boot the host with cgroup v2, or set cluster_kubelet_config: {failCgroupV1: false} and run "
        "podnet.kubeadm.site."
    ),
    explains=("kubelet-down",),
    rank=25,
)


_SAID = re.compile(r"configured to not run on a host using cgroup v1")


def check_node(node: Host, view: View) -> Iterator[Found]:
    if not node.has("cgroup") and (said := heard(view, node, _SAID)):
        yield Found("the kubelet refuses the host's cgroup v1", {"said": said})
    which = node.cgroup.number("version")
    if which is None:
        raise Missing(f"{node.path}.cgroup.version")
    release = kubernetes_version(view, node)
    if release is None:
        raise Missing(f"{node.path}.kubelet_version")
    compared = {"cgroup": node.cgroup.raw, "kubelet": str(release)}
    if which == 1:
        old = "cgroup v1 beside an unused v2" if node.cgroup.flag("hybrid") else "cgroup v1"
        if release[:2] >= (1, 35) and not _tolerated(node, view):
            yield Found(f"the host has {old}, which the kubelet {release.series} refuses", compared)
        else:
            yield Found(f"the host has {old}, whose support ends", compared, severity="info")
    elif which == 2 and release[:2] < (1, 19):
        yield Found(f"the host has cgroup v2, which the kubelet {release.series} does not know", compared)


def _tolerated(node: Host, view: View) -> bool:
    try:
        said = node.kubelet_config.flag("failCgroupV1")
    except Missing:
        said = kubelet_asked(view).flag("failCgroupV1")
    return said is False
