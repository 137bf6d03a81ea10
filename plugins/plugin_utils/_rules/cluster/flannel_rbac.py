# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's service account lacks a right.

## What it means
flanneld reads its own pod, gets, lists and watches nodes, and patches node status. The rights come from ClusterRole
and ClusterRoleBinding `flannel`, whose subject names one namespace; a manifest applied in part or into another
namespace, or an older ClusterRole with a newer image (`get nodes` is needed since v0.19), leaves it without.

## How it looks
CrashLoopBackOff with `nodes is forbidden: User "system:serviceaccount:kube-flannel:flannel" cannot list resource
"nodes"`, or `cannot get resource "pods"`.

## What looks like it but is not
- `forbidden` for some seconds after an etcd restore or while the API server starts.
- Flannel cannot reach the API server at all (i/o timeout): see `service-path-broken`.
- `get pods` alone is missing and flannel runs: it takes its node's name from NODE_NAME there; a warning.

## How it is told
SubjectAccessReviews for the account that the DaemonSet runs as; without them, the words in flannel's log.

## Mend
Apply ClusterRole and binding with the namespace that flannel runs in: podnet.kubeadm.repair. Not cluster-admin.

## Prevent
Apply manifests whole; podnet.kubeadm.site does.

## Sources
- flannel issues 1735, 965, 648; PR 1657
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's service account lacks a right",
    severity="error",
    needs=("cluster.access", "cluster.daemonsets"),
    remedy="Run podnet.kubeadm.repair: it applies flannel's ClusterRole and binding for the namespace it runs in.",
    repair="flannel:rolled_out",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing"),
    rank=20,
)

NEEDED = ("get pods", "get nodes", "list nodes", "watch nodes", "patch nodes/status")
FORBIDDEN = re.compile(
    r'is forbidden: User "(?P<account>system:serviceaccount:[^"]+)" '
    r'cannot (?P<verb>get|list|watch|patch) resource "(?P<resource>pods|nodes|nodes/status)"'
)


def check_cluster(view: View) -> Iterator[Found]:
    cluster = view.cluster
    for daemonset in cluster.flannel_daemonsets:
        account = daemonset.pod_spec.text("serviceAccountName") or "default"
        user = f"system:serviceaccount:{daemonset.namespace}:{account}"
        rights = cluster.access.item(user) if cluster.has("access") else None
        if rights:
            lacking = [right for right in NEEDED if rights.flag(right) is False]
        else:
            lacking = _from_logs(view, user)
            if not lacking and rights is None:
                raise Missing("cluster.access")
        if lacking:
            running = bool(daemonset.item("status").number("numberReady"))
            yield Found(
                f"flannel's account {daemonset.namespace}/{account} may not {', '.join(lacking)}",
                {"account": user, "lacking": lacking},
                severity="warning" if lacking == ["get pods"] and running else None,
            )


def _from_logs(view: View, user: str) -> list[str]:
    """What an account was refused, from the logs of flannel's pods that are not ready."""
    pods = [pod for pod in view.cluster.flannel_pods if not pod.ready] if view.cluster.has("pods") else []
    found = (match for pod in pods for match in FORBIDDEN.finditer(view.cluster.pod_log(pod)))
    return sorted({f"{one['verb']} {one['resource']}" for one in found if one["account"] == user})
