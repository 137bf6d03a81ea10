# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the rules on overlaps with a host's networks share."""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._net import Network, covered
from ..._evidence._networks import HostNetwork, host_networks, meeting
from ..._finding import Found, Missing
from ..._view import View


def cluster_ranges(view: View) -> dict[str, list[Network]]:
    """The pod and the service ranges; raises `Missing` where the pod ranges are not known."""
    pod = view.pod_networks
    try:
        return {"pod": pod, "service": view.service_networks}
    except Missing:
        return {"pod": pod}


def foreign(node: Host, view: View) -> list[HostNetwork]:
    """The host's networks without those that are the cluster's own; looked for once, three rules ask."""
    found: list[HostNetwork] = node.derived("foreign networks", lambda: _foreign(node, view))
    return found


def _foreign(node: Host, view: View) -> list[HostNetwork]:
    found = list(host_networks(node, view.node_ranges))
    try:
        masks = view.running_plan.node_mask if view.overlay.backend == "host-gw" else {}
    except Missing:
        return found
    pods = view.pod_networks
    return [  # under host-gw such a route is what flannel left of a node that is gone, see route-stale
        one
        for one in found
        if one.on_link or masks.get(one.network.version) != one.network.prefixlen or not covered(one.network, pods)
    ]


def compare(node: Host, view: View, owner: str, whose: str) -> Iterator[Found]:
    """One error for what the ranges really meet, else one warning for wider routes that the cluster's cut into."""
    met = [one for one in meeting(cluster_ranges(view), foreign(node, view)) if one[2].owner == owner]
    wide = [one for one in met if not one[2].on_link and one[2].network.prefixlen < one[1].prefixlen]
    hard = [one for one in met if one not in wide]
    if hard:
        names = " and ".join(dict.fromkeys(f"the {name} range {cidr}" for name, cidr, _found in hard))
        yield Found(f"{names} meets {whose}", {"ranges": names, "host has": _texts(hard)})
    elif wide:
        names = " and ".join(dict.fromkeys(f"the {name} range {cidr}" for name, cidr, _found in wide))
        text = f"{names} cuts into a wider route of {whose}"
        yield Found(text, {"ranges": names, "host has": _texts(wide)}, severity="warning")


def _texts(met: list[tuple[str, Network, HostNetwork]]) -> list[str]:
    return list(dict.fromkeys(one.text for _name, _cidr, one in met))[:5]
