# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""inotify's limits are used up.

## What it means
Every watch on files (kube-proxy's configuration, the runtime's CNI folder, kubectl logs -f) takes an inotify instance
of its user; root has 128 by default. Nodes with many pods or more nodes on one kernel use them up.

## How it looks
`failed complete: too many open files` (kube-proxy), `failed to create fsnotify watcher: too many open files` (runtime,
kubelet, sandboxes), or `no space left on device` for watches.

## What looks like it but is not
- The default of 128 and nothing that complains: it is enough for most nodes, told as information.
- `too many open files` with high limits: the process's own limit, see `limit-too-low`.

## Mend
`sysctl -w fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=524288`, and the same in /etc/sysctl.d;
podnet.kubeadm.site does (`host_sysctl_minimums`).

## Prevent
The role host raises both.

## Sources
- kind documentation, "Known issues": too many open files; kubernetes issue 46230
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._said import heard, heard_without_host, said_on
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="inotify's limits are too low",
    severity="error",
    needs=("nodes.inotify",),
    remedy="Run podnet.kubeadm.site, which raises host_sysctl_minimums, or set fs.inotify.max_user_instances to 8192.",
    repair="host:main",
    explains=("service-path-broken", "limit-too-low"),
    rank=20,
)

_INSTANCES = re.compile(r"too many open files", re.IGNORECASE)
_WATCHES = re.compile(
    r"(inotify|fsnotify|watch).*no space left on device|no space left on device.*(inotify|watch)", re.I
)
INOTIFY = re.compile(r"(?:inotify|fsnotify|watcher)[^\n]*too many open files", re.IGNORECASE)
"""Of files in general it is another limit."""
_DEFAULT = 128
_ENOUGH_INSTANCES, _ENOUGH_WATCHES = 1024, 65536


def check_node(node: Host, view: View) -> Iterator[Found]:
    if not _known(node) and (said := heard(view, node, INOTIFY)):
        yield Found("inotify instances are used up", {"said": said})
        return
    limits = node.inotify_limits
    instances, watches = limits.number("max_user_instances"), limits.number("max_user_watches")
    lines = said_on(view, node)
    compared = {"max_user_instances": instances, "max_user_watches": watches}
    for name, limit, enough, sign in (
        ("instances", instances, _ENOUGH_INSTANCES, _INSTANCES),
        ("watches", watches, _ENOUGH_WATCHES, _WATCHES),
    ):
        said = next((line.strip() for line in lines if sign.search(line)), "")
        if said and limit is not None and limit < enough:
            yield Found(f"{limit} inotify {name} are used up", {**compared, "said": said[-300:]})
            return
    if instances is not None and instances <= _DEFAULT:
        yield Found(f"{instances} inotify instances are few", compared, severity="info")


def check_cluster(view: View) -> Iterator[Found]:
    for place, _kube, said in heard_without_host(view, INOTIFY):
        yield Found("inotify instances are used up", {"said": said}, where=place)


def _known(node: Host) -> bool:
    try:
        return bool(node.inotify_limits)
    except Missing:
        return False
