# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A range has host bits set.

## What it means
The address of the range is not its first one: 10.244.1.0/16 means 10.244.0.0/16. kubeadm, the controller manager,
kube-proxy and flanneld all mask it, so it works; who reads the number takes it for another range.

## How it looks
Nothing fails. Node ranges begin at the masked address (10.244.0.0/24), not at the written one.

## What looks like it but is not
A written range that differs from flannel's only in host bits is no `flannel-network-mismatch`.

## Mend
Write the first address. On a running cluster the text can stay as it is.

## Prevent
Take the range from the plan, which has it masked.

## Sources
- Go `net.ParseCIDR`, which answers the network beside the address
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._net import interface
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A range has host bits set",
    severity="warning",
    needs=("intent.pod_cidr",),
    remedy="Write the first address of the range; what it means stays the same.",
    rank=60,
)


def check_intent(view: View) -> Iterator[Found]:
    yield from _host_bits("pod range", view.intent.pod_texts)
    yield from _host_bits("service range", view.intent.service_texts)
    if view.intent.has_net_conf:
        conf = view.intent.net_conf
        yield from _host_bits("net-conf.json", [conf.text("Network"), conf.text("IPv6Network")])


def check_cluster(view: View) -> Iterator[Found]:
    if view.cluster.has("kubeadm_config"):
        yield from _host_bits("pod range", view.cluster.kubeadm_config.pod_texts)
        yield from _host_bits("service range", view.cluster.kubeadm_config.service_texts)
    if view.cluster.has("flannel_config"):
        conf = view.cluster.net_conf
        yield from _host_bits("net-conf.json", [conf.text("Network"), conf.text("IPv6Network")])


def _host_bits(name: str, texts: list[str]) -> Iterator[Found]:
    for text in texts:
        parsed = interface(text)
        if parsed is not None and parsed.ip != parsed.network.network_address:
            meant = str(parsed.network)
            yield Found(
                f"{text} in the {name} has host bits set, {meant} is what it means", {name: text, "means": meant}
            )
