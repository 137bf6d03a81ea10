# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

from reports import broken
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._html import html
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._model import model
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._style import SCRIPT, STYLE

PAGE = html(model(*broken(healthy("cluster-dual"))))
BODY = PAGE.replace(STYLE, "").replace(SCRIPT, "")


def blocks(pattern):
    return set(re.findall(r"--([a-z-]+):", re.search(pattern, STYLE, re.S).group(1)))


def test_every_colour_that_is_used_is_there_by_day_and_by_night():
    used = set(re.findall(r"var\(--([a-z-]+)\)", STYLE))
    light = blocks(r"^\s*:root \{(.*?)\}")
    assert used == light == blocks(r"dark\) \{ :root \{(.*?)\}")


def test_every_class_of_the_page_has_a_style():
    used = {name for names in re.findall(r'class="([^"]+)"', BODY) for name in names.split()}
    plain = {"fine", "host", "way", "name", "scroll"}
    assert {name for name in used if not re.search(rf"\.{re.escape(name)}\b", STYLE)} <= plain


def test_the_style_balances_its_braces():
    assert STYLE.count("{") == STYLE.count("}")
    assert SCRIPT.count("{") == SCRIPT.count("}") and SCRIPT.count("(") == SCRIPT.count(")")


def test_everything_that_the_script_asks_for_is_on_the_page():
    for name in re.findall(r"getElementById\('([^']+)'\)", SCRIPT):
        assert f'id="{name}"' in BODY, name
    for mark in ('id="findings"', "<button", "data-severity=", "data-where=", "data-chapter=", "aria-pressed="):
        assert mark in BODY, mark
    assert re.search(r'<section[^>]*class="host"[^>]*>\s*<h3', BODY)


def test_neither_ends_its_element_nor_fetches_anything():
    for text in (STYLE, SCRIPT):
        assert "</" not in text and "http" not in text and "@import" not in text
    assert "innerHTML" not in SCRIPT and "eval" not in SCRIPT
