# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checksum offload damages packets in the tunnel.

## What it means
The NIC or the hypervisor's driver computes checksums of packets inside vxlan wrongly, or not at all. The receiver
throws TCP and UDP away; ping, whose checksum the kernel computes itself, passes.

## How it looks
A connection to a service address takes 1, 3, 7, 15, 31 or 63 seconds: repeated SYNs until one is not encapsulated.
DNS over UDP to another node times out. The kernel of the receiver logs `UDP: bad checksum`.

## What looks like it but is not
- Nothing passes, ping neither: see `vxlan-port-blocked`, `route-missing`.
- Large packets fail and small ones pass: see `mtu-mismatch`.
- TCP fails and UDP passes, without a word of the kernel: a rule, see `forward-rule-drop`, or `rp-filter-strict`.
- Offload that is on, as it is everywhere, with all probes well: nothing is reported.

## How it is told
Times of the probe to the service address; pairs of nodes between which ping through the tunnel passes and both TCP
and UDP fail, while offload on flannel.1 is on or was not looked at; the kernel's log.

## Mend
`ethtool -K flannel.1 tx-checksum-ip-generic off` on every node, by a udev rule so that it lasts:
podnet.kubeadm.repair. The physical NIC's offloads stay on.

## Prevent
A kernel of 5.7 or newer, and a current driver (vmxnet3 is the usual one).

## Sources
- flannel issues 1279, 2152, PR 1929; kubernetes issue 89622; calico issue 3145; flannel
  `Documentation/troubleshooting.md`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..._evidence._forwarding import lets_pass
from ..._evidence._host import Host
from ..._evidence._policies import enforcers
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Checksum offload damages packets in the tunnel",
    severity="error",
    needs=("nodes.probes", "cluster.flannel_config"),
    remedy="Run podnet.kubeadm.repair: it turns tx-checksum-ip-generic off on flannel.1 and keeps it off.",
    repair="host:checksum_offload",
    rank=50,
)

RETRIES = (1, 3, 7, 15, 31, 63, 127)
"""Seconds after which the SYN of a connection is sent again, added up (tcp_syn_retries)."""
LONGEST = 3_600_000
"""Milliseconds that a probe can have waited at most; what is longer is no time, and may be too long for a float."""


@dataclass(frozen=True)
class Fact:
    """Of one host: whether offload is on (None: not looked at), the longest connection in seconds, targets that echo,
    that answer neither TCP nor UDP (dead) or not both (hurt), whether the kernel logged bad checksums, and whether the
    host's own rules let pods pass."""

    on: bool | None
    waited: float | None
    echo: frozenset[str]
    dead: frozenset[str]
    hurt: frozenset[str]
    logged: bool
    clean: bool


def collect(node: Host, view: View) -> Fact | None:
    if view.overlay.backend != "vxlan":
        return None
    tunnel = view.overlay.tunnels.get(4, "")
    offload = node.link_offload.get(tunnel, {}).get("tx-checksum-ip-generic") if node.has("link_offload") else None
    answered = [one.get("ms") for one in node.probe("tcp/service") + node.probe("tcp/pod") if one.flag("ok") is True]
    times = [min(ms, LONGEST) / 1000 for ms in answered if isinstance(ms, (int, float)) and not isinstance(ms, bool)]
    dead = _targets(node, "tcp/pod", False) & _targets(node, "udp/dns", False)
    return Fact(
        on=offload,
        waited=max(times, default=None),
        echo=_targets(node, "icmp/", True),
        dead=dead,
        hurt=_targets(node, "tcp/pod", False) | _targets(node, "udp/dns", False),
        logged=node.has("journal") and "bad checksum" in node.journal.get("kernel", ""),
        clean=not dead or lets_pass(node, view),
    )


def _targets(node: Host, what: str, ok: bool) -> frozenset[str]:
    """Other hosts for which a probe ended so."""
    found = (one.text("to") for one in node.probe(what) if one.flag("ok") is ok)
    return frozenset(found) - {node.name}


def check_nodes(facts: dict[str, Fact], view: View) -> Iterator[Found]:
    logged = any(fact.logged for fact in facts.values())
    suspect = {name: fact for name, fact in facts.items() if fact.on is not False}
    slow = {name: fact.waited for name, fact in suspect.items() if _resent(fact.waited)}
    if slow:
        seconds = ", ".join(f"{waited:.0f} s" for waited in sorted({w for w in slow.values() if w}))
        yield Found(f"connections take {seconds}: SYNs sent again", slow, tuple(slow))
        return
    closed = {name for name, fact in facts.items() if not fact.clean}
    pairs = {
        name: sorted((fact.echo & (fact.hurt if logged else fact.dead)) - closed)
        for name, fact in suspect.items()
        if fact.clean
    }
    pairs = {name: others for name, others in pairs.items() if others}
    if pairs and not _policies_at_work(view):
        both_ways = any(name in pairs.get(to, ()) for name, targets in pairs.items() for to in targets)
        severity = None if logged or both_ways else "warning"
        yield Found("ping passes the tunnel, TCP or UDP does not", pairs, tuple(pairs), severity)


def _policies_at_work(view: View) -> bool:
    """Whether a policy may be why TCP and UDP do not pass while ping does."""
    try:
        return bool(view.cluster.network_policies and enforcers(view.cluster.daemonsets))
    except Missing:
        return False


def _resent(waited: float | None) -> bool:
    return waited is not None and any(seconds <= waited < seconds * 1.05 + 0.5 for seconds in RETRIES)
