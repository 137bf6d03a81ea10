# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two pictures, as plain SVG: the address space, and the way of a packet. Colours are classes of the page."""

from __future__ import annotations

import ipaddress
from typing import Any

from ._safe import for_html as esc
from ._space import KINDS, segments

_WIDTH = 1000
_LABEL = 132  # room for the names of rows
_ROW = 26
_GAP = 14  # between stretches of addresses that are apart
_MOST = 400  # ranges drawn of one kind; beyond that they are hairlines


def space(entries: list[dict[str, Any]], family: int) -> str:
    """The ranges of one family: a row for each kind, a stretch for each part of the address space that is used."""
    mine = [(index, entry) for index, entry in enumerate(entries) if entry["family"] == family]
    if not mine:
        return ""
    stretches = segments([entry for _index, entry in mine])
    room = (_WIDTH - _LABEL - _GAP * (len(stretches) - 1)) / len(stretches)
    kinds = [kind for kind in KINDS if any(entry["kind"] == kind for _index, entry in mine)]
    top = 30
    height = top + _ROW * len(kinds) + 8
    parts = _stripes(f"space{family}")
    for number, (first, _last) in enumerate(stretches):
        x = _LABEL + number * (room + _GAP)
        name = str(ipaddress.ip_address(first) if family == 4 else ipaddress.IPv6Address(first))
        parts.append(f'<rect class="stretch" x="{x:.1f}" y="{top - 4}" width="{room:.1f}" height="{height - top}"/>')
        if len(stretches) <= 9:
            parts.append(f'<text class="scale" x="{x:.1f}" y="18">{esc(name)}</text>')
    for row, kind in enumerate(kinds):
        y = top + row * _ROW
        parts.append(f'<text class="row" x="0" y="{y + 14}">{esc(KINDS[kind])}</text>')
        for _index, entry in [pair for pair in mine if pair[1]["kind"] == kind][:_MOST]:
            network = ipaddress.ip_network(entry["network"])
            first, last = int(network.network_address), int(network.broadcast_address)
            number = next(i for i, (low, high) in enumerate(stretches) if low <= first <= high)
            low, high = stretches[number]
            x = _LABEL + number * (room + _GAP) + room * ((first - low) / (high - low + 1))
            width = max(room * ((last - first + 1) / (high - low + 1)), 3.0)
            x = min(x, _LABEL + number * (room + _GAP) + room - width)
            bad = bool(entry["meets"])
            label = f"{entry['network']}: {entry['label']}" + (", meets another range" if bad else "")
            shape = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="18" rx="2"/>'
            parts.append(f'<g><title>{esc(label)}</title><rect class="range {kind}{" bad" if bad else ""}" {shape}')
            if bad:
                parts.append(f'<rect fill="url(#stripes-space{family})" {shape}')
            if width > 8.2 * len(entry["network"]):
                parts.append(f'<text class="in" x="{x + 4:.1f}" y="{y + 13}">{esc(entry["network"])}</text>')
            parts.append("</g>")
    meeting = sum(1 for _index, entry in mine if entry["meets"])
    told = f"{len(mine)} ranges in {len(stretches)} parts of the address space; "
    told += (
        f"{meeting} of them meet a range that they must not meet." if meeting else "none meets one that it must not."
    )
    return _svg(f"space{family}", f"IPv{family} address space", told, _WIDTH, height, parts)


def enlarged(entries: list[dict[str, Any]], family: int) -> str:
    """Every node's range of one family side by side, each as wide as the next, in the order of addresses."""
    mine = [entry for entry in entries if entry["family"] == family and entry["kind"] == "node-range"][:_MOST]
    if not mine:
        return ""
    per_row = min(len(mine), 8 if len(mine) <= 64 else 40)
    width = (_WIDTH - 4) / per_row
    high = 40 if per_row <= 8 else 12
    parts = _stripes(f"nodes{family}")
    for index, entry in enumerate(mine):
        row, column = divmod(index, per_row)
        x, y = 2 + column * width, 2 + row * (high + 4)
        bad = bool(entry["meets"])
        label = f"{entry['network']}: {entry['label']}" + (", meets another range" if bad else "")
        shape = f'x="{x:.1f}" y="{y}" width="{width - 4:.1f}" height="{high}" rx="3"/>'
        parts.append(f'<g><title>{esc(label)}</title><rect class="range node-range{" bad" if bad else ""}" {shape}')
        if bad:
            parts.append(f'<rect fill="url(#stripes-nodes{family})" {shape}')
        if high > 20:
            parts.append(f'<text class="in" x="{x + 6:.1f}" y="{y + 16}">{esc(_short(entry["label"], 17))}</text>')
            parts.append(f'<text class="in" x="{x + 6:.1f}" y="{y + 32}">{esc(_short(entry["network"], 19))}</text>')
        parts.append("</g>")
    rows = (len(mine) + per_row - 1) // per_row
    told = f"{len(mine)} ranges; {sum(1 for entry in mine if entry['meets'])} of them meet another range."
    return _svg(f"nodes{family}", f"Every node's IPv{family} range", told, _WIDTH, rows * (high + 4) + 4, parts)


