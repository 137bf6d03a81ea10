# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""etcd has a member without a node.

## What it means
A control plane was deleted without `kubeadm reset`, or a join ended half way. The member that nobody runs counts for
the quorum: of three members one may then fail, of two none.

## How it looks
A further control plane cannot join: `etcdserver: Peer URLs already exists`, `unhealthy cluster`, or the check of `can
only promote a learner member`; etcd logs failed connections to an address that nobody has.

## What looks like it but is not
- External etcd: its members are no nodes; nothing is reported.
- A member called otherwise than its node whose address is a node's: the node was renamed.
- A learner of a join that is under way: it has a name.

## How it is told
The member list against names and addresses of Node objects.

## Mend
`etcdctl member remove ID` for that one member, after `etcdctl snapshot save`.

## Prevent
Run `kubeadm reset` on a control plane before its Node object is deleted: it takes the member out first.

## Sources
- kubernetes issue 81071; kubeadm issue 2095
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._endpoint import server_host
from ..._evidence._host import Host
from ..._evidence._item import Item
from ..._evidence._said import refused
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="etcd has a member without a node",
    severity="error",
    needs=("cluster.etcd_members", "cluster.nodes"),
    remedy="Take a snapshot (etcdctl snapshot save), then run etcdctl member remove with the ID named.",
    rank=25,
)

_SAID = re.compile(r"etcd cluster is not healthy|error syncing endpoints with etcd|not enough started members")
_MEMBER = re.compile(r"https://[^\s,]+:2379")


def check_node(node: Host, view: View) -> Iterator[Found]:
    """What kubeadm says of a member that does not answer, on a host that is to join."""
    said = refused(node, _SAID) if not view.cluster.has("etcd_members") else ""
    match = _MEMBER.search(said)
    addresses = {str(one) for each in view.cluster.nodes for one in each.internal_addresses} if said else set()
    if match and view.cluster.has("nodes") and server_host(match[0]) not in addresses:
        yield Found(f"etcd has a member at {match[0]}, which is no node's address", {"said": said}, where="cluster")


def check_cluster(view: View) -> Iterator[Found]:
    if view.cluster.has("kubeadm_config") and view.cluster.kubeadm_config.get("etcd", "external"):
        return
    members = view.cluster.etcd_members.items("members")
    names = {node.name for node in view.cluster.nodes}
    addresses = {str(one) for node in view.cluster.nodes for one in node.internal_addresses}
    known = [one for one in members if one.text("name") in names or _hosts(one) & addresses]
    if not known:
        return  # none is a node: etcd runs elsewhere
    for member in members:
        name = member.text("name")
        if not name:
            summary = f"etcd has a member at {', '.join(sorted(_hosts(member)))} that never started"
        elif name not in names and not _hosts(member) & addresses:
            summary = f"etcd's member {name} has no node"
        else:
            continue
        yield Found(summary, {"ID": _id(member), "peerURLs": member.texts("peerURLs"), "nodes": sorted(names)[:20]})


def _hosts(member: Item) -> set[str]:
    return {server_host(url) for url in member.texts("peerURLs")} - {""}


def _id(member: Item) -> str:
    """The ID as etcdctl's commands take it: hexadecimal."""
    number = member.number("ID")
    return f"{number:x}" if number is not None else str(member.get("ID"))
