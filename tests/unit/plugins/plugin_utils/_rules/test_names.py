# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What rules and their pages name exists: playbooks, roles, modules, variables, entry points, codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import load_rules
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._repairs import REPAIRS
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._variables import known

ROOT = Path(__file__).resolve().parents[5]
RULES = load_rules()
PLACES = ("playbooks/{}.yml", "roles/{}/meta", "plugins/modules/{}.py", "plugins/filter/{}.yml")
NOT_OURS = {"variable-unknown": {"cluster_pod_cdir", "cluster_name", "host_rack"}}
"""Variables that a page names because they are none of the collection's."""
FIREWALL = ("asserted", "permitted", "off")


def said(code):
    return f"{RULES[code].rule.remedy}\n{RULES[code].page}"


@pytest.mark.parametrize("code", RULES)
def test_playbooks_roles_and_modules(code):
    named = set(re.findall(r"podnet\.kubeadm\.(\w+)", said(code)))
    assert {name for name in named if not any((ROOT / place.format(name)).exists() for place in PLACES)} == set()


@pytest.mark.parametrize("code", RULES)
def test_roles(code):
    named = set(re.findall(r"\b(?:the|of) role `?(?:podnet\.kubeadm\.)?([a-z_]+)", said(code)))
    assert {name for name in named if not (ROOT / "roles" / name / "meta").exists()} == set()


@pytest.mark.parametrize("code", RULES)
def test_variables(code):
    names, prefixes = known()
    words = set(re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", said(code)))
    roles = {prefix[:-1] for prefix in prefixes}
    assert {word for word in words if word.startswith(prefixes)} - names - roles == NOT_OURS.get(code, set())


@pytest.mark.parametrize("code", RULES)
def test_what_mends_with_the_firewall_is_the_mode_that_changes_something(code):
    assert set(re.findall(r"firewall_mode: ([a-z]+)", said(code))) <= set(FIREWALL)
    assert re.findall(r"firewall_mode:\s+(?:asserted|off)", RULES[code].rule.remedy) == []


@pytest.mark.parametrize("code", [code for code, loaded in RULES.items() if loaded.rule.repair])
def test_the_entry_point_that_mends_it(code):
    role, entry = str(RULES[code].rule.repair).split(":")
    assert (ROOT / "roles" / role / "tasks" / f"{entry}.yml").exists()
    assert RULES[code].rule.repair in REPAIRS


@pytest.mark.parametrize("code", RULES)
def test_consequences(code):
    assert set(RULES[code].rule.explains) - set(RULES) == set()
