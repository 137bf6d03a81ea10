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
"nodes"`, or `cannot get resource "pods"`. `Unauthorized` where the API server does not know the account's token: the
pods, or one control plane's /etc/kubernetes/pki/sa.key, are of another cluster.

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

from ..._evidence._lines import unescaped
from ..._evidence._said import told
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
    r'cannot (?P<verb>get|list|watch|patch) (?:resource )?"?(?P<resource>pods|nodes/status|nodes)\b'
)
UNKNOWN = re.compile(r"(?:error retrieving pod spec|failed to|unable to)[^\n]*: Unauthorized\b")


def check_cluster(view: View) -> Iterator[Found]:
    cluster = view.cluster
    if not cluster.has("daemonsets"):
        yield from _by_words(view)
        return
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
        refused = _refused(view)
        if not lacking and refused:
            yield Found(
                "the API server does not take the token of flannel's service account: it is of another cluster, or old",
                {"account": user, "said": refused},
                where=("cluster", *refused),
                remedy="Delete flannel's pods, so that they get a new token; where that does not help, compare "
                "/etc/kubernetes/pki/sa.pub on all control planes.",
            )
        if lacking:
            running = bool(daemonset.item("status").number("numberReady"))
            yield Found(
                f"flannel's account {daemonset.namespace}/{account} may not {', '.join(lacking)}",
                {"account": user, "lacking": lacking},
                severity="warning" if lacking == ["get pods"] and running else None,
            )


def _refused(view: View) -> dict[str, str]:
    """What flannel's pods that are not ready say of their token, by place."""
    pods = [pod for pod in view.cluster.flannel_pods if not pod.ready] if view.cluster.has("pods") else []
    found = {view.place(pod.node_name): UNKNOWN.search(view.cluster.pod_log(pod)) for pod in pods}
    return {place: match[0][-300:] for place, match in found.items() if match}


def _by_words(view: View) -> Iterator[Found]:
    """Where neither DaemonSets nor rights were looked at: what an account of flannel's name was refused."""
    every = [one for one in told(view, FORBIDDEN).values() if one["account"].endswith(":flannel")]
    for account in sorted({one["account"] for one in every}):
        lacking = sorted({f"{one['verb']} {one['resource']}" for one in every if one["account"] == account})
        text = f"flannel's account {account.removeprefix('system:serviceaccount:')} may not {', '.join(lacking)}"
        yield Found(text, {"account": account, "lacking": lacking})
    if not every:
        raise Missing("cluster.daemonsets")


def _from_logs(view: View, user: str) -> list[str]:
    """What an account was refused, from the logs of flannel's pods that are not ready."""
    pods = [pod for pod in view.cluster.flannel_pods if not pod.ready] if view.cluster.has("pods") else []
    found = (match for pod in pods for match in FORBIDDEN.finditer(unescaped(view.cluster.pod_log(pod))))
    return sorted({f"{one['verb']} {one['resource']}" for one in found if one["account"] == user})
