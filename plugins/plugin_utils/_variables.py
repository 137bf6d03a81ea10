# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds misspelt variables, which no role knows, and those whose value no role takes."""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

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


@functools.lru_cache(maxsize=4)
def specified(folder: str = ROLES) -> dict[str, dict[str, Any]]:
    """What roles take, by the variable's name: the options of all their entry points as argument_specs writes them."""
    options: dict[str, dict[str, Any]] = {}
    for role in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        for entry in _read(folder, role, "meta", "argument_specs.yml").get("argument_specs", {}).values():
            options.update(entry.get("options") or {})
    return options


def invalid(values: Mapping[str, Any], folder: str = ROLES) -> dict[str, str]:
    """Of variables with their values those that a role refuses, with Ansible's own sentence of what is wrong."""
    options = specified(folder)
    wrong = {}
    for name in sorted(values.keys() & options.keys()):
        spec = {**options[name], "required": False}
        messages = ArgumentSpecValidator({name: spec}).validate({name: values[name]}).error_messages
        if messages:
            wrong[name] = "it is a secret, and of the wrong type" if spec.get("no_log") else "; ".join(messages)
    return wrong


def _read(*parts: str) -> dict[str, Any]:
    path = os.path.join(*parts)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=_LOADER) or {}
