# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files of the runtime's CNI conf_dir, in the order in which a runtime looks at them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._item import Item

SUFFIXES = (".conf", ".conflist", ".json")
"""Names that libcni's ConfFiles picks up; the first valid one by name wins."""


@dataclass(frozen=True)
class CniFile:
    """A configuration: ``config`` is empty and ``fault`` says why where the text is no JSON object."""

    name: str
    config: Item
    fault: str = ""

    @property
    def network(self) -> str:
        """The network's name: host-local keeps its leases under it."""
        return self.config.text("name")

    @property
    def is_list(self) -> bool:
        return self.config.has("plugins")

    @property
    def plugins(self) -> list[Item]:
        """The plugins of a list, or the one of a single configuration."""
        return self.config.items("plugins") or ([self.config] if self.config.text("type") else [])

    @property
    def types(self) -> list[str]:
        """Every ``type`` in it, delegates and IPAM included."""
        return list(_types(self.config.raw))

    @property
    def is_flannel(self) -> bool:
        """Whether flannel's plugin is in it, by itself or behind another (Multus, also where that names its file or its
        network alone); by its name if unreadable."""
        behind = self.config.text("clusterNetwork").rpartition("/")[2]
        return "flannel" in self.types or "flannel" in behind or bool(self.fault and "flannel" in self.name)

    @property
    def loopback_only(self) -> bool:
        return bool(self.types) and set(self.types) == {"loopback"}


def _types(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("type"), str):
            yield value["type"]
        for one in value.values():
            yield from _types(one)
    elif isinstance(value, list):
        for one in value:
            yield from _types(one)


def cni_file(name: str, text: str) -> CniFile:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return CniFile(name, Item({}), f"no JSON: {error}")
    if not isinstance(value, dict):
        return CniFile(name, Item({}), f"a {type(value).__name__}, no JSON object")
    return CniFile(name, Item(value))


def cni_files(raw: Any) -> list[CniFile]:
    """The files by name, those of other suffixes left out."""
    if not isinstance(raw, dict):
        raise ValueError(f"texts by file name are expected, a {type(raw).__name__} stands there")
    taken = {
        name: text
        for name, text in raw.items()
        if isinstance(name, str) and name.endswith(SUFFIXES) and isinstance(text, str)
    }
    return [cni_file(name, taken[name]) for name in sorted(taken)]
