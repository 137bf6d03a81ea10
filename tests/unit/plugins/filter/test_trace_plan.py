# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.podnet.kubeadm.plugins.filter import trace_plan

BASE = json.loads(
    (Path(__file__).parents[1] / "plugin_utils" / "fixtures" / "trace" / "base.json").read_text(encoding="utf-8")
)


def test_a_port_that_neither_kernel_nor_kubernetes_chooses() -> None:
    plan = trace_plan.FilterModule().filters()["trace_plan"](BASE["cluster"], BASE["hosts"], "shop/client", "web")
    assert 10000 <= plan["source"]["port"] < 30000
    assert plan["watch"] == {"n1": ["shop/client"], "n2": ["shop/web"]}
    assert plan["peers"] == ["10.244.1.3 8080"]


def test_what_people_wrote_wrong_is_answered_with_a_sentence() -> None:
    found = trace_plan.trace_plan(BASE["cluster"], BASE["hosts"], "client", "web")
    assert found == {"refused": "trace_from=client is no NAMESPACE/POD, and no node is called so"}
