# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kubelet and the container runtime manage control groups in different ways.

## What it means
Either systemd makes the groups of pods (`SystemdCgroup = true`, `cgroupDriver: systemd`) or they are made beside it
(cgroupfs). If the two disagree, containers are killed or do not start. kubeadm sets the kubelet to systemd;
containerd's own default is cgroupfs.

## How it looks
All system pods of a node restart again and again with exit code 0 or 137, without an error of their own: flannel logs
`shutdownHandler sent cancel signal`, kube-proxy `Shutting down`; events say `Pod sandbox changed, it will be killed
and re-created`. It looks like a network fault and is none.

## What looks like it but is not
- Both on cgroupfs: odd, and it agrees.
- A second handler (nvidia, kata) that is not the default: only pods that ask for it are concerned, a warning.

## Mend
`SystemdCgroup = true` in the options of the default runtime in /etc/containerd/config.toml, restart containerd, then
the kubelet, on a drained node. podnet.kubeadm.site writes it (`containerd_systemd_cgroup`).

## Prevent
The role containerd sets the driver of every handler it writes.

## Sources
- kubernetes documentation, "Configuring a cgroup driver"; kubernetes enhancement 4033 (RuntimeConfig)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import kubelet_asked
from ..._evidence._host import Host
from ..._evidence._said import heard, heard_without_host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import joined

RULE = Rule(
    title="kubelet and runtime use different cgroup drivers",
    severity="error",
    needs=("nodes.runtime",),
    remedy=(
        "Run podnet.kubeadm.site, which sets containerd_systemd_cgroup, or set SystemdCgroup = true and restart "
        "containerd."
    ),
    repair="containerd:main",
    explains=("service-path-broken", "kubelet-down"),
    rank=20,
)

_SAID = re.compile(
    r'kubelet cgroup driver: \\*"(\w+)\\*" is different from docker cgroup driver: \\*"(\w+)'
    r'|detected \\*"()(cgroupfs)\\*" as the Docker cgroup driver'
)
_PATH = re.compile(r"expected cgroupsPath to be of format \W*slice:prefix:name|cgroupsPath[^\n]*systemd cgroups, got")
"""What runc says where it is told systemd by the runtime and given a path of cgroupfs by the kubelet."""


def check_cluster(view: View) -> Iterator[Found]:
    for place, _kube, said in heard_without_host(view, _PATH):
        yield Found("the kubelet uses cgroupfs, the runtime systemd", {"said": said}, where=place)


def check_node(node: Host, view: View) -> Iterator[Found]:
    if not node.runtime.has("systemd_cgroup") and not node.runtime.item("handlers"):
        yield from _by_words(node, view)
        return
    runtime = node.runtime
    kubelet = _kubelet(node, view)
    handlers = {name: runtime.flag("handlers", name, "systemd_cgroup") for name in runtime.item("handlers")}
    default = runtime.text("default_handler") or "runc"
    systemd = handlers.get(default)
    if systemd is None:
        systemd = runtime.need("systemd_cgroup", kind=bool)
    compared = {"kubelet": kubelet, "runtime": _driver(systemd), "handler": default, "handlers": handlers}
    soft = None if joined(node, view) else "warning"
    if _driver(systemd) != kubelet:
        summary = f"the kubelet uses {kubelet}, the runtime {_driver(systemd)}"
        yield Found(summary, compared, severity=soft)
        return
    others = sorted(name for name, flag in handlers.items() if flag is not None and _driver(flag) != kubelet)
    if others:
        summary = f"the handler {', '.join(others)} uses {_driver(not systemd)}, the kubelet {kubelet}"
        yield Found(summary, compared, severity="warning")


def _by_words(node: Host, view: View) -> Iterator[Found]:
    """What kubelet and kubeadm say of a Docker that was not asked itself."""
    texts = [node.journal.get("kubelet", "")] if node.has("journal") else []
    texts += [node.kubeadm_output] if node.has("kubeadm_output") else []
    match = next(filter(None, map(_SAID.search, texts)), None)
    if match is None and (said := heard(view, node, _PATH)):
        yield Found("the kubelet uses cgroupfs, the runtime systemd", {"said": said})
        return
    if match is None:
        raise Missing(f"{node.path}.runtime.systemd_cgroup")
    kubelet, runtime = [one for one in match.groups() if one is not None]
    kubelet = kubelet or _kubelet(node, view)
    if kubelet != runtime:
        soft = None if joined(node, view) else "warning"
        yield Found(f"the kubelet uses {kubelet}, the runtime {runtime}", {"said": match[0]}, severity=soft)


def _driver(systemd: bool) -> str:
    return "systemd" if systemd else "cgroupfs"


def _kubelet(node: Host, view: View) -> str:
    """The kubelet's driver: by flag, by its configuration, by the user's own, else kubeadm's default."""
    try:
        if flag := node.kubelet_flags.get("cgroup-driver"):
            return flag
    except Missing:
        pass
    try:
        if said := node.kubelet_config.text("cgroupDriver"):
            return said
    except Missing:
        pass
    return kubelet_asked(view).text("cgroupDriver") or "systemd"
