# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The runtime looks for plugins or configuration elsewhere than flannel puts them.

## What it means
flannel's DaemonSet copies its plugin to /opt/cni/bin and its configuration to /etc/cni/net.d of the host.
Distributions build runtimes with other folders (/usr/lib/cni, /usr/libexec/cni).

## How it looks
`failed to find plugin "flannel" in path [/usr/libexec/cni]`, though /opt/cni/bin/flannel is there; or the node stays
NotReady with `cni plugin not initialized`, though /etc/cni/net.d/10-flannel.conflist is there.

## What looks like it but is not
- Another folder in which flannel's plugin is found all the same (a link, a manifest with that path).
- The same folder without the plugin: see `cni-plugin-missing`.

## Mend
Set the runtime's bin_dir to /opt/cni/bin and conf_dir to /etc/cni/net.d and restart it; podnet.kubeadm.site does
(`containerd_cni_bin_dir`, `containerd_cni_conf_dir`). Plugins that the distribution installed elsewhere have to be in
/opt/cni/bin then too: the package kubernetes-cni puts them there.

## Prevent
The role containerd sets both folders.

## Sources
- containerd `docs/cri/config.md`; cri-o issue 2411; kubernetes issue 62054
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._item import Item
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import joined

RULE = Rule(
    title="Runtime and flannel use different CNI folders",
    severity="error",
    needs=("nodes.runtime",),
    remedy=(
        "Run podnet.kubeadm.site, which sets containerd_cni_bin_dir and containerd_cni_conf_dir, or set them in "
        "the runtime."
    ),
    repair="containerd:main",
    explains=("cni-plugin-missing", "cni-foreign-config"),
    rank=20,
)

_DEFAULT = {"bin_dir": "/opt/cni/bin", "conf_dir": "/etc/cni/net.d"}


def check_node(node: Host, view: View) -> Iterator[Found]:
    installs = _installs(view)
    apart = {}
    for key, folder in installs.items():
        looks = _folders(node.runtime, key)
        if looks and folder not in looks and not _works(node, key):
            apart[key] = {"runtime": looks, "flannel": folder}
    if not node.runtime.has("bin_dir") and not apart:
        raise Missing(f"{node.path}.runtime.bin_dir")
    if apart:
        said = " and ".join(f"{', '.join(one['runtime'])} instead of {one['flannel']}" for one in apart.values())
        soft = None if joined(node, view) else "warning"
        yield Found(f"the runtime looks into {said}", apart, severity=soft)


def _folders(runtime: Item, key: str) -> list[str]:
    said = runtime.texts(key) or [part for part in runtime.text(key).replace(":", ",").split(",") if part.strip()]
    return [posixpath.normpath(part.strip()) for part in said]


def _works(node: Host, key: str) -> bool:
    """Whether flannel's plugin, or its file, is where the runtime looks all the same."""
    try:
        return "flannel" in node.cni_bin if key == "bin_dir" else any(file.is_flannel for file in node.cni_files)
    except Missing:
        return False


def _installs(view: View) -> dict[str, str]:
    """The host's folders that flannel's DaemonSet installs to."""
    found = dict(_DEFAULT)
    try:
        daemonsets = view.cluster.flannel_daemonsets
    except Missing:
        return found
    for one in daemonsets:
        for volume in one.pod_spec.items("volumes"):
            path = posixpath.normpath(volume.text("hostPath", "path") or "/")
            if volume.text("name") == "cni-plugin":
                found["bin_dir"] = path
            elif volume.text("name") == "cni":
                found["conf_dir"] = path
    return found
