# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tells a trace on a terminal: a line per hop, both ways, where it was last seen, and why."""

from __future__ import annotations

from typing import Any

from ._tell import printable
from ._trace import BRIDGE, THERE, Packet, Seen, Trace

WORDS = {"S": "SYN", "SA": "SYN ACK", "RA": "RST", "": "UDP"}
NOT_SEEN, NOT_WATCHED = "-", "?"
NEXT = "next: podnet.kubeadm.doctor judges the whole cluster, and says what mends it"


def report(trace: Trace, reasons: list[str]) -> list[str]:
    """Lines: what was traced and how it ended, the table, the last hop, the reasons."""
    lines = [*_title(trace), *_table(trace)]
    if trace.unwatched:
        lines.append(f"? not watched, for not in the play or not reached: {', '.join(trace.unwatched)}")
    if trace.came and trace.way is not None:
        other = sorted({f"{one.link} of {one.host}" for one in trace.astray})
        lines.append(f"It came there and back by other links than these: {', '.join(other) or 'they are not watched'}.")
    elif trace.way is not None:
        lines.append(_where(trace))
    elif trace.errors:
        lines.append("It was refused on the way:")
    lines += [f"because {one}" if index == 0 else f"also {one}" for index, one in enumerate(reasons)]
    lines += [] if trace.answered else [NEXT]
    return [printable(one) for one in lines]


def sentence(trace: Trace, reasons: list[str]) -> str:
    """How it ended in one sentence."""
    if trace.answered:
        return "The other end answered."
    where = _where(trace).rstrip(":") if trace.way is not None else "No answer was taken"
    return printable(f"{where}: {reasons[0]}" if reasons else f"{where}.")


def _title(trace: Trace) -> list[str]:
    plan, end = trace.plan, trace.end
    start = plan["source"]
    of_node = f"address of node {end['node']}" if end["node"] else "address"
    target = f"{plan['kind']} {plan['name']}" if plan["kind"] != "address" else of_node
    source = f"pod {start['pod']} ({start['address']}, {start['node']})"
    source = source if start["pod"] else f"node {start['node']} ({start['address']})"
    port = f"{plan['protocol'].upper()} port {plan['port']}"
    lines = [f"{source} to {target} ({plan['address']}, {port}): {trace.outcome} after {trace.ms:.1f} ms"]
    if plan["kind"] == "service":
        where = f"{end['pod'] or end['address']} ({end['address']} port {end['port']}, {end['node'] or 'no node'})"
        lines.append(f"the service's address became {where}" if trace.translated else f"the service has {where}")
    if plan.get("note"):
        lines.append(plan["note"])
    return lines


def _table(trace: Trace) -> list[str]:
    watched = {one.hop.host for one in trace.hops} - set(trace.unwatched)
    first: dict[str, float] = {}
    for seen in trace.hops:
        for packet in [*seen.there, *seen.back]:
            first[seen.hop.host] = min(first.get(seen.hop.host, packet.time), packet.time)
    rows = [["host", "hop", "there", "back"]]
    for seen in trace.hops:
        cells = [
            _cell(ones, first.get(seen.hop.host, 0.0), seen.hop.host in watched) for ones in (seen.there, seen.back)
        ]
        rows.append([seen.hop.host or NOT_WATCHED, _hop(seen, trace.plan), *cells])
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return ["  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip() for row in rows]


def _hop(seen: Seen, plan: dict[str, Any]) -> str:
    hop = seen.hop
    name = seen.link or {"bridge": BRIDGE, "tunnel": plan["tunnel"], "nic": "uplink"}.get(hop.kind, "")
    if hop.kind == "pod":
        return f"{name or 'eth0'} in {hop.pod}"
    wrapped = next((one for one in [*seen.there, *seen.back] if one.outer_source), None)
    return f"{name or hop.kind}, in UDP {plan['vxlan_port']}" if wrapped else name or hop.kind


def _cell(packets: list[Packet], first: float, watched: bool) -> str:
    """The first packet's flags and when it came, in ms since the host saw the first; how often it came again."""
    if not watched:
        return NOT_WATCHED
    if not packets:
        return NOT_SEEN
    again = sum(one.sequence == packets[0].sequence and one.flags == packets[0].flags for one in packets)
    words = "ICMP" if packets[0].error else WORDS.get(packets[0].flags, packets[0].flags)
    return f"{words} {(packets[0].time - first) * 1000:.2f} ms" + (f" x{again}" if again > 1 else "")


def _where(trace: Trace) -> str:
    way = "on the way there" if trace.way == THERE else "on the way back"
    if trace.last is None or trace.last < 0:
        return "It was seen nowhere:"
    seen = trace.hops[trace.last]
    if trace.way != THERE and not any(one.back for one in trace.hops):
        return f"Nothing came back; it was last seen at {_hop(seen, trace.plan)} of {seen.hop.host}:"
    return f"Last seen {way} at {_hop(seen, trace.plan)} of {seen.hop.host}:"
