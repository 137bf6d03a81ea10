# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A version that is not supported.

## What it means
Kubernetes maintains three minor versions; podnet.kubeadm builds 1.35 to 1.37 with flannel v0.28.6 and newer. What is
older lacks fixes and features that the rest counts on: dual stack before 1.20, cgroup v2 before 1.22, nftables before
1.29.

## How it looks
kubeadm refuses a configuration, a kubelet does not start on a current system, or all is well and nobody mends it.

## What looks like it but is not
- Components of one cluster that do not fit each other: see `version-skew`.
- A newer version than the collection knows: an info, not a fault.
- A running flannel that is older than the collection installs: an info; only one that cannot be upgraded in place
  (before v0.20.2) is a warning.

## How it is told
The version asked for, the kubelet on a host before the cluster is built, and on a running cluster what the API server
and flannel's image say.

## Mend
Ask for a supported version (`cluster_kubernetes_version`, `flannel_version`); upgrade a running cluster one minor
version at a time (`kubeadm upgrade plan`).

## Prevent
Upgrade twice a year.

## Sources
- kubernetes.io/releases; flannel `Documentation/upgrade.md`
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._versions import Version, image_name, image_version, version
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A version that is not supported",
    severity="error",
    needs=("intent.kubernetes_version", "nodes.kubelet_version"),
    remedy="Set cluster_kubernetes_version (and flannel_version) to a supported version; "
    "a running cluster goes there with kubeadm upgrade, one minor version at a time.",
    rank=45,
)

OLDEST, NEWEST = Version(1, 35), Version(1, 37)
"""Minor versions of Kubernetes that the collection builds."""
OLDEST_FLANNEL = Version(0, 28, 6)
UPGRADABLE_FLANNEL = Version(0, 20, 2)
SUPPORTED = f"{OLDEST.series} to {NEWEST.series}"


def check_intent(view: View) -> Iterator[Found]:
    if view.intent.has("kubernetes_version"):
        asked, text = _asked(view), str(view.intent.kubernetes_version)
        if view.stage in ("intent", "host") and not re.fullmatch(r"\d+\.\d+\.\d+", text):
            # Packages, images and kubeadm's file are named by it.
            yield Found(f"{text!r} is no version of Kubernetes as it is written here: 1.37.2", {"version": text})
        elif asked and (asked.major, asked.minor) < (OLDEST.major, OLDEST.minor):
            yield _kubernetes("Kubernetes", asked, "error")
        elif asked and (asked.major, asked.minor) > (NEWEST.major, NEWEST.minor):
            yield _kubernetes("Kubernetes", asked, "warning")
    if view.intent.has("flannel"):
        asked = version(view.intent.flannel.text("version"))
        if asked and asked < OLDEST_FLANNEL:
            compared = {"flannel": str(asked), "supported": f"{OLDEST_FLANNEL} and newer"}
            yield Found(f"flannel {asked} is not supported; {OLDEST_FLANNEL} and newer are", compared)


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.stage != "host" or not node.has("kubelet_version"):
        return
    installed = version(node.kubelet_version)
    if installed and (installed.major, installed.minor) < (OLDEST.major, OLDEST.minor):
        yield _kubernetes("the kubelet", installed, "error")


def check_cluster(view: View) -> Iterator[Found]:
    server = version(view.cluster.server_version) if view.cluster.has("version") else None
    old = server is not None and (server.major, server.minor) < (OLDEST.major, OLDEST.minor)
    if server and old and server != _asked(view):
        yield _kubernetes("Kubernetes", server, "warning")
    elif server and (server.major, server.minor) > (NEWEST.major, NEWEST.minor):
        yield _kubernetes("Kubernetes", server, "info")
    for running, image in sorted(_flannels(view).items()):
        if view.intent.has("flannel") and version(view.intent.flannel.text("version")) == running:
            continue  # told of the intent
        yield Found(
            f"flannel {running} is older than what the collection installs ({OLDEST_FLANNEL} and newer)",
            {"image": image},
            severity="warning" if running < UPGRADABLE_FLANNEL and not old else "info",
        )


def _asked(view: View) -> Version | None:
    """The version that the intent names, of which the same was told."""
    return version(view.intent.kubernetes_version) if view.intent.has("kubernetes_version") else None


def _flannels(view: View) -> dict[Version, str]:
    """Versions of flannel that are older than the collection installs, with their images."""
    found: dict[Version, str] = {}
    for daemonset in view.cluster.flannel_daemonsets if view.cluster.has("daemonsets") else []:
        for image in daemonset.images:
            running = image_version(image) if image_name(image).endswith("flannel") else None
            if running and running < OLDEST_FLANNEL:
                found.setdefault(running, image)
    return found


def _kubernetes(what: str, found: Version, severity: str) -> Found:
    return Found(
        f"{what} {found} is not among the supported versions {SUPPORTED}",
        {"version": str(found), "supported": SUPPORTED},
        severity=severity,
    )
