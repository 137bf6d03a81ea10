# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts share a machine-id: they were cloned.

## What it means
/etc/machine-id is a host's identity. systemd derives from it, among others, the MAC address of links that have none of
their own: on two clones flannel.1 gets one MAC, and DHCP sees one client.

## How it looks
Traffic between exactly the cloned nodes fails while all pods are Running; both annotate the same VtepMAC. Sometimes
both got one address from DHCP. Nothing is logged.

## What looks like it but is not
- One host under two inventory names (same boot, same network cards).
- An empty machine-id, which is what an image should have before its first boot.
- Only the same product_uuid: all containers of one host and boards that say no more than a placeholder have it, which
  is information; else it is told as a warning, for clones whose machine-id was made anew.

## Mend
On all but one: `rm /etc/machine-id; systemd-machine-id-setup`, reboot, then restart flannel's pod on that node.

## Prevent
Empty /etc/machine-id in the image (`truncate -s 0 /etc/machine-id`) before it is cloned. The collection's .link file
with MACAddressPolicy=none keeps flannel's MAC apart from it.

## Sources
- flannel issues 1155, 1788; kubernetes documentation, "Installing kubeadm"; systemd.link(5), MACAddressPolicy
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._twins import Identity, identity, twins

RULE = Rule(
    title="Hosts share a machine-id",
    severity="error",
    needs=("nodes.machine_id",),
    remedy="On all but one of them empty /etc/machine-id, run systemd-machine-id-setup and reboot.",
    explains=("vtep-mac-changed", "fdb-stale"),
    rank=25,
)

_PLACEHOLDER = re.compile(
    r"03000200-0400-0500|12345678-1234|(.)\1{7}-|00020003-0004-0005|not (settable|specified)|none$"
)
"""What boards without an identity of their own say, all of one make the same."""


def collect(node: Host, view: View) -> tuple[Identity, Identity | None]:
    try:
        product: Identity | None = identity(node, node.product_uuid.strip().lower())
    except Missing:
        product = None
    return identity(node, node.machine_id.strip().lower()), product


def check_nodes(facts: dict[str, tuple[Identity, Identity | None]], view: View) -> Iterator[Found]:
    machines = list(twins({name: fact[0] for name, fact in facts.items()}, ignore=("uninitialized",)))
    for value, hosts in machines:
        yield Found(
            f"{len(hosts)} hosts have one machine-id", {"machine_id": value, "hosts": hosts}, where=tuple(hosts)
        )
    told = [set(hosts) for _value, hosts in machines]
    for value, hosts in twins({name: fact[1] for name, fact in facts.items() if fact[1]}):
        if set(hosts) not in told:
            compared = {"product_uuid": value, "hosts": hosts}
            kernels = {one.machine[0] for host in hosts if (one := facts[host][1]) and one.machine}
            soft = "info" if _PLACEHOLDER.match(value) or len(kernels) == 1 else "warning"
            yield Found(f"{len(hosts)} hosts have one product_uuid", compared, where=tuple(hosts), severity=soft)
