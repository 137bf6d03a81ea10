# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._order import _reach
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import load_rules

RULES = load_rules()
TOLD = "How it is told"
SECTIONS = [
    "What it means",
    "How it looks",
    "What looks like it but is not",
    TOLD,
    "Mend",
    "Prevent",
    "Sources",
]


@pytest.mark.parametrize("code", RULES)
def test_a_rule_has_its_page(code):
    page = RULES[code].page
    headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert headings == SECTIONS or headings == [one for one in SECTIONS if one != TOLD]
    assert page.splitlines()[0].endswith(".")


@pytest.mark.parametrize("code", RULES)
def test_a_rule_declares_what_it_needs_and_what_to_do(code):
    rule = RULES[code].rule
    assert rule.title and rule.remedy.endswith(".") and not rule.title.endswith(".")
    assert all(re.fullmatch(r"(intent|cluster|nodes)\.[a-z0-9_]+", need) for need in rule.needs)
    assert 0 <= rule.rank <= 99


@pytest.mark.parametrize("code", RULES)
def test_no_rule_explains_itself(code):
    direct = RULES[code].rule.explains
    assert code not in direct
    assert all(code not in _reach(one, RULES) | {one} for one in direct if one in RULES)
