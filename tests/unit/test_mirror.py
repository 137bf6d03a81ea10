# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each plugin file has its test file at the same place, and each test file its plugin or a reason."""

from __future__ import annotations

import pathlib

TESTS = pathlib.Path(__file__).parent / "plugins"
PLUGINS = pathlib.Path(__file__).parents[2] / "plugins"

BY_SUBJECT = {
    "module_utils/_netfilter/test__semantics.py": "what people get wrong about netfilter, from rules to a verdict",
    "module_utils/_netfilter/test__known.py": "what is known of a packet beside its header, from rules to a verdict",
    "module_utils/_netfilter/test_rulesets.py": "recorded rulesets of real software, held against their page",
    "plugin_utils/_rules/test_names.py": "all rules: codes, names, pages",
    "plugin_utils/_rules/test_words.py": "all rules: what their sentences say",
    "plugin_utils/_rules/test_oddities_clusters.py": "healthy clusters that look odd, against all rules",
    "plugin_utils/_rules/test_oddities_firewalls.py": "the same with other rules beside",
    "plugin_utils/_rules/test_oddities_flannel.py": "the same with another flannel or kube-proxy",
    "plugin_utils/_rules/test_oddities_hosts.py": "the same on odd hosts",
    "plugin_utils/_rules/test_oddities_networks.py": "the same on odd networks",
    "plugin_utils/_rules/test_oddities_runtimes.py": "the same with odd runtimes",
    "plugin_utils/test_damaged_evidence.py": "all rules on evidence with parts broken",
}


def plugins() -> set[str]:
    """Test files that are wanted. A module that an action plugin stands in for is its page, and has no code."""
    files = [file.relative_to(PLUGINS) for file in PLUGINS.rglob("*.py") if file.name != "__init__.py"]
    pages = {pathlib.Path("modules", file.name) for file in (PLUGINS / "action").glob("*.py")}
    return {
        (file.parent / f"test_{file.name}").as_posix()
        for file in files
        if file.parts[0] != "doc_fragments" and file not in pages
    }


def written() -> set[str]:
    return {file.relative_to(TESTS).as_posix() for file in TESTS.rglob("test_*.py")}


def test_each_plugin_has_its_test() -> None:
    assert plugins() - written() == set()


def test_each_test_has_its_plugin_or_a_reason() -> None:
    assert written() - plugins() == set(BY_SUBJECT)
