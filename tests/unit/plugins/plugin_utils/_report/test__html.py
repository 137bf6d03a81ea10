# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from html.parser import HTMLParser

from reports import HOSTILE, broken, finding
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._html import html
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._model import model
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._style import SCRIPT


class Tags(HTMLParser):
    """Checks that tags close in order, and keeps them."""

    VOID = {"meta", "input", "img", "br"}

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page(hostile=""):
    return html(model(*broken(healthy("cluster-dual"), hostile)))


def test_one_file_that_fetches_nothing():
    seen = Tags(page()).seen
    assert not [
        tag for tag, attrs in seen if tag in ("link", "iframe", "object") or "src" in attrs or "srcset" in attrs
    ]
    assert not [attrs for _tag, attrs in seen if "style" in attrs or any(name.startswith("on") for name in attrs)]
    assert "url(http" not in page() and "@import" not in page()


def test_only_its_own_script_is_allowed_to_run():
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page())
    assert policy and "default-src 'none'" in policy.group(1).replace("&#x27;", "'")
    assert page().count("<script>") == 1 and SCRIPT in page()


def test_the_first_screen_names_cause_host_and_next_step():
    head = page().split("<nav", maxsplit=1)[0]
    assert "The table inet filter drops" in head
    for text in (
        "inet filter drops forwarded packets",
        "node2",
        "Run podnet.kubeadm.repair.",
        "1 error, 1 warning, 1 note",
    ):
        assert text in head


def test_identities_are_unique():
    names = [attrs["id"] for _tag, attrs in Tags(page()).seen if "id" in attrs]
    assert len(set(names)) == len(names)


def test_hostile_text_stays_text():
    text = page(HOSTILE)
    assert text.count("<script") == 1 and "<img" not in text
    assert "\x1b" not in text and "\u202e" not in text
    Tags(text)


def test_a_thousand_hosts_make_a_page_that_opens():
    report = model(*broken(healthy("cluster")))
    report["hosts"] = [{**report["hosts"][0], "name": f"n{i}"} for i in range(2000)]
    report["findings"][0]["where"] = [f"n{i}" for i in range(2000)]
    text = html(report)
    assert len(text) < 2_000_000 and "and 1992 more" in text and "1700 more are in report.json" in text


def test_nothing_found_says_so():
    view, verdict = broken(healthy("cluster"))
    verdict.findings, verdict.accepted, verdict.undetermined = [], [], []
    text = html(model(view, verdict))
    assert "Nothing was found." in text and "Every rule could tell." in text
    Tags(text)


def test_a_finding_without_evidence_has_nothing_to_unfold():
    view, verdict = broken(healthy("cluster"))
    verdict.findings = [finding("swap-on", "error", ["node1"], "swap is on")]
    assert "What was compared" not in html(model(view, verdict))
