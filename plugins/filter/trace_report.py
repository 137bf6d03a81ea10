# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ..plugin_utils._plain import plain
from ..plugin_utils._trace import kinds, trace
from ..plugin_utils._trace_reason import reasons
from ..plugin_utils._trace_tell import report, sentence
from ..plugin_utils._view import View


def trace_report(
    plan: dict[str, Any], seen: dict[str, Any], client: dict[str, Any], nodes: dict[str, Any], cluster: dict[str, Any]
) -> dict[str, Any]:
    """Lines for people, and whether the other end answered."""
    plan, seen, client, nodes, cluster = (plain(one) for one in (plan, seen, client, nodes, cluster))
    links = {host: kinds(node, plan["tunnel"]) for host, node in nodes.items()}
    found = trace(plan, seen, client, links)
    why = reasons(found, View({"nodes": nodes, "cluster": cluster}))
    told = {"lines": report(found, why), "sentence": sentence(found, why)}
    return {"answered": found.answered, **told, "reasons": why}


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"trace_report": trace_report}
