# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""junit.xml: one case for each finding, accepted finding and rule that could not tell."""

from __future__ import annotations

from typing import Any

from ._model import walk
from ._safe import for_xml, plain


def junit(report: dict[str, Any]) -> str:
    """The report as JUnit XML: an error is a failure; what is accepted, undetermined, or below an error is not."""
    cases = [_finding(one) for one in walk(report["findings"])]
    for one in walk(report["accepted"]):
        cases.append(_case(one, f'<skipped message="{for_xml("accepted: " + one["summary"])}"/>'))
    for one in report["undetermined"]:
        name = {**one, "chapter": "undetermined"}
        cases.append(_case(name, f'<skipped message="{for_xml("undetermined: " + one["why"])}"/>'))
    if not cases:
        cases.append('<testcase classname="podnet.verdict" name="nothing was found"/>')
    failures = sum("<failure " in case for case in cases)
    skipped = sum("<skipped " in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" skipped="{skipped}" errors="0"'
    stamp = report["taken_at"].rstrip("Z")
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="podnet.kubeadm doctor" {counts}>',
            f'<testsuite name="verdict" timestamp="{for_xml(stamp)}" {counts}>',
            *cases,
            "</testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _finding(one: dict[str, Any]) -> str:
    compared = "\n".join(f"{key}: {plain(value)}" for key, value in one["evidence"].items())
    body = for_xml(f"{one['summary']}\n{compared}\nNext: {one['remedy']}")
    if one["severity"] == "error":
        return _case(
            one, f'<failure type="{for_xml(one["code"])}" message="{for_xml(one["summary"])}">{body}</failure>'
        )
    return _case(one, f"<system-out>{for_xml(one['severity'])}: {body}</system-out>")


def _case(one: dict[str, Any], content: str) -> str:
    name = f"{one['code']} ({', '.join(one['where'])})"
    chapter = one["chapter"].lower().replace(" ", "_")
    return f'<testcase classname="podnet.{for_xml(chapter)}" name="{for_xml(name)}">{content}</testcase>'
