# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Brings evidence together: a mapping, a file, or a folder of parts, of which hosts are read one at a time."""

from __future__ import annotations

import contextlib
import gc
import json
import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from .._finding import Malformed, Missing
from ._host import Host


class Hosts:
    """The hosts of which there is evidence, by inventory name; each is read when it is asked for."""

    def __init__(self, parts: dict[str, Any] | None = None, folder: str | None = None) -> None:
        self._parts = {name: part for name, part in (parts or {}).items() if isinstance(part, dict)}
        self._folder = folder
        files = sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else []
        self._files = {file[:-5] for file in files if file.endswith(".json")}
        self._node_names: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._parts.keys() | self._files)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._parts.keys() | self._files))

    def __contains__(self, name: object) -> bool:
        return name in self._parts or name in self._files

    def __getitem__(self, name: str) -> Host:
        """The host; raises `Missing` where there is no evidence of it."""
        if name in self._parts:
            return Host(self._parts[name], name)
        if name in self._files and self._folder:
            host = Host(_read(os.path.join(self._folder, f"{name}.json")), name)
            self._remember(host)
            return host
        raise Missing(f"nodes.{name}")

    def _remember(self, host: Host) -> None:
        self._node_names[host.name] = ""
        with contextlib.suppress(Missing, Malformed):
            self._node_names[host.name] = host.node_name

    @cached_property
    def registered(self) -> dict[str, str]:
        """The hosts' names by those that they register as. Files that nobody asked for yet are read for it."""
        for name in self:
            if name not in self._node_names:
                self._remember(self[name])
        return {node: name for name, node in self._node_names.items() if node}

    def read(self) -> Iterator[tuple[str, Host]]:
        """Every host with its name, one at a time; nothing of it is kept here once the next is asked for."""
        for name in self:
            yield name, self[name]


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without Python's search for reference cycles, which would look through a large cluster again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _read(path: str) -> dict[str, Any]:
    with uncollected(), open(path, "rb") as file:
        try:
            value = json.loads(file.read().decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is no JSON: {error}. Gather the evidence again, or mend the file.") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path} holds a {type(value).__name__}, not the JSON object of the evidence format.")
    return value


def load(source: str | dict[str, Any]) -> tuple[dict[str, Any], Hosts]:
    """The bundle without its hosts, and the hosts, of a mapping, a file's or a folder's path.

    Raises ValueError with a sentence where the source is no evidence, OSError where it cannot be read.
    """
    if isinstance(source, dict):
        return _checked(source), Hosts(source.get("nodes") if isinstance(source.get("nodes"), dict) else {})
    with uncollected():
        bundle, hosts = _load(source)
        gc.freeze()  # JSON has no reference cycles; a large cluster is a million objects to search for some
    return bundle, hosts


def _load(source: str) -> tuple[dict[str, Any], Hosts]:
    if not os.path.isdir(source):
        bundle = _read(source)
        _holds(source, bundle, bool(bundle.get("nodes")))
        return _checked(bundle), Hosts(bundle.get("nodes") if isinstance(bundle.get("nodes"), dict) else {})
    bundle = _read(os.path.join(source, "bundle.json")) if os.path.exists(os.path.join(source, "bundle.json")) else {}
    if os.path.exists(os.path.join(source, "cluster.json")):
        bundle["cluster"] = _read(os.path.join(source, "cluster.json"))
    hosts = Hosts(bundle.get("nodes"), os.path.join(source, "nodes"))
    _holds(source, bundle, bool(hosts))
    return _checked(bundle), hosts


def _holds(source: str, bundle: dict[str, Any], hosts: bool) -> None:
    """Refuses what holds nothing to judge: "nothing is wrong" would be said of it."""
    if hosts or bundle.get("cluster") or bundle.get("intent") or bundle.get("format", 1) != 1:
        return
    kind = bundle.get("kind")
    if isinstance(kind, str) and "apiVersion" in bundle:
        hint = f"It is kubectl's {kind}; a bundle holds that under cluster"
    elif bundle.keys() & {"ip_address", "ip_route", "iptables", "sysctl", "units"}:
        hint = "It is what one host says; a bundle holds that under nodes, by the host's name"
    else:
        hint = "A bundle has at least one of intent, cluster and nodes"
    raise ValueError(f"{source} holds no evidence. {hint}: docs/evidence-by-hand.md shows how one is made.")


def _checked(bundle: dict[str, Any]) -> dict[str, Any]:
    if bundle.get("format", 1) != 1:
        raise ValueError(
            f"the evidence has format {bundle['format']!r}; this version of podnet.kubeadm reads format 1."
        )
    return bundle
