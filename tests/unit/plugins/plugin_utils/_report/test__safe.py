# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import html as escapes
from xml.etree import ElementTree

import pytest
from reports import HOSTILE

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._safe import (
    clean,
    for_code,
    for_html,
    for_markdown,
    for_xml,
    plain,
    sentence,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (True, "yes"),
        (False, "no"),
        (None, "nothing"),
        (7, "7"),
        (1.5, "1.5"),
        ([], "none"),
        (["a", 1, 2.5], "a, 1, 2.5"),
        ([{"b": 1}], '[{"b": 1}]'),
        ({"b": [1], "a": None}, '{"a": null, "b": [1]}'),
        ({"a": {1}}, '{"a": "{1}"}'),
    ],
)
def test_a_value_in_one_line(value, text):
    assert plain(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\tb\nc\r\nd", "a\tb\nc\nd"),
        ("a\rb\x00\x1b[2J\x7f\x9b", "a\\x0db\\x00\\x1b[2J\\x7f\\x9b"),
        ("\u200b\u202e\u2066\ufeff\ufffe", "\\x200b\\x202e\\x2066\\xfeff\\xfffe"),
        ("\ud800", "\\xd800"),
        ("é – 日本", "é – 日本"),
        (["\x07"], "\\x07"),
    ],
)
def test_what_cannot_be_printed_becomes_its_number(value, text):
    assert clean(value) == text


@pytest.mark.parametrize("value", [HOSTILE, "a & b < c > d \" e ' f", "&amp;"])
def test_text_for_html_reads_back_as_itself_and_is_no_markup(value):
    assert escapes.unescape(for_html(value)) == clean(value)
    assert not set("<>\"'") & set(for_html(value))


@pytest.mark.parametrize("value", [HOSTILE, "two\nlines\tand a tab", "\x00\ud800"])
def test_text_for_xml_is_the_same_in_an_element_and_in_an_attribute(value):
    element = ElementTree.fromstring(f'<a b="{for_xml(value)}">{for_xml(value)}</a>')
    assert element.text == element.get("b") == clean(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a | b\n\nc", "a \\| b c"),
        ("*a* _b_ `c` [d](e) <f> # ~ {g} \\", "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\<f\\> \\# \\~ \\{g\\} \\\\"),
        ("10.244.0.0/16", "10.244.0.0/16"),
    ],
)
def test_text_for_markdown_is_one_line_without_markup(value, text):
    assert for_markdown(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [("a  b\nc", "`a b c`"), ("`a` | b", "`'a' ¦ b`"), ("", ""), (" \n ", ""), (None, "`nothing`")]
)
def test_text_for_a_code_span_ends_neither_it_nor_a_cell(value, text):
    assert for_code(value) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the table drops", "The table drops"),
        ("docker0 has it", "docker0 has it"),
        ("10.0.0.0/8 is it", "10.0.0.0/8 is it"),
        ("net.ipv4.ip_forward is 0", "net.ipv4.ip_forward is 0"),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_unless_it_begins_with_a_name(text, told):
    assert sentence(text) == told
