# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server's certificate does not name the endpoint.

## What it means
Clients reach the API server under a name or an address that is not among its certificate's names: an endpoint that
was chosen or changed after `kubeadm init`, a virtual address, or a host whose advertise address was taken from the
NAT interface.

## How it looks
`x509: certificate is valid for 10.96.0.1, 10.0.2.15, not 10.0.0.10` in the kubelet's journal, and in `kubeadm join`.

## What looks like it but is not
- `certificate signed by unknown authority`: another cluster's CA.
- A control plane's own kubelet that talks to its own API server: that server's certificate names its own address.
- A few files that name another server than the endpoint: they have drifted, see `endpoint-drift`. Where most do, that
  server is what the certificate has to name.
- Clients on 127.0.0.1 through a local proxy, when the certificate names 127.0.0.1.

## How it is told
The names in each control plane's apiserver.crt against controlPlaneEndpoint and the servers in kubeconfig files;
without the certificates, the words in journals.

## Mend
Add the name to `control_plane_cert_sans` (kubeadm's apiServer.certSANs) and let kubeadm write the certificate again:
move apiserver.crt and apiserver.key aside, `kubeadm init phase certs apiserver --config FILE`, restart the API
server.

## Prevent
`cluster_control_plane_endpoint` is set before the first init; the collection writes it into certSANs.

## Sources
- kubeadm issue 3128; kubernetes issue 58921
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..._evidence._endpoint import same_host, server_host
from ..._evidence._host import Host
from ..._evidence._said import said_on
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The API server's certificate does not name the endpoint",
    severity="error",
    needs=("nodes.certificates", "nodes.kubeconfig_servers", "cluster.kubeadm_config"),
    remedy="Add the name to control_plane_cert_sans, move apiserver.crt and apiserver.key aside and "
    "run kubeadm init phase certs apiserver on each control plane.",
    explains=("kubelet-down", "service-path-broken"),
    rank=20,
)

CERTIFICATE = "/etc/kubernetes/pki/apiserver.crt"
REFUSED = re.compile(r"https://[^\n]*x509: certificate is valid for [^\n]*?, not (?P<host>[^\s\"\\]+)")


@dataclass(frozen=True)
class Fact:
    """Of one host: names in its API server's certificate (None: not one), its addresses, the servers its kubeconfig
    files name, and servers that its kubelet refused."""

    names: frozenset[str] | None
    addresses: frozenset[str]
    servers: frozenset[str]
    refused: frozenset[str]


def collect(node: Host, view: View) -> Fact:
    certificate = node.certificates.item(CERTIFICATE) if node.has("certificates") else None
    texts = [node.journal.get("kubelet", "")] if node.has("journal") else []
    texts += [node.kubeadm_output] if node.has("kubeadm_output") else []
    services = {str(one[1]) for one in view.service_networks if one.num_addresses > 1}
    said = {match["host"].strip(".,;") for line in said_on(view, node) for match in REFUSED.finditer(line)}
    return Fact(
        names=frozenset(certificate.texts("sans")) if certificate else None,
        addresses=frozenset(str(one.ip) for _link, one in node.addresses()) if node.has("ip_address") else frozenset(),
        servers=frozenset(map(server_host, node.kubeconfig_servers.values()))
        if node.has("kubeconfig_servers")
        else frozenset(),
        refused=frozenset(match["host"].strip(".,;") for text in texts for match in REFUSED.finditer(text))
        | said & services,
    )


def check_nodes(facts: dict[str, Fact], view: View) -> Iterator[Found]:
    masters = {name: fact for name, fact in facts.items() if fact.names is not None}
    refused = {name: sorted(fact.refused) for name, fact in facts.items() if fact.refused}
    if not masters:
        if refused:
            yield _found(list(refused.values())[0][0], {"refused by": refused}, tuple(refused))
            return
        raise Missing("nodes.*.certificates")
    own = set().union(*(fact.addresses for fact in masters.values()))
    endpoint = view.endpoint
    named = Counter(server for fact in facts.values() for server in fact.servers if server)
    asked = {server for server, count in named.items() if not endpoint or count * 2 > len(facts)}
    asked |= {endpoint} if endpoint else set()
    asked |= {server_host(host) for hosts in refused.values() for host in hosts}
    for host in sorted(asked):
        lacking = [
            name
            for name, fact in masters.items()
            if not any(same_host(host, one) for one in fact.names or ()) and (host in fact.addresses or host not in own)
        ]
        if lacking:
            names = sorted(masters[lacking[0]].names or ())
            yield _found(host, {"asked for": host, "certificate names": names, "refused by": refused}, tuple(lacking))


def _found(host: str, compared: dict[str, object], where: tuple[str, ...]) -> Found:
    return Found(f"the API server's certificate does not name {host}", compared, where=where)
