# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host's name cannot be a Node's name.

## What it means
The kubelet registers its node under the host's name in lower case (or under --hostname-override). The API server takes
only names that are DNS subdomains of RFC 1123: lower case letters, digits, `-` and `.`, and a label of at most 63
characters, for the name becomes the label kubernetes.io/hostname too.

## How it looks
`kubeadm init` or `join` stops with `a lowercase RFC 1123 subdomain must consist of ...`; a kubelet that is started
otherwise logs `Unable to register node with API server ... is invalid: metadata.name`. A name with capitals works:
kubeadm and the kubelet lower it, and whoever looks for the node under the host's own name does not find it.

## What looks like it but is not
- A fully qualified name (n1.example.com) is a valid node name.
- A name that differs from the inventory's: the inventory's name is nobody's business but Ansible's.
- Two hosts with one name: see `hostname-duplicate`.

## Mend
Before the cluster is built: `hostnamectl set-hostname NAME`. A node that is registered keeps its name for life: drain
it, `kubectl delete node`, `kubeadm reset`, rename it, join it again.

## Prevent
Names of hosts from letters, digits and `-` only.

## Sources
- kubernetes documentation, "Object Names and IDs"; kubernetes `cmd/kubeadm/app/util/marshal.go`, GetHostname
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._said import refused
from ..._finding import Found, Malformed
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A host's name cannot be a Node's name",
    severity="error",
    needs=("nodes.hostname",),
    remedy=(
        "Rename the host with hostnamectl set-hostname before it joins; only a-z, 0-9, - and . may stand in the name."
    ),
    rank=30,
)

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


_SAID = re.compile(r"(?:nodeRegistration\.name|metadata\.name): Invalid value: \\*\"(?P<name>[^\"\\]+)")


def check_node(node: Host, view: View) -> Iterator[Found]:
    for found in _by_its_name(node):
        yield found
        return
    if match := _SAID.search(refused(node, _SAID)):
        yield Found(f"kubeadm takes {match['name']} for no Node's name", {"said": match[0]})


def _by_its_name(node: Host) -> Iterator[Found]:
    override = node.hostname_override
    name = override or node.hostname.strip()
    lowered = name if override else name.lower()
    if not name:
        raise Malformed(f"{node.path}.hostname", "it is empty")
    if name == "(none)":
        yield Found("the host has no name", {"hostname": name})
    elif lowered.partition(".")[0] == "localhost":
        summary = f"the host is called {name}, as every host without a name of its own is"
        yield Found(summary, {"hostname": name}, severity="warning")
    elif not _SUBDOMAIN.fullmatch(lowered):
        yield Found(f"{name} is no DNS name of lower case letters, digits, - and .", {"hostname": name})
    elif len(lowered) > 63:
        yield Found(f"{name} is longer than the 63 characters that a label may have", {"hostname": name})
    elif lowered != name:
        yield Found(f"{name} has capitals: the node is registered as {lowered}", {"hostname": name}, severity="warning")
