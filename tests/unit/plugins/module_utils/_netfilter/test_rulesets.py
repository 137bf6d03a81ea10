# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorded rulesets of real software, judged as docs/forwarding-rulesets.md says.

That page is written by tests/fuzz/forwarding_rulesets.py, which holds the same verdicts against packets. The recordings
in fixtures/rulesets are made by tests/lab/record_rulesets.py, and each says how.
"""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import Ruleset, standard_packets, walk

FIXTURES = sorted((pathlib.Path(__file__).parent / "fixtures" / "rulesets").glob("*.json"))
PAGE = pathlib.Path(__file__).parents[5] / "docs" / "forwarding-rulesets.md"


@pytest.fixture(params=FIXTURES, ids=[path.stem for path in FIXTURES])
def recorded(request: pytest.FixtureRequest) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(request.param.read_text(encoding="utf-8"))
    return data


def test_the_page_says_what_the_walker_says(recorded: dict[str, Any]) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"## {recorded['title']}\n")[1].split("\n## ")[0]
    said = dict(re.findall(r"^\| (.*?) \| \*\*(\w+)\*\* \|", section, re.M))
    rules = Ruleset.from_evidence(recorded["node"])
    names = {
        "pod to pod on another node": "pod to pod on another node",
        "pod from pod on another node": "pod from pod on another node",
        "answer to pod on another node": "its answer",
    }
    packets = standard_packets(recorded["node"], [recorded["pod_cidr"]], [recorded["local_cidr"]])
    found = {names[name]: walk(rules, packet, hooks).verdict for name, packet, hooks in packets if name in names}
    assert found == {name: said[name] for name in found}


def test_nothing_in_real_rulesets_is_unknown(recorded: dict[str, Any]) -> None:
    node = {**recorded["node"], "ip_route": [{"dst": "default", "dev": "eth0", "gateway": "192.0.2.254"}]}
    rules = Ruleset.from_evidence(node)
    packets = standard_packets(node, [recorded["pod_cidr"]], [recorded["local_cidr"]])
    verdicts = {name: walk(rules, packet, hooks).verdict for name, packet, hooks in packets}
    assert "undetermined" not in verdicts.values(), verdicts
