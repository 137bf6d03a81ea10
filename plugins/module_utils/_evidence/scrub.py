# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take secrets out of text that was written for people.

Structured answers copy named fields and never come here with a secret. What remains is free text (logs,
journals, events, command lines, configuration files): there, what follows a telling name is cut. The
name stays, so that a reader sees that something was there.
"""

from __future__ import annotations

import re
from typing import Any

REMOVED = "(removed)"

_NAME = r"(?:token|passwd|password|passphrase|secret|psk|credentials?|(?<=[\w-])key|key-data|authorization)"
# Not a secret, and told apart by rules.
_HARMLESS = r"(?!(?:true|false|null|none|nil|~|\{\}|\[\]|\"\"|'')(?![^\s,;}\]]))"

# A quoted value keeps its quotes, so that JSON stays JSON.
_VALUE = r"(?:(?P<quote>\\?\"|')(?:(?!(?P=quote))(?:\\.|[^\n]))*(?P=quote)|[^\s,;}\]]+)"


def _cut(match: re.Match[str]) -> str:
    quote = match.groupdict().get("quote") or ""
    return f"{match.group('before')}{quote}{REMOVED}{quote}"


_RULES: tuple[re.Pattern[str], ...] = (
    re.compile(r"(?P<before>)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S),
    # https://user:password@host; the last @ before the host's path ends it
    re.compile(r"(?P<before>\b[a-zA-Z][\w+.-]*://)[^/\s\"'<>]+(?=@)"),
    # Authorization: Basic ..., Bearer ...
    re.compile(r"(?i)(?P<before>\bbearer[ \t]+|\bauthorization[\"']?[ \t]*[:=][ \t]*[\"']?basic[ \t]+)[\w.~+/=-]{8,}"),
    # --token VALUE, --certificate-key=VALUE
    re.compile(
        rf"(?i)(?<!\S)(?P<before>--?[\w.-]*(?:{_NAME}|(?<=-)key)(?:=|[ \t]+(?:\\\n[ \t]*)?)){_HARMLESS}(?!-){_VALUE}",
    ),
    # password: VALUE, "apiKey": "VALUE", PrivateKey=VALUE
    re.compile(rf"(?i)(?<![\w.-])(?P<before>[\w.-]*{_NAME}\\?[\"']?[ \t]*[:=][ \t]*){_HARMLESS}{_VALUE}"),
    # A JSON web token, a bootstrap token, a certificate key on a line of its own
    re.compile(r"(?P<before>\b)eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"),
    re.compile(r"(?P<before>(?<![\w.-]))[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.-])"),
    re.compile(r"(?m)^(?P<before>[ \t]*)[0-9a-f]{64}[ \t]*$"),
)


def scrub(text: str) -> str:
    """TEXT without what looks like a secret."""
    for pattern in _RULES:
        text = pattern.sub(_cut, text)
    return text


def scrub_all(value: Any) -> Any:
    """The same for every string in a JSON value (keys stay)."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [scrub_all(item) for item in value]
    if isinstance(value, dict):
        return {key: scrub_all(item) for key, item in value.items()}
    return value


def scrub_arguments(arguments: list[Any]) -> list[Any]:
    """A command line: `--password=x` is cut, and so is the argument after a lone `--password`."""
    out: list[Any] = []
    cut_next = False
    for argument in arguments:
        if not isinstance(argument, str):
            cut_next = False
        elif cut_next and not argument.startswith("-"):
            argument, cut_next = REMOVED, False
        else:
            cut_next = bool(re.fullmatch(rf"(?i)--?[\w.-]*(?:{_NAME}|key)", argument))
            argument = scrub(argument)
        out.append(argument)
    return out


def last_lines(text: str, count: int = 200, width: int = 2000) -> str:
    """The last COUNT lines of TEXT, each cut to WIDTH characters, without secrets."""
    # Secrets first: one that is cut in half would not be known any more.
    lines = scrub("\n".join(text.splitlines()[-count:])).splitlines()
    return "".join((line if len(line) <= width else line[:width] + " ...") + "\n" for line in lines)
