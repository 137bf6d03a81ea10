# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What hosts said is hostile text: here it becomes harmless in HTML, XML and Markdown."""

from __future__ import annotations

import html
import json
import re
from typing import Any

# Control characters (terminal sequences), direction overrides (text that reads backwards), what XML 1.0 cannot hold.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff]"
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~])")


def clean(value: Any) -> str:
    """Text that can be shown: an unprintable character is written as its number, a tab and a newline stay."""
    text = value if isinstance(value, str) else plain(value)
    return _UNPRINTABLE.sub(lambda match: f"\\x{ord(match.group()):02x}", text.replace("\r\n", "\n"))


def plain(value: Any) -> str:
    """A JSON value in one line, texts without quotes."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "nothing"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
        return ", ".join(map(str, value)) or "none"
    return json.dumps(value, sort_keys=True, default=str)


def for_html(value: Any) -> str:
    """Text for an element or a quoted attribute."""
    return html.escape(clean(value), quote=True)


def sentence(text: str) -> str:
    """With a capital, unless it begins with a name (docker0, 10.0.0.0/8, net.ipv4...)."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text


def for_xml(value: Any) -> str:
    """Text for an element or a quoted attribute; a newline in an attribute stays one."""
    return html.escape(clean(value), quote=True).replace("\n", "&#10;").replace("\t", "&#9;")


def for_markdown(value: Any) -> str:
    """Text for one line or one cell of a table."""
    return _MARKDOWN.sub(r"\\\1", " ".join(clean(value).split()))


def for_code(value: Any) -> str:
    """Text for a code span: a backtick would end it, a pipe a cell."""
    text = " ".join(clean(value).split()).replace("`", "'").replace("|", "¦")
    return f"`{text}`" if text else ""
