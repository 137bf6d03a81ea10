# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A CNI plugin that flannel's configuration calls is not on the host.

## What it means
flannel brings its own plugin `flannel` (by an init container, since 0.15); bridge, host-local, portmap and loopback
have to come from the package kubernetes-cni or containernetworking-plugins. Since their release 1.0 that package no
longer has `flannel`.

## How it looks
New pods stay in ContainerCreating: `failed to find plugin "portmap" in path [/opt/cni/bin]`. Beware: `plugin
type="flannel" failed (add): failed to find plugin "bridge"` misses bridge. Deleting pods hangs too; the node stays
Ready and old pods run on.

## What looks like it but is not
- `flannel` absent before flannel was applied: its DaemonSet brings it.
- The plugin is on the host and the runtime looks elsewhere: see `cni-dir-mismatch`.
- A plugin that another network's configuration calls: see `cni-foreign-config`.

## Mend
Install the package kubernetes-cni (or containernetworking-plugins); for `flannel` itself restart flannel's pod on that
node, or apply a manifest that has the init container install-cni-plugin (podnet.kubeadm.site). It heals in seconds,
nothing has to be restarted.

## Prevent
Keep portmap in the configuration and kubernetes-cni installed; do not empty /opt/cni/bin.

## Sources
- flannel issues 1471, 1730, 1847, 2301; k0s issue 582; rancher/rke2 issue 7981; containernetworking/plugins pull 633
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._cni import CniFile, cni_file
from ..._evidence._host import Host
from ..._evidence._said import heard, heard_without_host, said_on
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import joined

RULE = Rule(
    title="A CNI plugin is missing",
    severity="error",
    needs=("nodes.cni_bin",),
    remedy=(
        "Install the package kubernetes-cni; for the plugin flannel itself run podnet.kubeadm.site or restart "
        "flannel's pod there."
    ),
    repair="kubernetes_packages:cni_plugins",
    explains=("flannel-manifest-old",),
    rank=25,
)

_MISSED = re.compile(r"failed to find plugin \\?\"([\w.-]+)\\?\" in path")

_BROKEN = re.compile(r"fork/exec /\S*/cni/(?:bin/)?([\w.-]+): (exec format error|permission denied)")


def check_cluster(view: View) -> Iterator[Found]:
    for place, _kube, said in heard_without_host(view, _MISSED):
        yield _by_words(said, place)


def _by_words(said: str, where: str) -> Found:
    match = _MISSED.search(said)
    return Found(f"the runtime finds no plugin {match[1] if match else ''}".rstrip(), {"said": said}, where=where)


def check_node(node: Host, view: View) -> Iterator[Found]:
    if not node.has("cni_bin") and (heard_of := heard(view, node, _MISSED)):
        yield _by_words(heard_of, node.name)
    have = set(node.cni_bin)
    needed = _needed(node, view)
    gone = [name for name in needed if name not in have]
    lines = said_on(view, node)
    broken = next((match for line in lines if (match := _BROKEN.search(line))), None)
    if broken and not gone:
        yield Found(f"the plugin {broken[1]} cannot be run: {broken[2]}", {"said": broken[0]})
    if not gone:
        return
    said = sorted({match[1] for line in lines if (match := _MISSED.search(line))})
    compared = {"needed": needed, "absent": gone, "missed by new pods": said}
    soft = None if joined(node, view) else "warning"
    own = "flannel:restart" if gone == ["flannel"] else None  # it comes with flannel's pod, not with the package
    yield Found(f"the runtime's plugin folder has no {', '.join(gone)}", compared, severity=soft, repair=own)


def _needed(node: Host, view: View) -> list[str]:
    """Plugins of flannel's configuration on the host, else of the one in the cluster, else of upstream's."""
    found = ["loopback"] if not _internal_loopback(node) else []
    file, installed = _configuration(node, view)
    if file is None:
        return [*found, "bridge", "host-local", "portmap"]
    for plugin in file.plugins:
        kind = plugin.text("type")
        if kind == "flannel":
            delegate = plugin.item("delegate")
            found += ["flannel"] if installed and view.stage != "host" else []
            found += [delegate.text("type") or "bridge", delegate.text("ipam", "type") or "host-local"]
        elif kind:
            found.append(kind)
    return list(dict.fromkeys(found))


def _configuration(node: Host, view: View) -> tuple[CniFile | None, bool]:
    """flannel's configuration, and whether it is on the host: flannel brings its plugin right before it."""
    try:
        if file := next((one for one in node.cni_files if one.is_flannel and one.plugins), None):
            return file, True
    except Missing:
        pass
    try:
        file = cni_file("cni-conf.json", view.cluster.flannel_config.cni_conf_text)
    except Missing:
        return None, False
    return (file if file.plugins else None), False


def _internal_loopback(node: Host) -> bool:
    try:
        return bool(re.search(r"use_internal_loopback\s*=\s*true", node.runtime.text("config")))
    except Missing:
        return False
