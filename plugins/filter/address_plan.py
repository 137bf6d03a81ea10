# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ansible.errors import AnsibleFilterError

from ..plugin_utils._finding import INTENT, Missing
from ..plugin_utils._judge import judge
from ..plugin_utils._registry import load_rules
from ..plugin_utils._view import View


class ImpossiblePlan(Exception):
    """The ranges make no plan; the message has a line per reason, ``codes`` their codes."""

    def __init__(self, message: str, codes: list[str]) -> None:
        super().__init__(message)
        self.codes = codes


def address_plan(pod_cidr: Any, **options: Any) -> dict[str, Any]:
    """The filter; see its documentation."""
    try:
        return derive(pod_cidr, **options)
    except ImpossiblePlan as error:
        raise AnsibleFilterError(str(error)) from error


def derive(
    pod_cidr: Any,
    service_cidr: Any = None,
    node_mask: Any = 24,
    node_mask_v6: Any = 64,
    max_pods: Any = 110,
    planned_nodes: Any = None,
    cluster_dns: Any = None,
) -> dict[str, Any]:
    """The plan as a mapping; raises `ImpossiblePlan` with every reason at once."""
    given = (pod_cidr, service_cidr, node_mask, node_mask_v6, max_pods, planned_nodes, cluster_dns)
    return _copy(_derive(*map(_plain, given)))  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    """A hashable copy without Ansible's own types: templates are asked for the same plan again and again."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (list, tuple)):
        return tuple(_plain(one) for one in value)
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    return str(value)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(one) for key, one in value.items()}
    return [_copy(one) for one in value] if isinstance(value, list) else value


@lru_cache(maxsize=64)
def _derive(
    pod_cidr: Any,
    service_cidr: Any,
    node_mask: Any,
    node_mask_v6: Any,
    max_pods: Any,
    planned_nodes: Any,
    cluster_dns: Any,
) -> dict[str, Any]:
    given = {
        "pod_cidr": pod_cidr,
        "service_cidr": service_cidr,
        "node_mask": node_mask,
        "node_mask_v6": node_mask_v6,
        "max_pods": max_pods,
        "planned_nodes": planned_nodes or None,
        "cluster_dns": cluster_dns or None,
    }
    intent = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
    intent = {key: value for key, value in intent.items() if value is not None}
    view = View({"stage": INTENT, "intent": intent})
    verdict = judge(view, load_rules(("address_plan",)))
    errors = [one for one in verdict.all() if one.severity == "error"]
    lines = [f"- {one.code}: {one.summary}. {one.remedy}" for one in errors]
    try:
        plan = {} if lines else view.plan.as_dict()
    except Missing as missing:
        lines = [f"- {missing.why}."]
    if lines:
        values = ", ".join(f"{key}={value!r}" for key, value in intent.items())
        raise ImpossiblePlan(
            "\n".join([f"No address plan can be made of {values}:", *lines]), [one.code for one in errors]
        )
    return {**plan, "warnings": [one.as_dict() for one in verdict.all()]}


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"address_plan": address_plan}
