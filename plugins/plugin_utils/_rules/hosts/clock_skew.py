# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host's clock is apart from the others.

## What it means
Certificates have a beginning: on a host whose clock is behind, what the cluster issues is not valid yet. Tokens
expire by the clock, etcd and leases compare times.

## How it looks
`kubeadm join`: `x509: certificate has expired or is not yet valid`, or the token `has expired`; etcd warns of clock
difference; a node flips between Ready and NotReady.

## What looks like it but is not
- Another time zone: clocks are compared in seconds since the epoch.
- A controller whose own clock is off: then all hosts agree with each other, and it is told as a warning about the
  controller.
- A host that was asked late: on a busy machine seconds pass between the controller's look at its clock and the host's.
  A clock is ahead only where it shows a time at which the evidence was complete already, and behind where it shows one
  at which the host was not asked yet.

## Mend
`timedatectl set-ntp true`, or start chrony, and wait until `timedatectl` says synchronized. Then join again.

## Prevent
A time service on every host.

## Sources
- kubernetes/kubeadm issues 769, 2337; etcd documentation, "Clock drift"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from ..._evidence._host import Host
from ..._evidence._said import heard, refused
from ..._finding import Found, Malformed, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A clock is off",
    severity="error",
    needs=("nodes.clock", "nodes.controller_clock"),
    remedy="Run timedatectl set-ntp true (or start chrony) on the host and wait until the clock is synchronized.",
    explains=("token-expired", "certificate-expired"),
    rank=25,
)

_EPOCH = 1e9
_ERROR, _WARNING = 60, 10
"""Seconds beyond the time in which the host's clock was read."""
_SAID = re.compile(r"certificate has expired or is not yet valid: current time \S+ is before")
_LONGEST = 600
"""Seconds that gathering counts for at most: a bundle made by hand may say when it was packed, hours later."""


def collect(node: Host, view: View) -> float:
    for key in ("clock", "controller_clock"):
        if not _EPOCH < getattr(node, key) < _EPOCH * 100:
            raise Malformed(f"{node.path}.{key}", "it is no time of this century")
    apart = node.clock - node.controller_clock
    return apart if apart < 0 else max(0.0, apart - _gathering(node, view))


def _gathering(node: Host, view: View) -> float:
    """Seconds from the controller's clock at the host to the end of gathering, when it looked at its own again."""
    try:
        return min(max(view.now.timestamp() - node.controller_clock, 0.0), _LONGEST)
    except Missing:
        return 0.0


def check_node(node: Host, view: View) -> Iterator[Found]:
    """Where no clock was looked at: a certificate that is not valid yet."""
    if node.has("clock") and node.has("controller_clock"):
        return
    if said := heard(view, node, _SAID) or refused(node, _SAID):
        yield Found("the clock is behind: a certificate is not valid yet", {"said": said})


def check_nodes(facts: dict[str, float], view: View) -> Iterator[Found]:
    if not facts:
        return
    right = any(abs(offset) < _WARNING for offset in facts.values())
    middle = 0.0 if right else median(facts.values())
    for host, offset in facts.items():
        apart = offset - middle
        if abs(apart) >= _WARNING:
            compared = {"seconds against the controller": round(offset, 1), "against the other hosts": round(apart, 1)}
            severity = None if abs(apart) >= _ERROR else "warning"
            yield Found(f"the clock is {_length(apart)}", compared, where=host, severity=severity)
    if not right and abs(middle) >= _WARNING:
        summary = f"all hosts' clocks are {_length(middle)} against the controller's, which is off itself"
        yield Found(summary, {"seconds": round(middle, 1)}, severity="warning")


def _length(seconds: float) -> str:
    size = abs(seconds)
    text = (
        f"{size / 3600:.1f} hours"
        if size >= 5400
        else f"{size / 60:.0f} minutes"
        if size >= 90
        else f"{size:.0f} seconds"
    )
    return f"{text} {'ahead' if seconds > 0 else 'behind'}"
