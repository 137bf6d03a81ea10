# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lines that the cluster's components said, by the node they are about: pods' logs and fresh warning events."""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta

from .._finding import Missing
from ._cluster import Cluster
from ._item import Item

_FRESH = timedelta(minutes=15)
"""Older events tell of what was, not of what is: a healthy start leaves some."""


def unescaped(text: str) -> str:
    r"""Without the backslashes of words that were quoted again: `err="nodes \\"n2\\" is forbidden"`."""
    return text.replace("\\", "") if '\\"' in text else text


def by_node(cluster: Cluster, now: datetime | None) -> dict[str, list[str]]:
    """Lines by the name of the node they were said on, "" where none is known. What was not looked at says nothing."""
    found: dict[str, list[str]] = {}
    places: dict[tuple[str, str], str] = {}
    ready: set[tuple[str, str]] = set()
    with contextlib.suppress(Missing):
        places = {(pod.namespace, pod.name): pod.node_name for pod in cluster.pods}
        ready = {(pod.namespace, pod.name) for pod in cluster.pods if pod.ready}
    with contextlib.suppress(Missing):
        for name, log in cluster.logs.items():
            parts = name.split("/")
            place = places.get((parts[0], parts[1]), None if places else "") if len(parts) > 1 else None
            if place is not None:
                found.setdefault(place, []).extend(unescaped(log).splitlines())
    with contextlib.suppress(Missing):
        for event in cluster.events:
            message = unescaped(event.text("message"))
            about = event.text("involvedObject", "namespace"), event.text("involvedObject", "name")
            if not message or event.text("type") == "Normal" or about in ready or _stale(event, now):
                continue  # a pod that is ready has it behind it
            if (place := _place(event, places)) or not places:
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