_BOX, _HIGH, _BETWEEN, _STEP = 140, 62, 24, 118


def way(path: dict[str, Any]) -> str:
    """The hops of a packet: one node's from left to right, the network at the turn, the other node's back below it."""
    hops = path["hops"]
    if not hops:
        return ""
    side = len(hops) // 2
    places = [(4 + column * (_BOX + _BETWEEN), 26) for column in range(side)]
    turn = (4 + side * (_BOX + _BETWEEN), 26 + _STEP // 2)
    places = [*places, turn, *((x, 26 + _STEP) for x, _y in reversed(places))]
    parts = []
    for index in range(len(hops) - 1):
        dead = path["broken"] is not None and index >= path["broken"]
        parts.append(_arrow(places[index], places[index + 1], dead))
    for index, (hop, (x, y)) in enumerate(zip(hops, places)):
        parts += _box(hop, x, y, _state(path, index))
    told = f"A packet from a pod on {path['from']} to a pod on {path['to']}: "
    if path["broken"] is None:
        told += "no finding breaks its way."
    else:
        hop = hops[path["broken"]]
        place = f" on {hop['node']}" if hop["node"] else ""
        told += f"it stops at {hop['name']}{place} ({', '.join(hop['codes'])})."
    width = turn[0] + _BOX + 4
    return _svg("way", "The way of a packet between two pods", told, width, 26 + _STEP + _HIGH + 4, parts)


def _state(path: dict[str, Any], index: int) -> str:
    if path["broken"] is not None and index >= path["broken"]:
        return "broken" if index == path["broken"] else "after"
    return "warned" if path["hops"][index]["codes"] else "fine"


def _box(hop: dict[str, Any], x: int, y: int, state: str) -> list[str]:
    parts = [f'<g class="hop {state}"><rect x="{x}" y="{y}" width="{_BOX}" height="{_HIGH}" rx="6"/>']
    parts.append(f'<text class="node" x="{x + 2}" y="{y - 6}">{esc(_short(hop["node"] or "between nodes", 21))}</text>')
    parts.append(f'<text class="name" x="{x + 8}" y="{y + 20}">{esc(_short(hop["name"], 16))}</text>')
    # What breaks here is worth more room than the detail.
    codes = [line for code in hop["codes"] for line in _halves(code, 18)]
    small = codes[:2] or _lines(hop["detail"], 22)[:2]
    for number, line in enumerate(small):
        most = 18 if codes else 22
        parts.append(f'<text class="small" x="{x + 8}" y="{y + 37 + 15 * number}">{esc(_short(line, most))}</text>')
    if state == "broken":
        parts.append(f'<path class="cross" d="M{x + _BOX - 20} {y + 7} l13 13 m0 -13 l-13 13"/>')
    return [*parts, "</g>"]


def _arrow(one: tuple[int, int], other: tuple[int, int], dead: bool) -> str:
    kind = "arrow dead" if dead else "arrow"
    (x1, y1), (x2, y2) = one, other
    if y1 == y2:
        start, end = (x1 + _BOX, x2) if x2 > x1 else (x1, x2 + _BOX)
        line = f"M{start} {y1 + _HIGH // 2} H{end}"
    elif x2 > x1:
        line = f"M{x1 + _BOX} {y1 + _HIGH // 2} H{x2 + _BOX // 2} V{y2}"
    else:
        line = f"M{x1 + _BOX // 2} {y1 + _HIGH} V{y2 + _HIGH // 2} H{x2 + _BOX}"
    return f'<path class="{kind}" d="{line}"/>'


def _stripes(name: str) -> list[str]:
    return [
        f'<defs><pattern id="stripes-{name}" width="6" height="6" patternUnits="userSpaceOnUse"'
        ' patternTransform="rotate(45)"><path class="stripe" d="M0 0 v6"/></pattern></defs>'
    ]


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _halves(code: str, most: int) -> list[str]:
    """A code on one line, or on two where it is longer."""
    cut = code.rfind("-", 0, most) + 1
    return [code] if len(code) <= most or not cut else [code[:cut], code[cut:]]


def _lines(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [line for line in lines if line]


def _svg(name: str, title: str, told: str, width: int, height: int, parts: list[str]) -> str:
    return (
        f'<svg role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}">'
        f'<title id="{name}-title">{esc(title)}</title><desc id="{name}-desc">{esc(told)}</desc>'
        f"{''.join(parts)}</svg>"
    )
