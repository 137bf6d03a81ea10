# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""docs/findings is what the rules say, and docs/advice.md leads to pages and sections that exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "docs"))

import findings

ADVICE = findings.ADVICE.read_text(encoding="utf-8")


def test_the_pages_are_what_the_rules_say():
    assert findings.differences() == [], "run ./dev run python tests/docs/findings.py"


def test_every_code_that_the_advice_names_has_a_page():
    codes = set(findings.advice())
    assert len(codes) > 15 and codes <= set(findings.load_rules())


def test_the_table_of_the_advice_leads_to_its_sections():
    sections = [findings.anchor(title) for title in re.findall(r"(?m)^## (.*)$", ADVICE)]
    assert re.findall(r"\]\(#([^)]+)\)", ADVICE) == sections
