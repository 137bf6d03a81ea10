# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Another network's CNI configuration is, or was, the one that the runtime uses.

## What it means
containerd and CRI-O take the first file of /etc/cni/net.d by name. What sorts before 10-flannel.conflist wins: 00-*,
05-cilium.conflist, 10-calico.conflist, 10-containerd-net.conflist, 10-antrea.conflist. Before flannel is applied, any
other file is first: pods that start then keep its addresses for life.

## How it looks
New pods get addresses of another range (10.88.0.0/16, 10.85.0.0/16, 172.17.0.0/16), or the same on every node; nobody
reaches them, the node is Ready and nothing is logged. Or they do not start: `failed to find plugin "calico"`.

## What looks like it but is not
- A file that sorts after flannel's (87-podman-bridge.conflist, 99-loopback.conf) while pods have right addresses.
- A file that calls flannel itself, behind Multus (`delegates`, `clusterNetwork`) or with a plugin chained to it.
- Canal's file of Calico's plugin, where one DaemonSet runs flanneld and Calico's agent.
- A file of another suffix than .conf, .conflist and .json: no runtime reads it.
- CRI-O with `cni_default_network`: it takes the network of that name.
- Another network that really runs in the cluster: see `cni-other-installed`.

## Mend
Drain the node while the foreign file is still there (its plugin has to release addresses and ports), then move the
file out of /etc/cni/net.d (`host_foreign_cni: move` and podnet.kubeadm.site), restart the runtime, re-create the pods
that have foreign addresses.

## Prevent
`host_foreign_cni: refuse` (the default) stops before a cluster is built on such a host.

## Sources
- containerd `docs/cri/config.md`; flannel issues 1099, 1224, 1437; k0s issue 823; cri-o issue 2411; podman issue 4908
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

from ..._evidence._cni import CniFile
from ..._evidence._host import Host
from ..._evidence._kube import KubeNode
from ..._evidence._net import Network, networks
from ..._evidence._other_cni import other_networks, runs_canal
from ..._evidence._said import heard, heard_without_host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Another CNI configuration is used",
    severity="error",
    needs=("nodes.cni_config",),
    remedy=(
        "Drain the node, set host_foreign_cni: move and run podnet.kubeadm.site, then re-create pods with foreign"
        " addresses."
    ),
    repair="host:cni_config",
    explains=("cni-plugin-missing", "stale-link", "ipam-leak", "service-path-broken", "reset-leftovers"),
    rank=20,
)

_FLANNELS = "10-flannel.conflist"
_PLUGINS = {
    "calico": "Calico",
    "calico-ipam": "Calico",
    "cilium-cni": "Cilium",
    "weave-net": "Weave Net",
    "weave-ipam": "Weave Net",
    "antrea": "Antrea",
    "kube-ovn": "Kube-OVN",
    "kube-router": "kube-router",
    "aws-cni": "Amazon's VPC CNI",
    "ptp": "kindnet",
}
"""Plugins that a network brings of its own; its name as in `other_networks`."""
_FAILED = re.compile(rf'plugin type=\\*"(?P<type>{"|".join(_PLUGINS)})\\*"[^\n]*? failed \((?:add|delete)\)')
_DEFAULTS = networks(["10.88.0.0/16", "10.85.0.0/16", "172.17.0.0/16", "10.22.0.0/16"])
"""Of podman and containerd's script, of CRI-O, of Docker, and of the CNI project's example."""


