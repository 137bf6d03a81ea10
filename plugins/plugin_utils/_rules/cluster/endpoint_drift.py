# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kubeconfig, a control plane or etcd holds another address than it should.

## What it means
The endpoint was introduced or changed after nodes had joined, or a host got another address: files keep the former
one. All is well as long as that address answers; when that one machine goes, every node that names it goes with it.

## How it looks
Nothing, until the first control plane is replaced. Or, after a host's address changed: the API server or etcd does
not start, `cannot assign requested address`.

## What looks like it but is not
- A control plane's files that name its own address (controller-manager.conf, scheduler.conf, since 1.35
  kubelet.conf).
- 127.0.0.1 with a local proxy on every node.
- An endpoint that the API server's certificate does not name: no file can use it yet, see
  `endpoint-not-in-certificate`.
- No endpoint configured: every file names the first control plane. That is what kubeadm does then.

## How it is told
The server in kubelet.conf and admin.conf of every host against the cluster's endpoint; advertise and peer addresses
in static pod files against the addresses of their host.

## Mend
`kubectl config set-cluster kubernetes --server=https://ENDPOINT:6443 --kubeconfig=FILE` for each file named, then
restart the kubelet. A control plane whose host has another address now is joined again under the new one.

## Prevent
`cluster_control_plane_endpoint` from the first day: a name or a virtual address.

## Sources
- kubeadm issues 1955, 2219; kubeadm documentation, "Considerations about apiserver-advertise-address"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..._evidence._endpoint import LOOPBACK, same_host, server_host
from ..._evidence._host import Host
from ..._evidence._kube import Pod
from ..._evidence._net import address
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A file holds another address than the cluster's endpoint or its host's own",
    severity="warning",
    needs=("nodes.kubeconfig_servers", "nodes.ip_address", "cluster.kubeadm_config"),
    remedy="Run kubectl config set-cluster kubernetes --server=https://ENDPOINT:6443 --kubeconfig=FILE on each host, "
    "then systemctl restart kubelet.",
    explains=("public-ip-wrong", "interface-wrong"),
    rank=40,
)

READDRESS = "Give the host its address back, or join it again as a new control plane under the new one."
CERTIFICATE = "/etc/kubernetes/pki/apiserver.crt"
CERTIFICATES = (CERTIFICATE, "/etc/kubernetes/pki/etcd/server.crt", "/etc/kubernetes/pki/etcd/peer.crt")
FILES = ("/etc/kubernetes/kubelet.conf", "/etc/kubernetes/admin.conf", "/etc/kubernetes/super-admin.conf")
FLAGS = {
    "kube-apiserver.yaml": ("advertise-address",),
    "etcd.yaml": ("initial-advertise-peer-urls", "advertise-client-urls"),
}
"""Static pod files and those of their flags that hold an address of their host."""


@dataclass(frozen=True)
class Fact:
    """Of one host: the server in each kubeconfig file, its own addresses, and the names in its API server's
    certificate (empty where it has none)."""

    servers: dict[str, str]
    addresses: frozenset[str]
    control_plane: bool
    names: frozenset[str]


def check_node(node: Host, view: View) -> Iterator[Found]:
    """Addresses in a control plane's static pods and certificates that the host does not have."""
    files = view.cluster.manifests.get(node.name, {}) if view.cluster.has("manifests") else {}
    certificates = [one for one in CERTIFICATES if node.has("certificates") and node.certificates.has(one)]
    if not files and not certificates:
        return
    own = {str(one.ip) for _link, one in node.addresses()}
    for file, names in FLAGS.items():
        flags = Pod(files[file].raw).command_flags if file in files else {}
        for name in names:
            hosts = [server_host(part) for part in flags.get(name, "").split(",") if part]
            foreign = [host for host in hosts if address(host) and host not in own and host not in LOOPBACK]
            if foreign:
                yield Found(
                    f"--{name} in {file} names {', '.join(foreign)}, which is no address of the host",
                    {f"--{name}": flags[name], "addresses": sorted(own)},
                    severity="error",
                    remedy=READDRESS,
                )
                return
    services = {str(one[1]) for one in view.service_networks if one.num_addresses > 1}
    for path in certificates:
        sans = {str(found) for name in node.certificates.item(path).texts("sans") if (found := address(name))}
        told = sans - services - {*LOOPBACK}
        if told and not told & own:
            compared = {"certificate": sorted(told), "addresses": sorted(own)}
            yield Found(f"{path} names no address of the host", compared, remedy=READDRESS)


def _usable(endpoint: str, facts: dict[str, Fact]) -> bool:
    """Whether a file could name the endpoint at all: an API server's certificate has it, or none was looked at."""
    every = [fact.names for fact in facts.values() if fact.names]
    return not endpoint or not every or any(same_host(endpoint, name) for names in every for name in names)


def collect(node: Host, view: View) -> Fact | None:
    servers = {file: server_host(url) for file, url in node.kubeconfig_servers.items() if file in FILES}
    own = frozenset(str(one.ip) for _link, one in node.addresses()) if node.has("ip_address") else frozenset()
    names = node.certificates.item(CERTIFICATE).texts("sans") if node.has("certificates") else []
    control_plane = "control_plane" in node.roles if node.has("roles") else bool(set(servers) - {FILES[0]})
    return Fact(servers, own, control_plane, frozenset(names))


def check_nodes(facts: dict[str, Fact], view: View) -> Iterator[Found]:
    endpoint = view.endpoint
    masters = {address for fact in facts.values() if fact.control_plane for address in fact.addresses}
    right = {endpoint, *LOOPBACK} if endpoint else masters | {*LOOPBACK}
    if (not endpoint and not masters) or not _usable(endpoint, facts):
        return
    by_place = {view.place(one.name): one for one in view.cluster.nodes} if view.cluster.has("nodes") else {}

    def ready(name: str) -> bool:
        return name in by_place and by_place[name].condition("Ready").text("status") == "True"

    drifted: dict[str, dict[str, list[str]]] = {}
    for name, fact in facts.items():
        for file, server in fact.servers.items():
            if server and server not in right:
                drifted.setdefault(server, {}).setdefault(name, []).append(file)
    for server, files in drifted.items():
        if all(server in facts[name].addresses for name in files):
            continue  # a control plane that talks to itself
        yield Found(
            f"kubeconfig files name {server} instead of the cluster's endpoint{' ' + endpoint if endpoint else ''}",
            {"files": files, "endpoint": endpoint or sorted(masters)},
            where=tuple(files),
            severity="error" if server not in masters and not all(map(ready, files)) else "warning",
        )
