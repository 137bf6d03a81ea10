# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A container engine's bridge has the cluster's addresses, or the nodes'.

## What it means
docker0 (172.17.0.0/16), podman's bridge (10.88.0.0/16) or another bridge lies in the pod or service range, or in
the network in which the nodes themselves are: Docker takes its next pool without looking. The host then sends
packets for pods, services or other nodes into a bridge where nobody answers.

## How it looks
`failed to add vxlanRoute (...): invalid argument`, or one node that neither reaches the others nor is reached.

## What looks like it but is not
- cni0 is the cluster's own bridge. A bridge with the host's address on it is its uplink: see `overlap-host-network`.
- docker0 beside the cluster with a range of its own is no fault.

## Mend
Give the engine another range (`bip` and `default-address-pools` in /etc/docker/daemon.json) and remove the bridge's
network, or choose other ranges before the cluster is built.

## Prevent
Keep pods out of 172.17.0.0/16 and 10.88.0.0/16, and set Docker's pools where it stands beside the cluster.

## Sources
- flannel issues 844, 959; Docker documentation, "default-address-pools"
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._net import network, overlaps
from ..._evidence._networks import BRIDGE, HOST
from ..._finding import Found
from ..._registry import Rule
from ..._view import View
from ._overlap import compare, foreign

RULE = Rule(
    title="A container engine's bridge meets the cluster's addresses",
    severity="error",
    needs=("nodes.ip_address", "nodes.ip_route"),
    remedy="Give the container engine another range (default-address-pools in /etc/docker/daemon.json), or choose "
    "another cluster_pod_cidr and cluster_service_cidr.",
    explains=("stale-link", "route-missing", "vxlan-port-blocked", "service-path-broken"),
    rank=13,
)

DEFAULTS = {"Docker": "172.17.0.0/16", "podman": "10.88.0.0/16"}


def check_intent(view: View) -> Iterator[Found]:
    if view.stage != "intent":  # the hosts tell whether such a bridge is there
        return
    for name, ranges in (("pod", view.plan.pod), ("service", view.plan.service)):
        for engine, text in DEFAULTS.items():
            taken = network(text)
            for one in ranges:
                if taken is not None and overlaps(one, taken):
                    compared = {name: str(one), engine: text}
                    text = f"the {name} range {one} meets {text}, which {engine} takes by default"
                    yield Found(text, compared, severity="warning")


def check_node(node: Host, view: View) -> Iterator[Found]:
    yield from compare(node, view, BRIDGE, "a container engine's bridge")
    every = foreign(node, view)
    own = [one for one in every if one.owner == HOST and one.on_link]
    for bridge in (one for one in every if one.owner == BRIDGE and one.on_link):
        met = [one.text for one in own if overlaps(one.network, bridge.network)]
        if met:
            yield Found(
                "a container engine's bridge has the nodes' own network", {"bridge": bridge.text, "host has": met}
            )
            return
