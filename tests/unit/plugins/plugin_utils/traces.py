# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Traces that were recorded on two nodes of a lab cluster, with a fault injected: see fixtures/trace/README.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace import Trace, kinds, trace
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace_reason import reasons
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

FIXTURES = Path(__file__).parent / "fixtures" / "trace"


def recorded(name: str) -> dict[str, Any]:
    """A trace as it was recorded: plan, client, seen, and the evidence of cluster and nodes."""
    base, one = (json.loads((FIXTURES / f"{file}.json").read_text()) for file in ("base", name))
    nodes = {host: {**node, **one["nodes"].get(host, {})} for host, node in base["nodes"].items()}
    return {**base, **one, "nodes": nodes}


def followed(one: dict[str, Any]) -> tuple[Trace, View]:
    """The trace and what is known of the hosts."""
    links = {host: kinds(node, one["plan"]["tunnel"]) for host, node in one["nodes"].items()}
    found = trace(one["plan"], one["seen"], one["client"], links)
    return found, View({"nodes": one["nodes"], "cluster": one["cluster"]})


def judged(one: dict[str, Any]) -> tuple[Trace, list[str]]:
    """The trace and its reasons."""
    found, view = followed(one)
    return found, reasons(found, view)


def last(found: Trace) -> str:
    """Where it was last seen, in a few words."""
    if found.way is None or found.last is None:
        return "there and back"
    hop = found.hops[found.last].hop
    return f"{found.way}, {hop.host} {hop.kind}"
