# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which kernel modules a host has: loaded, built in, or shown by what only they make."""

from __future__ import annotations

import contextlib

from ..._evidence._host import Host
from ..._finding import Missing
from ..._view import View

_KINDS = ("vxlan", "wireguard", "ipip", "bridge", "tun", "veth")
"""Kinds of links that are called like the module that makes them."""


def _normal(names: list[str]) -> set[str]:
    return {name.replace("-", "_") for name in names}


def present(node: Host) -> set[str]:
    """Modules loaded or built in, also those that a link, a switch or a rule of theirs proves. Raises `Missing`."""
    found = _normal(node.modules)
    with contextlib.suppress(Missing):
        found |= {link.kind for link in node.links if link.kind in _KINDS}
    try:
        if node.proc_net_bridge:
            found.add("br_netfilter")
    except Missing:
        pass
    try:
        if "net.netfilter.nf_conntrack_max" in node.sysctl:
            found.add("nf_conntrack")
    except Missing:
        pass
    return found


def available(node: Host) -> set[str]:
    """Modules that the host could load or has. Raises `Missing`."""
    return _normal(node.modules_available) | present(node)


def joined(node: Host, view: View) -> bool:
    """Whether the host is a member of a cluster: its kubelet has a kubeconfig, or there is a Node of it.

    Where neither was looked at, the stage tells. What keeps a member from working is an error; on a host that is none
    yet most of it is mended by whoever builds the cluster, and is a warning.
    """
    files = None
    with contextlib.suppress(Missing):
        files = node.kubernetes_files
        if "/etc/kubernetes/kubelet.conf" in files:
            return True
    if view.stage != "cluster":
        return False
    try:
        return view.kube_node(node) is not None
    except Missing:
        return files is None