def check_node(node: Host, view: View) -> Iterator[Found]:
    if view.stage == "cluster" and view.cluster.has("daemonsets") and not view.cluster.flannel_daemonsets:
        return  # no flannel whose file it could keep out
    if view.stage == "cluster" and not node.has("cni_config"):
        if said := heard(view, node, _FAILED):
            yield from _by_words(said, view, node.name)
        yield from _by_addresses(view.kube_node(node), view, node.name)
    canal = _canal(view)
    files = [file for file in node.cni_files if not file.loopback_only and not (canal and "calico" in file.types)]
    foreign = [file for file in files if not file.is_flannel]
    first = _in_use(node, files)
    names = [file.name for file in files]
    if first is not None and not first.is_flannel and _wins(first, files, view):
        kind = ", ".join(dict.fromkeys(first.types)) or first.fault
        waits = (
            view.stage == "cluster" and first.name > _FLANNELS
        )  # flannel's file will be first once flannel runs here
        soft = "warning" if waits and not _outside(node, view) else None
        compared = {"files": names, "its plugins": kind}
        yield Found(f"the runtime uses {first.name}, not flannel's file", compared, severity=soft)
        return
    outside = _outside(node, view)
    if foreign and outside:
        strayed = {"pods": dict(list(outside.items())[:10]), "files": names}
        yield Found(f"pods have addresses of another network than flannel's ({foreign[0].name} is there)", strayed)
    elif outside:
        yield from _by_addresses(view.kube_node(node), view, node.name)


def check_cluster(view: View) -> Iterator[Found]:
    """Nodes of which there is no evidence from the host."""
    if view.cluster.has("daemonsets") and not view.cluster.flannel_daemonsets:
        return
    for place, _kube, said in heard_without_host(view, _FAILED):
        yield from _by_words(said, view, place)
    for kube in view.cluster.nodes:
        if view.place(kube.name) not in view.nodes:
            yield from _by_addresses(kube, view, view.place(kube.name))


def _by_words(said: str, view: View, where: str) -> Iterator[Found]:
    """A plugin that makes pods fail and belongs to a network that does not run in the cluster."""
    match = _FAILED.search(said)
    network = _PLUGINS[match["type"]] if match else ""
    try:
        running = set(other_networks(view.cluster.daemonsets).values())
    except Missing:
        running = set()
    if network and network not in running and not _canal(view):
        yield Found(f"the runtime uses {network}'s configuration, not flannel's file", {"said": said}, where=where)


def _by_addresses(kube: KubeNode | None, view: View, where: str) -> Iterator[Found]:
    """Pods with addresses that another configuration's example or default gives, whether or not its file is seen."""
    strayed = _strayed(kube, view)
    strayed = {pod: one for pod, one in strayed.items() if any(ip_address(one) in each for each in _DEFAULTS)}
    if strayed:
        summary = "pods have addresses of another network than flannel's, whose file is not seen"
        pods = dict(list(strayed.items())[:10])
        yield Found(summary, {"pods": pods}, where=where, remedy="Re-create the pods: kubectl delete pod, one by one.")


def _canal(view: View) -> bool:
    return view.cluster.has("daemonsets") and runs_canal(view.cluster.daemonsets)


def _in_use(node: Host, files: list[CniFile]) -> CniFile | None:
    """The file that the runtime takes: the first, or CRI-O's network of the name it is told."""
    try:
        told = re.search(r'(?m)^\s*cni_default_network\s*=\s*"([^"]+)"', node.runtime.text("config"))
    except Missing:
        told = None
    if told:
        return next((file for file in files if file.network == told[1]), None)
    return files[0] if files else None


def _wins(first: CniFile, files: list[CniFile], view: View) -> bool:
    """Whether the file keeps flannel's from being used, now or once it is there."""
    if any(file.is_flannel for file in files):
        return True
    return view.stage == "cluster" or first.name < _FLANNELS


def _outside(node: Host, view: View) -> dict[str, str]:
    """Pods of the node whose address is in none of its ranges."""
    if view.stage != "cluster":
        return {}
    try:
        return _strayed(view.kube_node(node), view)
    except Missing:
        return {}


def _strayed(kube: KubeNode | None, view: View) -> dict[str, str]:
    pods = view.cluster.pods_by_node.get(kube.name, []) if kube else []
    ranges: list[Network] = kube.pod_networks if kube else []
    return {
        f"{pod.namespace}/{pod.name}": str(one)
        for pod in pods
        if ranges and not pod.host_network and pod.phase in ("Pending", "Running")
        for one in pod.addresses
        if one.version in {each.version for each in ranges} and not any(one in each for each in ranges)
    }
