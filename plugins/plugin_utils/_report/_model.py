# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report as data: what report.json holds, and what every other form of it is made from."""

from __future__ import annotations

from typing import Any

from .._finding import SEVERITIES
from .._judge import Verdict
from .._view import View
from ._facts import cluster_facts, host_facts
from ._path import path
from ._space import ranges

SCHEMA = 1
ACCEPT_VARIABLE = "cluster_accept_findings"
PAGES = "https://github.com/podnet/podnet.kubeadm/blob/main/docs/findings"


def model(view: View, verdict: Verdict) -> dict[str, Any]:
    """The report of a verdict; plain JSON values, described by docs/report.schema.json.

    Hosts are read once more, one at a time; a few facts of each are kept.
    """
    cluster = cluster_facts(view)
    hosts = [host_facts(host, view) for _name, host in view.nodes.read()]
    return {
        "schema": SCHEMA,
        "taken_at": str(view.bundle.get("taken_at") or ""),
        "stage": view.stage,
        "summary": {
            **{severity: sum(1 for one in verdict.findings if one.severity == severity) for severity in SEVERITIES},
            "folded": sum(1 for one in verdict.all()) - len(verdict.findings),
            "accepted": len(verdict.accepted),
            "undetermined": len(verdict.undetermined),
            "hosts": len(verdict.hosts),
        },
        "findings": [_with_page(one.as_dict()) for one in verdict.findings],
        "accepted": [_with_page(one.as_dict()) for one in verdict.accepted],
        "accept_variable": ACCEPT_VARIABLE,
        "undetermined": [one.as_dict() for one in verdict.undetermined],
        "network": cluster.as_dict(),
        "hosts": [host.as_dict() for host in hosts],
        "address_space": ranges(cluster, hosts),
        "path": path(cluster, hosts, verdict.findings),
    }


def _with_page(finding: dict[str, Any]) -> dict[str, Any]:
    return {
        **finding,
        "page": f"{PAGES}/{finding['code']}.md",
        "consequences": [_with_page(one) for one in finding["consequences"]],
    }


def walk(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings with all that is folded under them."""
    return [one for finding in findings for one in (finding, *walk(finding["consequences"]))]
