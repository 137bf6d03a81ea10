# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What components said on a node: its pods' logs, events about them, the host's journals."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator

from .._finding import CLUSTER, Missing
from .._view import View
from ._host import Host
from ._kube import KubeNode
from ._lines import unescaped


def said_without_host(view: View) -> Iterator[tuple[str, KubeNode, list[str]]]:
    """Of nodes of which there is no evidence from the host: its place, the Node, and what components said there. Where
    Node objects were not looked at, the Node holds its name alone; "cluster" is the place of what is said somewhere."""
    if view.cluster.has("nodes"):
        nodes = view.cluster.nodes
    else:
        nodes = [KubeNode({"metadata": {"name": name}}) for name in view.said_by_node if name]
    for node in nodes:
        place = view.place(node.name)
        if place not in view.nodes and (lines := view.said_by_node.get(node.name)):
            yield place, node, lines
    if lines := view.said_by_node.get(""):
        yield CLUSTER, KubeNode({}), lines


def heard(view: View, node: Host, sign: re.Pattern[str]) -> str:
    """The end of the first line said on the host that has the sign, or ""."""
    return next((line.strip()[-300:] for line in said_on(view, node) if sign.search(line)), "")


def heard_without_host(view: View, sign: re.Pattern[str]) -> Iterator[tuple[str, KubeNode, str]]:
    """The same of nodes of which there is no evidence from the host: place, Node and line."""
    for place, node, lines in said_without_host(view):
        if said := next((line.strip()[-300:] for line in lines if sign.search(line)), ""):
            yield place, node, said


def refused(node: Host, sign: re.Pattern[str]) -> str:
    """The first line with the sign of the last kubeadm command that failed on the host, or ""."""
    lines = node.kubeadm_output.splitlines() if node.has("kubeadm_output") else []
    return next((line.strip()[-300:] for line in lines if sign.search(line)), "")


def told(view: View, sign: re.Pattern[str]) -> dict[str, re.Match[str]]:
    """The first line with the sign of logs and events, by place: of every node, whether or not its host was looked at.
    For rules whose own keys were not looked at, and hear the cause all the same."""
    found: dict[str, re.Match[str]] = {}
    for name, lines in view.said_by_node.items():
        if match := next(filter(None, map(sign.search, lines)), None):
            found.setdefault(view.place(name) if name else CLUSTER, match)
    return found


def places(said: Iterable[str]) -> tuple[str, ...]:
    """Where a cause of the whole cluster is that was `told` at these places: the cluster first."""
    return (CLUSTER, *(name for name in said if name != CLUSTER))


def said_on(view: View, node: Host) -> list[str]:
    """Lines said on the host: by the cluster's components there and in the host's journals."""
    lines: list[str] = []
    try:
        found = view.kube_node(node)
        lines += view.said_by_node.get(found.name if found else node.node_name, [])
    except Missing:
        lines += view.said_by_node.get(node.node_name, [])
    with contextlib.suppress(Missing):
        lines += [line for text in node.journal.values() for line in unescaped(text).splitlines()]
    return lines
