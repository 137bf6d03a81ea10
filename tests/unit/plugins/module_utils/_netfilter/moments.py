# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A packet at one place of one host, as the readers of single matches and statements are asked about it."""

from __future__ import annotations

import ipaddress
from typing import Any

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._facts import Facts
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._model import At
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._packet import State, state_of

PACKET = {"in": "cni0", "out": "flannel.1", "source": "10.244.1.5", "destination": "10.244.2.7"}
SIX = {**PACKET, "source": "fd42::5", "destination": "fd42:0:0:1::7"}


def state(changed: dict[str, Any] | None = None, **packet: Any) -> State:
    """The first packet of a TCP connection to port 80, tracked, but for what is said of it."""
    found = state_of({**PACKET, "tcp_flags": None, **packet})
    found.tracking = "tracked"
    return found.copy(**(changed or {}))


def at(hook: str = "forward", layer: str = "ip", bridged: bool | None = False, **node: Any) -> At:
    """A hook on a host whose evidence has no more than what is said."""
    return At(hook, layer, Facts(node), bridged=bridged)


def number(text: str) -> int:
    return int(ipaddress.ip_address(text))
