# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A range is no network.

## What it means
What stands where a range belongs is no `address/length`: no mask, a netmask instead of a length, a dot too many, a
name.

## How it looks
kubeadm refuses it: `couldn't parse subnet`. flanneld ends with `error parsing subnet config: invalid CIDR address`.

## What looks like it but is not
- Host bits (10.244.1.0/16) are read and masked: see `cidr-host-bits`.
- Two ranges with a comma between them are dual stack, not an error.

## Mend
Write the range as its first address, a slash and the length: `10.244.0.0/16`, `fd00:10:244::/56`.

## Prevent
Set `cluster_pod_cidr` once and let everything else be rendered from it.

## Sources
- Go `net.ParseCIDR`; kubernetes `cmd/kubeadm/app/apis/kubeadm/validation/validation.go`
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._net import address, network
from ..._finding import Found, Malformed
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A range is no network",
    severity="error",
    needs=("intent.pod_cidr",),
    remedy="Write the range as first address, slash and length, such as 10.244.0.0/16.",
    explains=("pod-cidr-missing", "flannel-netconf-invalid"),
    rank=5,
)


def check_intent(view: View) -> Iterator[Found]:
    for name, attribute in (("pod range", "pod_texts"), ("service range", "service_texts")):
        try:
            yield from _unreadable(name, getattr(view.intent, attribute))
        except Malformed as malformed:
            yield Found(f"the {name} cannot be read", {malformed.key: malformed.why})
    if view.intent.has("cluster_dns"):
        for text in view.intent.cluster_dns:
            if address(text) is None:
                yield Found(f"{text} as address of cluster DNS is no address", {"cluster DNS": text})


def check_cluster(view: View) -> Iterator[Found]:
    if view.cluster.has("kubeadm_config"):
        yield from _unreadable("pod range", view.cluster.kubeadm_config.pod_texts)
        yield from _unreadable("service range", view.cluster.kubeadm_config.service_texts)


def _unreadable(name: str, texts: list[str]) -> Iterator[Found]:
    for text in texts:
        if network(text) is None:
            yield Found(f"{text} as {name} is no network", {name: text})
