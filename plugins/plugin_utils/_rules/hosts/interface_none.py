# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""flannel finds no interface to use.

## What it means
Without being told otherwise flannel takes the interface of the default route and its first address, for IPv6 too where
pods have it. With `--iface` it takes exactly that name or address, with `--iface-regex` what the expression matches.

## How it looks
flannel ends with `Failed to find any valid interface to use: failed to get default interface: Unable to find default
route`, `failed to get default v6 interface: unable to find default v6 route`, or `Failed to find interface to use that
matches the interfaces and/or regexes provided`. Where flannel already runs, it shows at its next start.

## What looks like it but is not
- A default route over a VPN or a second card: an interface is found, see `interface-wrong`.
- `--iface=eth.*`: `--iface` is a name, not a pattern. That is this code.
- The address on the loopback and a default route over a card without one (routing to the host): flannel does not look
  at the loopback, so this is this code too, unless `--iface=lo` is set.

## Mend
Set `flannel_interface` to the interface with the node's address, or `flannel_interface_regex` to an expression over
addresses (`^192\\.168\\.10\\.`) where names differ from node to node; or give the host a default route. In dual stack
the interface needs an address and a default route of both families.

## Prevent
podnet.kubeadm.preflight tries the choice on every host before the cluster is built.

## Sources
- flannel `pkg/ipmatch/match.go`; flannel issues 1353, 1379, 1596, 2283
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._asked import interfaces, net_conf, pod_versions
from ..._evidence._host import Host
from ..._evidence._kube import KubeNode
from ..._evidence._net import address
from ..._evidence._said import said_on, said_without_host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._underlay import choose

RULE = Rule(
    title="flannel finds no interface",
    severity="error",
    needs=("nodes.ip_address", "nodes.ip_route"),
    remedy=(
        "Set flannel_interface or flannel_interface_regex to what has the nodes' addresses, or give the host a "
        "default route."
    ),
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing"),
    rank=20,
)

_SAID = re.compile(
    r"Failed to find any valid interface|Failed to find interface to use"
    r"|failed to get (default|ifcanreach based) (v6 )?interface"
    r"|unable to find default (v6 )?route|Could not find valid interface matching|error looking up (v6 )?interface"
    r"|Could not match pattern .* to any of the available network interfaces"
    r"|failed to find IPv[46] address for interface"
    r"|no interface with given IP(v6)? found|v6 default route interface \S+ must be the same",
    re.IGNORECASE,
)
_KLOG = re.compile(r"^[IWEF]\d{4} [\d:.]+ +\d+ \S+\] ")


def check_node(node: Host, view: View) -> Iterator[Found]:
    kube = _kube_node(node, view)
    asked = interfaces(view, kube.name if kube else node.node_name)
    told = [*asked.names, *asked.patterns]
    running = kube is not None and _runs(view, kube)
    lines = said_on(view, node)
    said = next((line.strip() for line in lines if _SAID.search(line)), "")
    if said and not running:
        yield Found(f"flannel finds no interface: {_KLOG.sub('', said)[:200]}", {"told": told})
        return
    for version in _versions(view):
        if version == 6 and not node.has("ip6_route") and not asked.given:
            raise Missing(f"{node.path}.ip6_route")
        fault = choose(node, asked, version).fault
        if not fault:
            continue
        compared = {"told": told, "family": f"IPv{version}"}
        if running or (version == 6 and (_logged(view, kube) or _has_public_ip(node, kube, "public-ipv6"))):
            started = version == 6 or (asked.given and _has_public_ip(node, kube))
            later = "info" if started else "warning"
            yield Found(f"{fault}: flannel will not find its interface when it starts again", compared, severity=later)
        else:
            if version == 6 and view.stage == "cluster":  # without IPv6 it may run all the same: the API has to say
                _looked_at = view.cluster.nodes, view.cluster.pods
            hard = view.stage != "cluster" or (kube is not None and _started(view, kube))
            yield Found(f"{fault}: flannel finds no interface", compared, severity=None if hard else "warning")
        return


def check_cluster(view: View) -> Iterator[Found]:
    for place, kube, lines in said_without_host(view):
        said = next((line.strip() for line in lines if _SAID.search(line)), "")
        if said and not _runs(view, kube):
            yield Found(f"flannel finds no interface: {_KLOG.sub('', said)[:200]}", {"said": said[-300:]}, where=place)


def _versions(view: View) -> list[int]:
    """The families that flannel looks for: as its configuration says, else as the pod ranges do."""
    conf = net_conf(view)
    if conf is not None and conf.networks:
        return sorted({one.version for one in conf.networks})
    return sorted(pod_versions(view) or {4})


def _has_public_ip(node: Host, kube: KubeNode | None, key: str = "public-ip") -> bool:
    """Whether flannel's address is on the host: then it found an interface there, whatever the tries here say."""
    own = address(kube.flannel(key)) if kube else None
    return any(one.ip == own for _link, one in node.addresses())


def _started(view: View, kube: KubeNode) -> bool:
    """Whether flanneld ever started on that node: where its image or its pod is missing, something else comes first."""
    try:
        pods = view.cluster.flannel_pods_by_node.get(kube.name, [])
    except Missing:
        return True
    every = [one for pod in pods for one in pod.items("status", "containerStatuses")]
    return any((one.number("restartCount") or 0) > 0 or one.get("lastState", "terminated") for one in every)


def _logged(view: View, kube: KubeNode | None) -> bool:
    """Whether flannel on that node was heard, and so said something else than that it finds no interface."""
    try:
        pods = view.cluster.flannel_pods_by_node.get(kube.name, []) if kube else []
        return any(view.cluster.pod_log(pod) for pod in pods)
    except Missing:
        return False


def _kube_node(node: Host, view: View) -> KubeNode | None:
    try:
        return view.kube_node(node)
    except Missing:
        return None


def _runs(view: View, kube: KubeNode) -> bool:
    """Whether flannel is at work there: by its pods, else by its lease."""
    try:
        pods = view.cluster.flannel_pods_by_node.get(kube.name, [])
    except Missing:
        pods = []
    return any(pod.ready for pod in pods) if pods else kube.flannel_lease
