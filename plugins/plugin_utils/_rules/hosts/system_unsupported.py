# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The system is not one that the collection builds on.

## What it means
The roles install packages for Debian 12 and 13 and for Ubuntu 22.04 and 24.04. On another system they would stop half
way, at a package that is not there or has another name.

## How it looks
`apt-get` is not found, or a repository has no suite of that name.

## What looks like it but is not
- A derivative that keeps its parent's identity in /etc/os-release is that parent.
- A member of a running cluster is not judged by it: what runs, runs.
- A cluster that is built by other means may well run on another system: a warning here, a refusal in
  podnet.kubeadm.preflight and site, unless `cluster_accept_findings` has it.

## Mend
Install one of these systems on the host, or take it out of the inventory's groups.

## Prevent
Nothing to prevent.

## Sources
- os-release(5), ID and VERSION_ID
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

SUPPORTED = {"debian": ("12", "13"), "ubuntu": ("22.04", "24.04")}

RULE = Rule(
    title="The system is not supported",
    severity="warning",
    needs=("nodes.os_release",),
    remedy="Use Debian 12 or 13, or Ubuntu 22.04 or 24.04, or take the host out of the inventory's groups.",
    rank=85,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.stage == "cluster":
        return
    system, version = node.os_release.get("ID", ""), node.os_release.get("VERSION_ID", "")
    if version in SUPPORTED.get(system, ()):
        return
    name = node.os_release.get("PRETTY_NAME") or f"{system} {version}".strip() or "an unknown system"
    yield Found(f"{name} is not supported", {"/etc/os-release": {"ID": system, "VERSION_ID": version}})
