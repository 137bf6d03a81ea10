# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the report, in all its forms, and the evidence it was made from, into a folder."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from typing import Any

from ...module_utils._evidence.scrub import scrub_all
from .._judge import Verdict
from .._view import View
from ._describe import describe
from ._html import html
from ._junit import junit
from ._model import model

FILES = ("report.json", "junit.xml", "report.md", "report.html", "evidence.json")
"""What `write_report` leaves in the folder."""


def write_report(folder: str, view: View, verdict: Verdict, mode: int = 0o640) -> list[str]:
    """Write the report of VERDICT over VIEW into FOLDER, which is made; answer the paths.

    Each file is whole or not there. Hosts are read one at a time.

    :raises OSError: the folder cannot be made or written.
    """
    os.makedirs(folder, mode=0o750, exist_ok=True)
    report = model(view, verdict)
    texts = {
        "report.json": json.dumps(report, indent=1, sort_keys=False) + "\n",
        "junit.xml": junit(report),
        "report.md": describe(report),
        "report.html": html(report),
    }
    for name, text in texts.items():
        _replace(os.path.join(folder, name), [text], mode)
    _replace(os.path.join(folder, "evidence.json"), _bundle(view), mode)
    return [os.path.join(folder, name) for name in FILES]


def save_bundle(path: str, view: View, mode: int = 0o640) -> None:
    """Save the evidence of VIEW: one file where PATH ends in .json, else a folder with one file for each host."""
    if path.endswith(".json"):
        os.makedirs(os.path.dirname(path) or ".", mode=0o750, exist_ok=True)
        _replace(path, _bundle(view), mode)
        return
    for folder in (path, os.path.join(path, "nodes")):
        os.makedirs(folder, mode=0o750, exist_ok=True)
    head = _head(view)
    head.pop("cluster", None)
    _replace(os.path.join(path, "bundle.json"), [json.dumps(head, indent=1) + "\n"], mode)
    if view.cluster.raw:
        _replace(os.path.join(path, "cluster.json"), [json.dumps(view.cluster.raw, indent=1) + "\n"], mode)
    for name, host in view.nodes.read():
        if name in ("", ".", "..") or "/" in name:
            raise ValueError(
                f"host {name!r} cannot be the name of a file; save the evidence as one .json file instead."
            )
        _replace(os.path.join(path, "nodes", f"{name}.json"), [json.dumps(host.raw, indent=1) + "\n"], mode)


def _head(view: View) -> dict[str, Any]:
    """The bundle without its hosts. An intent may hold a user's own kubeadm file, which may hold tokens."""
    head: dict[str, Any] = {"format": 1, **view.bundle, "stage": view.stage, "intent": scrub_all(view.intent.raw)}
    head.pop("nodes", None)
    return head


def _bundle(view: View) -> Iterable[str]:
    """The bundle as JSON text, host by host."""
    head = _head(view)
    yield json.dumps(head, indent=1)[:-2]
    yield ',\n "nodes": {'
    separator = "\n"
    for name, host in view.nodes.read():
        yield f"{separator}  {json.dumps(name)}: {json.dumps(host.raw)}"
        separator = ",\n"
    yield "\n }\n}\n"


def _replace(path: str, texts: Iterable[str], mode: int) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".", suffix=".part")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            for text in texts:
                file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
