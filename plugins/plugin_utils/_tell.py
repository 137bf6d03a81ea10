# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tells a verdict on a terminal: the most severe first, causes before consequences, each with what to do next.

What hosts said is hostile text: whatever is not printable is shown as a backslash sequence.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from ._finding import SEVERITIES, Finding, Undetermined
from ._judge import Verdict

Line = tuple[str, str]
"""A line and how it is meant: a severity, "title", "good" or "" for plain."""

HOSTS_SHOWN = 8
VALUES_SHOWN = 8
LABEL = 12


def printable(text: Any) -> str:
    """The text on one line, without anything that a terminal would act on."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in str(text))


def tell(verdict: Verdict, width: int, stage: str = "", accept_variable: str = "accept") -> list[Line]:
    """The lines of a verdict, none wider than ``width`` (at least 40) but for words that are."""
    width = max(width, 40)
    lines = _title(_headline(verdict, stage), width)
    for finding in verdict.findings:
        lines += [("", ""), *_finding(finding, width, accept_variable)]
    if verdict.accepted:
        lines += [("", ""), *_title("Accepted, and counted for nothing:", width)]
        for finding in verdict.accepted:
            text = f"{finding.code} ({_places(finding.where)}): {finding.summary}"
            lines += [(line, "") for line in _wrapped(printable(text), width, "  - ", "    ")]
        lines += [(line, "") for line in _wrapped(f"Listed in {accept_variable}.", width, "    ", "    ")]
    lines += _undetermined(verdict.undetermined, width)
    return lines


def _title(text: str, width: int) -> list[Line]:
    return [(line, "title") for line in _wrapped(text, width, "", "")]


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings there are of each severity, folded ones not counted."""
    found = list(findings)
    return {severity: sum(one.severity == severity for one in found) for severity in SEVERITIES}


def _headline(verdict: Verdict, stage: str) -> str:
    number = counts(verdict.findings)
    plural = {"error": "errors", "warning": "warnings", "info": "notes"}
    single = {**dict.fromkeys(SEVERITIES), "error": "error", "warning": "warning", "info": "note"}
    said = [f"{count} {single[one] if count == 1 else plural[one]}" for one, count in number.items() if count]
    looked = {"intent": "the plan", "host": "plan and hosts", "cluster": "the running cluster"}.get(stage, "evidence")
    hosts = f" of {len(verdict.hosts)} host{'s' * (len(verdict.hosts) != 1)}" if verdict.hosts else ""
    return f"Network verdict over {looked}{hosts}: {', '.join(said) or 'nothing is wrong'}"


def _finding(finding: Finding, width: int, accept_variable: str) -> Iterator[Line]:
    head = f"{finding.severity.upper():<{LABEL}}{finding.code}  at {_places(finding.where)}"
    yield from ((line, finding.severity) for line in _wrapped(printable(head), width, "", " " * LABEL))
    yield from _labelled("", _sentence(finding.summary), width)
    compared = list(_compared(finding.evidence))
    for index, text in enumerate(compared[:VALUES_SHOWN]):
        yield from _labelled("" if index else "compared", text, width)
    if len(compared) > VALUES_SHOWN:
        yield from _labelled("", f"... and {len(compared) - VALUES_SHOWN} more", width)
    if finding.consequences:
        places: dict[str, list[str]] = {}
        for one in finding.consequences:
            known = places.setdefault(one.code, [])
            known += [place for place in one.where if place not in known]
        explained = [f"{code} ({_places(where)})" for code, where in places.items()]
        yield from _labelled("explains", ", ".join(explained), width)
    yield from _labelled("next", finding.remedy, width)
    if finding.severity == "error":
        yield from _labelled("", f"To go on in spite of it: {accept_variable}: [{finding.code}]", width)


def _sentence(text: str) -> str:
    """With a capital, but where it begins with a name."""
    first = text.partition(" ")[0]
    return (text[:1].upper() + text[1:] if first.isalpha() else text) + "."


def _compared(evidence: dict[str, Any]) -> Iterator[str]:
    for key, value in evidence.items():
        if isinstance(value, dict):
            inner = ", ".join(f"{name}: {_value(one)}" for name, one in list(value.items())[:VALUES_SHOWN])
            more = f", ... and {len(value) - VALUES_SHOWN} more" if len(value) > VALUES_SHOWN else ""
            yield f"{key}: {inner}{more}"
        else:
            yield f"{key}: {_value(value)}"


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple, set)):
        shown = [_value(one) for one in list(value)[:VALUES_SHOWN]]
        return ", ".join(shown) + (f", ... and {len(value) - VALUES_SHOWN} more" if len(value) > VALUES_SHOWN else "")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_value(one)}" for key, one in value.items()) + "}"
    text = str(value)
    return text if len(text) <= 300 else f"{text[:297]}..."


def _places(where: list[str]) -> str:
    more = f" and {len(where) - HOSTS_SHOWN} more" if len(where) > HOSTS_SHOWN else ""
    return ", ".join(where[:HOSTS_SHOWN]) + more


def _undetermined(undetermined: list[Undetermined], width: int) -> Iterator[Line]:
    """One entry per key that was not looked at, with the rules that miss it."""
    if not undetermined:
        return
    by_key: dict[str, list[Undetermined]] = {}
    for one in undetermined:
        by_key.setdefault(one.why, []).append(one)
    yield from [("", ""), *_title("Undetermined, for what they need could not be seen:", width)]
    for why, rules in sorted(by_key.items()):
        places = list(dict.fromkeys(place for one in rules for place in one.where))
        codes = ", ".join(dict.fromkeys(one.code for one in rules))
        yield from (
            (line, "") for line in _wrapped(printable(f"{why} ({_places(places)}): {codes}"), width, "  - ", "    ")
        )


def _labelled(label: str, text: str, width: int) -> Iterator[Line]:
    first = f"  {label:<{LABEL - 2}}"
    yield from ((line, "") for line in _wrapped(printable(text), width, first, " " * LABEL))


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    ) or [first.rstrip()]
