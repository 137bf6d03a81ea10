# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A package repository is gone.

## What it means
Kubernetes' packages moved to pkgs.k8s.io, one repository per minor version. apt.kubernetes.io, yum.kubernetes.io and
packages.cloud.google.com were frozen in September 2023 and removed in March 2024. Releases of distributions are
archived too.

## How it looks
`apt update` ends with `The repository 'https://apt.kubernetes.io kubernetes-xenial Release' does not have a Release
file`, 404, or `NO_PUBKEY B53DC80D13EDEF05`; and with it every task that updates the list of packages.

## What looks like it but is not
- packages.cloud.google.com with google-cloud products (cloud-sdk): still alive.
- A comment, or a repository that is switched off (`enabled=0`).
- A mirror of one's own that keeps the old packages.

## Mend
Remove the old source; `deb [signed-by=/etc/apt/keyrings/kubernetes-apt-keyring.gpg]
https://pkgs.k8s.io/core:/stable:/v1.37/deb/ /` takes its place. podnet.kubeadm.site writes it.

## Prevent
The role kubernetes_packages owns the source of the cluster's minor version.

## Sources
- kubernetes blog 2023-08-15 and 2023-08-31, "pkgs.k8s.io"; CentOS, "CentOS Linux EOL"; Debian, archive.debian.org
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A package repository is gone",
    severity="error",
    needs=("nodes.package_sources",),
    remedy=(
        "Remove the source that is named; podnet.kubeadm.site writes that of pkgs.k8s.io for "
        "cluster_kubernetes_version."
    ),
    rank=35,
)

_DEAD = re.compile(
    r"https?://(apt\.kubernetes\.io|yum\.kubernetes\.io|packages\.cloud\.google\.com/(apt\S*\s+kubernetes-|yum/repos/kubernetes)"
    r"|packages\.cloud\.google\.com/yum/\S*kubernetes|mirrorlist\.centos\.org|kubernetes-release\.pkg)"
    r"|https?://(deb|ftp[\w.]*)\.debian\.org/debian/?\s+(jessie|stretch|buster)\b"
    r"|https?://download\.opensuse\.org/repositories/devel:/kubic",
    re.IGNORECASE,
)
_KUBERNETES = re.compile(r"kubernetes|google", re.IGNORECASE)


def check_node(node: Host, view: View) -> Iterator[Found]:
    lines = [line.strip() for line in node.package_sources if not line.lstrip().startswith(("#", ";"))]
    dead = [line for line in lines if _DEAD.search(line) and "enabled=0" not in line.replace(" ", "")]
    if not dead:
        return
    about = (
        "Kubernetes' old repository" if any(_KUBERNETES.search(line) for line in dead) else "a repository that is gone"
    )
    soft = "warning" if view.stage == "cluster" else None
    yield Found(f"{about} is among the package sources", {"sources": dead}, severity=soft)
