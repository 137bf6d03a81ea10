# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Texts of the evidence, parsed: YAML and JSON documents, KEY=value files, command lines, /proc/swaps, resolv.conf."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import yaml

from ._item import Item
from ._net import Address, address

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Texts(_Loader):  # type: ignore[misc, valid-type]
    """YAML 1.2's idea of a scalar where 1.1's would turn a date into an object that no JSON has."""


_Texts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def yaml_documents(raw: Any) -> list[Item]:
    """Every mapping of a YAML text of one or more documents; raises ValueError with the parser's first words."""
    if not isinstance(raw, str):
        raise ValueError(f"text is expected, a {type(raw).__name__} stands there")
    try:
        return [Item(document) for document in yaml.load_all(raw, Loader=_Texts) if isinstance(document, dict)]
    except yaml.YAMLError as error:
        raise ValueError(f"no YAML: {str(error).splitlines()[0]}") from error
    except (ValueError, RecursionError, OverflowError) as error:
        raise ValueError(f"no YAML: {error}") from error


def yaml_document(raw: Any) -> Item:
    """The first mapping of a YAML text, empty where it holds none."""
    documents = yaml_documents(raw)
    return documents[0] if documents else Item({})


def json_object(raw: Any) -> Item:
    """A JSON text that is an object; raises ValueError where it is none."""
    if not isinstance(raw, str):
        raise ValueError(f"text is expected, a {type(raw).__name__} stands there")
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"no JSON object: a {type(value).__name__} stands there")
    return Item(value)


def assignments(raw: Any) -> dict[str, str]:
    """A file of KEY=value lines (subnet.env, kubeadm-flags.env, /etc/default/kubelet), quotes taken off."""
    if not isinstance(raw, str):
        raise ValueError(f"text is expected, a {type(raw).__name__} stands there")
    found = {}
    for line in raw.splitlines():
        key, separator, value = line.strip().partition("=")
        if separator and key and not key.startswith("#"):
            value = value.strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1]
            found[key.removeprefix("export ").strip()] = value
    return found


def flags(words: list[str]) -> dict[str, str]:
    """``--name=value`` and ``--name value`` of a command line by name, without the dashes; a bare one is "true"."""
    found: dict[str, str] = {}
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if not re.match(r"--?[A-Za-z]", word):
            continue
        name, separator, value = word.lstrip("-").partition("=")
        if not separator:
            following = words[index] if index < len(words) else ""
            if following and not following.startswith("-"):
                value = following
                index += 1
            else:
                value = "true"
        found[name] = value
    return found


def kubelet_flags(raw: Any) -> dict[str, str]:
    """The kubelet's flags of ``kubeadm-flags.env`` and ``/etc/default/kubelet``, the later file winning."""
    words: list[str] = []
    for value in assignments(raw).values():
        try:
            words += shlex.split(value)
        except ValueError:
            words += value.split()
    return flags(words)


def swap_devices(raw: Any) -> list[str]:
    """The devices and files of /proc/swaps."""
    if not isinstance(raw, str):
        raise ValueError(f"text is expected, a {type(raw).__name__} stands there")
    rows = [row for line in raw.splitlines() if (row := line.split())]
    if rows and rows[0][0] != "Filename":
        raise ValueError("the head line of /proc/swaps is expected")
    return [row[0] for row in rows[1:]]


def resolvers(raw: Any) -> list[Address]:
    """The nameservers of a resolv.conf."""
    if not isinstance(raw, str):
        raise ValueError(f"text is expected, a {type(raw).__name__} stands there")
    found = []
    for line in raw.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver":
            parsed = address(words[1].partition("%")[0])
            if parsed is not None:
                found.append(parsed)
    return found
