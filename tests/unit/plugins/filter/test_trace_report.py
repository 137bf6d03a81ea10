# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.podnet.kubeadm.plugins.filter import trace_report

FOLDER = Path(__file__).parents[1] / "plugin_utils" / "fixtures" / "trace"


@pytest.mark.parametrize(
    "name, answered", [("healthy", True), ("refused", True), ("reject", False), ("forward", False)]
)
def test_recorded(name: str, answered: bool) -> None:
    base, one = (json.loads((FOLDER / f"{file}.json").read_text(encoding="utf-8")) for file in ("base", name))
    nodes = {host: {**node, **one["nodes"].get(host, {})} for host, node in base["nodes"].items()}
    tell = trace_report.FilterModule().filters()["trace_report"]
    told = tell(one["plan"], one["seen"], one["client"], nodes, base["cluster"])
    assert told["answered"] is answered
    assert bool(told["reasons"]) is not answered
    assert told["lines"][0].startswith("pod shop/client (10.244.0.6, n1) to pod shop/web")
