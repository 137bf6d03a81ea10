# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which nodes a DaemonSet wants to run on, as the DaemonSet controller decides it (pkg/controller/daemon)."""

from __future__ import annotations

from ._item import Item, as_number
from ._kube import DaemonSet, KubeNode

_AUTOMATIC = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
]
"""Taints that the DaemonSet controller lets all its pods tolerate (util.AddOrUpdateDaemonPodTolerations)."""

_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")
"""And this one where the pods use the host's network."""


def selects(pod_spec: Item, node: KubeNode) -> bool:
    """Whether nodeSelector and the required node affinity let the pod onto the node; taints are not looked at."""
    labels = node.labels
    if any(labels.get(key) != value for key, value in pod_spec.map("nodeSelector").items()):
        return False
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = pod_spec.items("affinity", "nodeAffinity", required, "nodeSelectorTerms")
    return not terms or any(_term(one, node) for one in terms)


def _term(term: Item, node: KubeNode) -> bool:
    expressions, fields = term.items("matchExpressions"), term.items("matchFields")
    if not expressions and not fields:
        return False  # an empty term selects nothing
    return all(_matches(one, node.labels) for one in expressions) and all(
        _matches(one, {"metadata.name": node.name}) for one in fields
    )


def _matches(requirement: Item, values: dict[str, str]) -> bool:
    key, operator, wanted = requirement.text("key"), requirement.text("operator"), requirement.texts("values")
    value = values.get(key)
    if operator == "In":
        return value in wanted
    if operator == "NotIn":
        return value not in wanted
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    have, limit = as_number(value), as_number(wanted[0] if wanted else None)
    if operator in ("Gt", "Lt") and have is not None and limit is not None:
        return have > limit if operator == "Gt" else have < limit
    return False


def untolerated(daemonset: DaemonSet, node: KubeNode) -> list[Item]:
    """The node's taints that keep the DaemonSet's pods away (NoSchedule) or evict them (NoExecute)."""
    tolerations = daemonset.pod_spec.items("tolerations")
    automatic = [*_AUTOMATIC, *([_HOST_NETWORK] if daemonset.pod_spec.flag("hostNetwork") else [])]
    return [
        taint
        for taint in node.taints
        if taint.text("effect") in ("NoSchedule", "NoExecute")
        and (taint.text("key"), taint.text("effect")) not in automatic
        and not any(_tolerates(one, taint) for one in tolerations)
    ]


def _tolerates(toleration: Item, taint: Item) -> bool:
    if toleration.text("effect") not in ("", taint.text("effect")):
        return False
    if toleration.text("key") not in ("", taint.text("key")):
        return False
    if toleration.text("operator") == "Exists":
        return True
    return bool(toleration.text("key")) and toleration.text("value") == taint.text("value")


def taint_text(taint: Item) -> str:
    """``key=value:effect``, as kubectl writes it."""
    value = taint.text("value")
    return f"{taint.text('key')}{'=' + value if value else ''}:{taint.text('effect')}"
