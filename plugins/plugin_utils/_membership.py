# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether hosts are members of the cluster that the inventory describes, or of another one.

kubeadm join says nothing of another cluster: a host with a kubelet.conf counts as joined. What tells is where its
kubelet reports to.
"""

from __future__ import annotations

from ._evidence._endpoint import LOOPBACK, server_host
from ._evidence._host import Host
from ._finding import Missing
from ._view import View

KUBELET = "/etc/kubernetes/kubelet.conf"
ADMIN = "/etc/kubernetes/admin.conf"
CA_KEY = "/etc/kubernetes/pki/ca.key"


def strangers(view: View, control_planes: list[str]) -> list[str]:
    """Sentences on the hosts of *view* that belong to another cluster, one per cluster.

    control_planes: their names in the inventory; the first of them makes the cluster.
    """
    hosts = {name: host for name, host in view.nodes.read() if host.has("kubernetes_files")}
    first = hosts.get(control_planes[0]) if control_planes else None
    if first and KUBELET in first.kubernetes_files and not {ADMIN, CA_KEY} & set(first.kubernetes_files):
        where = _server(first) or "an unknown address"
        return [
            f"{control_planes[0]} shall be the control plane, and is a worker of the cluster at {where}. Take it out "
            "of the control plane's group, or drain it there and run kubeadm reset on it"
        ]
    ours = _addresses(view, hosts, control_planes)
    if first and ADMIN not in first.kubernetes_files and CA_KEY not in first.kubernetes_files:
        ours = set()  # the cluster is still to be made: nobody can be its member
    elif not ours:
        return []  # nothing to compare with
    foreign: dict[str, list[str]] = {}
    for name, host in hosts.items():
        server = _server(host)
        if KUBELET in host.kubernetes_files and server and server_host(server) not in ours | set(LOOPBACK):
            foreign.setdefault(server, []).append(name)
    cluster = f"is at {', '.join(sorted(ours))}" if ours else "does not exist yet"
    return [
        f"{', '.join(sorted(names))}: member of another cluster, that of {server}; the cluster of this inventory "
        f"{cluster}. Take it out of the inventory, or drain it there and run kubeadm reset on it"
        for server, names in sorted(foreign.items())
    ]


def _server(host: Host) -> str:
    servers = host.kubeconfig_servers if host.has("kubeconfig_servers") else {}
    return servers.get(KUBELET, "").removeprefix("https://")


def _addresses(view: View, hosts: dict[str, Host], control_planes: list[str]) -> set[str]:
    """Under which hosts' addresses the inventory's cluster is reached, as far as anything says."""
    found = {view.endpoint} if view.has_intent or view.cluster.has("kubeadm_config") else set()
    for name in control_planes:
        host = hosts.get(name)
        if host is not None:
            servers = host.kubeconfig_servers if host.has("kubeconfig_servers") else {}
            found |= {server_host(server) for path, server in servers.items() if path == ADMIN}
            found |= {str(one.ip) for _link, one in host.addresses()} if host.has("ip_address") else set()
    try:
        for node in view.cluster.nodes:
            if "node-role.kubernetes.io/control-plane" in node.labels:
                found |= {str(one) for one in node.internal_addresses}
    except Missing:
        pass
    return found - {""}
