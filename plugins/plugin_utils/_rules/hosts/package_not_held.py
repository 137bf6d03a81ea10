# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Packages of Kubernetes are not held at their version.

## What it means
An ordinary upgrade of the system (`apt upgrade`, unattended-upgrades, `dnf update`) takes the kubelet to whatever its
repository has, on every node at once and without the steps that belong to it.

## How it looks
Nothing, until it happens: then the kubelet restarts in another version, maybe one newer than the API server, and
kubeadm does not fit the cluster any more.

## What looks like it but is not
- Packages that follow others and may move: kubernetes-cni, cri-tools.
- Binaries without a package: nothing can move them.

## Mend
`apt-mark hold kubelet kubeadm kubectl` (`dnf versionlock add ...`), or run podnet.kubeadm.site.

## Prevent
`kubernetes_packages_hold: true`, the default of the role kubernetes_packages.

## Sources
- kubernetes documentation, "Installing kubeadm" and "Upgrading kubeadm clusters"
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Kubernetes' packages are not held",
    severity="warning",
    needs=("nodes.packages",),
    remedy="Run podnet.kubeadm.site with kubernetes_packages_hold: true, or apt-mark hold kubelet kubeadm kubectl.",
    rank=80,
)

_HELD = ("kubelet", "kubeadm", "kubectl")


def check_node(node: Host, view: View) -> Iterator[Found]:
    loose = [name for name in _HELD if node.packages.flag(name, "held") is False]
    if loose:
        versions = {name: node.packages.text(name, "version") for name in loose}
        yield Found(f"{', '.join(loose)} {'is' if len(loose) == 1 else 'are'} not held", versions)
