# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the rules of a host do with a packet: reads its rulesets and walks a described packet through them.

Pure: standard library, no command, no file. Reads `iptables-save -c` of both backends, its IPv6 twins and
`nft -j list ruleset`, as the evidence of a node holds them.

    from ..module_utils._netfilter import FORWARD, INPUT, OUTPUT, Ruleset, standard_packets, walk

    rules = Ruleset.from_evidence(node)             # parse once
    verdict = walk(rules, {"in": "cni0", "out": "flannel.1", "source": "10.244.1.5", "destination": "10.244.2.7"})
    verdict.verdict, verdict.lower, verdict.upper   # accept, drop or undetermined; the worst and the best possible
    verdict.by                                      # Place(table, chain, rule, handle, backend, owner, hook, ...)
    verdict.trail                                   # Places that the packet met, in order
    walk(rules, {"in": "eth0", "source": "192.0.2.11", "destination": "192.0.2.12", "protocol": "udp",
                 "destination_port": 8472}, INPUT)  # does the backend's port pass on this host
    for name, packet, hooks in standard_packets(node, pod_cidrs): ...

What is not fully understood is unknown and bounds only what depends on it; a definite verdict is meant to be what the
kernel does. Outside its view: routes, rp_filter, ip_forward, and what a program behind NFQUEUE says.

Errors: PacketError (a ValueError) for a packet that cannot be read, ValueError for an nft listing that is none.
"""

from __future__ import annotations

from ._iptables import SavedTable, compile_accept, split
from ._owner import owner_of
from ._packet import PacketError
from ._packets import complete, standard_packets
from ._ruleset import Ruleset
from ._verdict import Place, Verdict
from ._walk import FORWARD, INPUT, OUTPUT, walk

__all__ = [
    "FORWARD",
    "INPUT",
    "OUTPUT",
    "PacketError",
    "Place",
    "Ruleset",
    "SavedTable",
    "Verdict",
    "compile_accept",
    "complete",
    "owner_of",
    "split",
    "standard_packets",
    "walk",
]
