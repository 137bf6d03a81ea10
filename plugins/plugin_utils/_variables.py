# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds variables that look like the collection's and that no role knows: misspelt ones."""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Iterable
from typing import Any

import yaml

ROLES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "roles")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.lru_cache(maxsize=4)
def known(folder: str = ROLES) -> tuple[frozenset[str], tuple[str, ...]]:
    """The names that the roles specify or set, and their prefixes."""
    names: set[str] = set()
    roles = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for role in roles:
        for entry in _read(folder, role, "meta", "argument_specs.yml").get("argument_specs", {}).values():
            names.update(entry.get("options") or {})
        for part in ("defaults", "vars"):
            names.update(_read(folder, role, part, "main.yml"))
    return frozenset(names), tuple(f"{role}_" for role in roles if os.path.isdir(os.path.join(folder, role)))


def unknown(names: Iterable[str], folder: str = ROLES) -> dict[str, str]:
    """The names with one of our prefixes that no role knows, with the one that is meant, or ""."""
    right, prefixes = known(folder)
    candidates = {name for name in names if name.startswith(prefixes)} - right if prefixes else set()
    meant = {name: difflib.get_close_matches(name, right, 1, 0.85) for name in sorted(candidates)}
    return {name: found[0] if found else "" for name, found in meant.items()}


def _read(*parts: str) -> dict[str, Any]:
    path = os.path.join(*parts)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=_LOADER) or {}
