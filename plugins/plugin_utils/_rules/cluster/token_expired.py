# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A join's token or certificate key has expired.

## What it means
Bootstrap tokens live 24 hours, the key of the uploaded certificates two. A join command from yesterday finds neither.

## How it looks
`could not find a JWS signature in the cluster-info ConfigMap for token ID`, `token id ... is invalid for this cluster
or it has expired`, `Unauthorized` from cluster-info; for a control plane `Secret "kubeadm-certs" was not found`.

## What looks like it but is not
- A clock that is hours apart: see `clock-skew`, which comes first where both are seen.
- Words of an earlier try on a host that is a member now: nothing is reported.
- `certificate signed by unknown authority`: the hash is another cluster's.

## How it is told
The last words of kubeadm on a host that has no kubelet.conf and is no node.

## Mend
`kubeadm token create --print-join-command`; for a control plane `kubeadm init phase upload-certs --upload-certs`.
podnet.kubeadm.site makes both fresh at every run.

## Prevent
No stored join commands.

## Sources
- kubeadm issues 1988, 1310
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A join's token or certificate key has expired",
    severity="error",
    needs=("nodes.kubeadm_output",),
    remedy="Run podnet.kubeadm.site with the host in its limit: it makes a fresh token and joins again.",
    rank=30,
)

SIGNS = re.compile(
    r"could not find a JWS signature in the cluster-info ConfigMap for token ID"
    r"|there is no JWS signed token in the cluster-info ConfigMap|does not yet contain a JWS signature for token ID"
    r"|token id \"?[a-z0-9]+\"? is invalid for this cluster"
    r"|cluster-info[^\n]*(?:Unauthorized|has expired)"
    r"|error downloading[^\n]*kubeadm-certs|kubeadm-certs\"?[^\n]{0,80}(?:not found|forbidden|expired)"
    r"|the server has asked for the client to provide credentials|error execution phase[^\n]*: Unauthorized",
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    match = SIGNS.search(node.kubeadm_output)
    if match and not _member(node, view):
        yield Found("kubeadm join was refused: its token or key has expired", {"kubeadm": match[0]})


def _member(node: Host, view: View) -> bool:
    if node.has("kubernetes_files") and "/etc/kubernetes/kubelet.conf" in node.kubernetes_files:
        return True
    try:
        return view.stage == "cluster" and view.kube_node(node) is not None
    except Missing:
        return False
