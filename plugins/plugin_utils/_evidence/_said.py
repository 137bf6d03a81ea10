# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What components said on a node: its pods' logs, events about them, the host's journals."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .._finding import Missing
from ._host import Host
from ._item import Item

if TYPE_CHECKING:
    from .._view import View
    from ._cluster import Cluster
    from ._kube import KubeNode


_FRESH = timedelta(minutes=15)
"""Older events tell of what was, not of what is: a healthy start leaves some."""


def by_node(cluster: Cluster, now: datetime | None) -> dict[str, list[str]]:
    """Lines by the name of the node they were said on. What was not looked at says nothing."""
    found: dict[str, list[str]] = {}
    places: dict[tuple[str, str], str] = {}
    ready: set[tuple[str, str]] = set()
    with contextlib.suppress(Missing):
        places = {(pod.namespace, pod.name): pod.node_name for pod in cluster.pods}
        ready = {(pod.namespace, pod.name) for pod in cluster.pods if pod.ready}
    with contextlib.suppress(Missing):
        for name, log in cluster.logs.items():
            parts = name.split("/")
            if len(parts) > 1 and (place := places.get((parts[0], parts[1]))):
                found.setdefault(place, []).extend(log.splitlines())
    with contextlib.suppress(Missing):
        for event in cluster.events:
            message = event.text("message")
            about = event.text("involvedObject", "namespace"), event.text("involvedObject", "name")
            if not message or event.text("type") == "Normal" or about in ready or _stale(event, now):
                continue  # a pod that is ready has it behind it
            if place := _place(event, places):
                found.setdefault(place, []).append(message)
    return found


def _stale(event: Item, now: datetime | None) -> bool:
    last = event.text("lastTimestamp") or event.text("eventTime")
    try:
        return now is not None and now - datetime.fromisoformat(last.replace("Z", "+00:00")) > _FRESH
    except (ValueError, TypeError):
        return False


def _place(event: Item, places: dict[tuple[str, str], str]) -> str:
    about = event.item("involvedObject")
    if about.text("kind") == "Node":
        return about.text("name")
    return places.get((about.text("namespace"), about.text("name"))) or event.text("source", "host")


def said_without_host(view: View) -> Iterator[tuple[str, KubeNode, list[str]]]:
    """Of nodes of which there is no evidence from the host: its place, the Node, and what components said there."""
    for node in view.cluster.nodes:
        place = view.place(node.name)
        if place not in view.nodes and (lines := view.said_by_node.get(node.name)):
            yield place, node, lines


def heard(view: View, node: Host, sign: re.Pattern[str]) -> str:
    """The end of the first line said on the host that has the sign, or ""."""
    return next((line.strip()[-300:] for line in said_on(view, node) if sign.search(line)), "")


def heard_without_host(view: View, sign: re.Pattern[str]) -> Iterator[tuple[str, KubeNode, str]]:
    """The same of nodes of which there is no evidence from the host: place, Node and line."""
    for place, node, lines in said_without_host(view):
        if said := next((line.strip()[-300:] for line in lines if sign.search(line)), ""):
            yield place, node, said


def said_on(view: View, node: Host) -> list[str]:
    """Lines said on the host: by the cluster's components there and in the host's journals."""
    lines: list[str] = []
    try:
        found = view.kube_node(node)
        lines += view.said_by_node.get(found.name if found else node.node_name, [])
    except Missing:
        lines += view.said_by_node.get(node.node_name, [])
    with contextlib.suppress(Missing):
        lines += [line for text in node.journal.values() for line in text.splitlines()]
    return lines
