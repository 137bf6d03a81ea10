# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""report.html: one file that works from a disk, without a network, with a script or without."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from ._model import walk
from ._safe import clean, sentence
from ._safe import for_html as esc
from ._space import KINDS
from ._style import SCRIPT, STYLE
from ._svg import enlarged, space, way

_MOST = 300
_LEVELS = {"error": "Errors", "warning": "Warnings", "info": "Notes"}


def html(report: dict[str, Any]) -> str:
    """The report as one page."""
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(STYLE)}'; script-src 'sha256-{_hash(SCRIPT)}';"
        " base-uri 'none'; form-action 'none'"
    )
    return "".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{esc(_title(report))}</title><style>{STYLE}</style></head><body>",
            '<a class="skip" href="#main">Skip to the findings</a>',
            _header(report),
            _navigation(),
            '<main id="main">',
            _findings(report),
            _addresses(report),
            _way(report),
            _hosts(report),
            _open(report),
            "</main>",
            f"<footer>{esc(_made(report))}</footer><script>{SCRIPT}</script></body></html>\n",
        ]
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _title(report: dict[str, Any]) -> str:
    findings = report["findings"]
    return f"Pod network: {findings[0]['title'].rstrip('.')}" if findings else "Pod network: nothing was found"


def _made(report: dict[str, Any]) -> str:
    when = f" Evidence of {report['taken_at']}." if report["taken_at"] else ""
    return f"Made by podnet.kubeadm.doctor.{when} It holds addresses and names of this cluster, and no secrets."


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _header(report: dict[str, Any]) -> str:
    summary, findings, network = report["summary"], report["findings"], report["network"]
    named = ", ".join(
        filter(None, (network["endpoint"], network["version"], network["backend"] and f"flannel {network['backend']}"))
    )
    head = f"<header><h1>Pod network of {esc(named or 'a cluster')}</h1>"
    counts = [_count(summary["error"], "error"), _count(summary["warning"], "warning"), _count(summary["info"], "note")]
    told = f"{', '.join(counts)} on {_count(summary['hosts'], 'host')}"
    if summary["folded"]:
        told += f"; {_count(summary['folded'], 'consequence')} folded under their causes"
    if not findings:
        rest = f"{_count(summary['undetermined'], 'rule')} could not tell." if summary["undetermined"] else ""
        text = f"<p>{esc(told)}. {esc(rest)}</p>"
        return f'{head}<div class="cause"><p class="what">Nothing was found.</p>{text}</div></header>'
    first = findings[0]
    return (
        f'{head}<div class="cause {first["severity"]}"><p>{_badge(first["severity"])} on {_where(first["where"])}</p>'
        f'<p class="what">{esc(sentence(first["summary"]))}</p><p><strong>Do next:</strong> {esc(first["remedy"])}</p>'
        f'<p class="dim">{esc(told)}.</p></div></header>'
    )


def _badge(severity: str) -> str:
    return f'<span class="badge {severity}">{severity}</span>'


def _where(places: list[str]) -> str:
    shown = ", ".join(esc(place) for place in places[:8])
    if len(places) <= 8:
        return shown
    return f"{shown} <details><summary>and {len(places) - 8} more</summary>{esc(', '.join(places[8:]))}</details>"


_PARTS = {
    "findings-title": "Findings",
    "addresses": "Addresses",
    "way": "A packet&#x27;s way",
    "hosts": "Hosts",
    "open": "Not told",
}


def _navigation() -> str:
    links = "".join(f'<li><a href="#{part}">{name}</a></li>' for part, name in _PARTS.items())
    return f'<nav aria-label="Parts of the report"><ul>{links}</ul></nav>'


def _findings(report: dict[str, Any]) -> str:
    findings, summary = report["findings"], report["summary"]
    head = '<section aria-labelledby="findings-title"><h2 id="findings-title">Findings</h2>'
    if not findings:
        return f"{head}<p>Nothing was found.</p></section>"
    buttons = "".join(
        f'<button type="button" data-severity="{level}" aria-pressed="true">{name} ({summary[level]})</button>'
        for level, name in _LEVELS.items()
    )
    places = sorted({place for one in walk(findings) for place in one["where"]} - {"cluster", "intent"})
    chapters = list(dict.fromkeys(one["chapter"] for one in findings))
    filters = (
        f'<fieldset class="filters"><legend>Show</legend>{buttons}'
        '<label for="f-text">containing<input id="f-text" type="search" autocomplete="off"></label>'
        f"{_select('f-host', 'on host', 'any', places)}{_select('f-chapter', 'of', 'any kind', chapters)}"
        '</fieldset><p id="shown" role="status" class="dim"></p>'
    )
    rows = "".join(_finding(one) for one in findings)
    caption = "Causes first; what follows from a cause is folded under it."
    columns = ("Level", "Finding", "Where", "What to do")
    return f"{head}{filters}{_framed(caption, columns, rows, 'findings')}</section>"


def _select(name: str, label: str, every: str, values: Iterable[str]) -> str:
    options = "".join(f'<option value="{esc(value)}">{esc(value)}</option>' for value in values)
    return f'<label for="{name}">{label}<select id="{name}"><option value="">{every}</option>{options}</select></label>'


def _finding(one: dict[str, Any]) -> str:
    below = walk(one["consequences"])
    places = list(dict.fromkeys(place for every in (one, *below) for place in every["where"]))
    compared = _folded("What was compared", _pairs(one["evidence"])) if one["evidence"] else ""
    items = "".join(
        f"<li>{_badge(each['severity'])} {esc(each['summary'])} ({_where(each['where'])}) {_page(each)}</li>"
        for each in below
    )
    folded = _folded(_count(len(below), "consequence"), f"<ul>{items}</ul>") if below else ""
    repair = f"<p>Safe repair: <code>podnet.kubeadm.{esc(one['repair'])}</code></p>" if one["repair"] else ""
    data = f'data-severity="{one["severity"]}" data-chapter="{esc(one["chapter"])}" data-where="{_listed(places)}"'
    title = f'<div class="dim">{esc(one["title"])} {_page(one)}</div>'
    return (
        f"<tr {data}><td>{_badge(one['severity'])}</td>"
        f'<th scope="row">{esc(sentence(one["summary"]))}{title}{compared}{folded}</th>'
        f"<td>{_where(one['where'])}</td><td>{esc(one['remedy'])}{repair}</td></tr>"
    )


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>{body}</details>"


def _listed(values: list[str]) -> str:
    """An attribute with the names as the filter's options have them, unprintable characters written out."""
    return esc(json.dumps([clean(value) for value in values]))


def _page(one: dict[str, Any]) -> str:
    return f'<a href="{esc(one["page"])}"><code>{esc(one["code"])}</code></a>'


def _pairs(values: dict[str, Any]) -> str:
    rows = []
    for key, value in values.items():
        if isinstance(value, dict):
            body = _pairs(value)
        elif isinstance(value, str) and "\n" in value:
            body = f"<pre>{esc(value)}</pre>"
        else:
            body = f"<code>{esc(value)}</code>"
        rows.append(f"<dt>{esc(key)}</dt><dd>{body}</dd>")
    return f'<dl class="pairs">{"".join(rows)}</dl>'


def _table(caption: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of cells that are HTML already; the first of a row is its head."""
    body = ""
    for first, *rest in rows[:_MOST]:
        body += f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
    more = f'<p class="dim">{len(rows) - _MOST} more are in report.json.</p>' if len(rows) > _MOST else ""
    return _framed(caption, columns, body) + more


def _framed(caption: str, columns: tuple[str, ...], body: str, name: str = "") -> str:
    """A table that scrolls by itself where it is too wide, by the keyboard too."""
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    identity = f' id="{name}"' if name else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{esc(caption)}"><table>'
        f"<caption>{esc(caption)}</caption><thead><tr>{head}</tr></thead><tbody{identity}>{body}</tbody></table></div>"
    )


def _picture(label: str, drawn: str) -> str:
    return f'<div class="picture" tabindex="0" role="region" aria-label="{label}">{drawn}</div>'


def _addresses(report: dict[str, Any]) -> str:
    entries = report["address_space"]
    head = '<section aria-labelledby="addresses"><h2 id="addresses">Addresses</h2>'
    if not entries:
        return f"{head}<p>No range was seen.</p></section>"
    pictures = ""
    for family in (4, 6):
        if drawn := space(entries, family):
            pictures += f"<h3>IPv{family}</h3>{_picture(f'Picture of the IPv{family} addresses', drawn)}"
        if drawn := enlarged(entries, family):
            pictures += f"<h4>Every node&#x27;s range</h4>{_picture(f'Picture of the IPv{family} node ranges', drawn)}"
    rows = []
    for one in entries:
        meets = [
            f"<code>{esc(other['network'])}</code> ({esc(other['label'])})"
            for other in map(entries.__getitem__, one["meets"])
        ]
        rows.append(
            (
                f"<code>{esc(one['network'])}</code>",
                esc(KINDS[one["kind"]]),
                esc(one["label"]),
                _where(one["hosts"]),
                ", ".join(meets) or "nothing",
            )
        )
    table = _table("The same ranges as a table", ("Range", "Kind", "What", "Hosts", "Wrongly meets"), rows)
    text = "<p>Each row is a kind of range; what must not meet and does is red and striped.</p>"
    return f"{head}{text}{pictures}{table}</section>"


def _way(report: dict[str, Any]) -> str:
    path = report["path"]
    head = '<section aria-labelledby="way"><h2 id="way">A packet&#x27;s way</h2>'
    if not path["hops"]:
        return f"{head}<p>It takes two hosts to draw it.</p></section>"
    rows = []
    told = "No finding breaks it."
    broken = path["broken"]
    for index, hop in enumerate(path["hops"]):
        codes = ", ".join(f"<code>{esc(code)}</code>" for code in hop["codes"])
        passes = "passes" if broken is None or index < broken else "not reached"
        if index == broken:
            told = f"It stops at {hop['name']}" + (f" on {hop['node']}." if hop["node"] else ".")
            codes = f"stops here: {codes}"
        rows.append((esc(hop["name"]), esc(hop["node"] or "between nodes"), esc(hop["detail"]), codes or passes))
    return (
        f"{head}<p>From a pod on {esc(path['from'])} to a pod on {esc(path['to'])}. <strong>{esc(told)}</strong></p>"
        f"{_picture('Picture of the way', way(path))}"
        f"{_table('The same way as a table', ('Hop', 'Host', 'Detail', 'Findings'), rows)}</section>"
    )


def _hosts(report: dict[str, Any]) -> str:
    hosts = report["hosts"]
    every = walk(report["findings"])
    on: dict[str, list[dict[str, Any]]] = {}
    for one in every:
        for place in one["where"]:
            on.setdefault(place, []).append(one)
    rows = []
    pages = []
    for number, host in enumerate(hosts):
        mine = [*on.get(host["name"], []), *(on.get(host["node"], []) if host["node"] != host["name"] else [])]
        worst = next((level for level in _LEVELS if any(one["severity"] == level for one in mine)), "")
        link = f'<a href="#host-{number}">{esc(host["name"])}</a>' if number < _MOST else esc(host["name"])
        rows.append(
            (
                link,
                esc(host["roles"]),
                f"<code>{esc(host['address'])}</code>",
                ", ".join(f"<code>{esc(one)}</code>" for one in host["pod_ranges"]),
                esc(host["system"]),
                f"{_badge(worst)} {_count(len(mine), 'finding')}" if worst else "nothing found",
            )
        )
        if number < _MOST:
            pages.append(_host(number, host, mine))
    table = _table("Hosts; a name leads to its page", ("Host", "Roles", "Address", "Pods", "System", "Findings"), rows)
    return f'<section aria-labelledby="hosts"><h2 id="hosts">Hosts</h2>{table}</section>{"".join(pages)}'


def _host(number: int, host: dict[str, Any], mine: list[dict[str, Any]]) -> str:
    facts = {
        "Node": host["node"],
        "Address": host["address"],
        "Roles": host["roles"],
        "System": host["system"],
        "Kernel": host["kernel"],
        "Runtime": host["runtime"],
        "kubelet": host["kubelet"],
        "Pods": host["pod_ranges"],
        **{f"subnet.env: {key}": value for key, value in host["subnet_env"].items()},
    }
    found = "".join(f"<li>{_badge(one['severity'])} {esc(one['summary'])} {_page(one)}</li>" for one in mine)
    title = f'<h3 id="host-{number}-title" tabindex="-1">{esc(host["name"])}</h3>'
    parts = [f'<section class="host" id="host-{number}" aria-labelledby="host-{number}-title">{title}']
    parts.append('<p><a href="#hosts">All hosts</a></p>')
    parts.append(f"<ul>{found}</ul>" if found else "<p>Nothing was found on it.</p>")
    parts.append(_pairs({name: value for name, value in facts.items() if value}))
    links = [
        (
            esc(one["name"]),
            "up" if one["up"] else "down",
            esc(one["mtu"]),
            ", ".join(f"<code>{esc(address)}</code>" for address in one["addresses"]),
        )
        for one in host["links"]
    ]
    if links:
        parts.append(_table(f"Links of {host['name']}", ("Link", "State", "MTU", "Addresses"), links))
    if host["firewall"]:
        drops = "".join(f"<li><code>{esc(rule)}</code></li>" for rule in host["firewall"])
        parts.append(f"<h4>What drops traffic</h4><ul>{drops}</ul>")
    return "".join(parts) + "</section>"


def _open(report: dict[str, Any]) -> str:
    accepted = "".join(
        f"<li>{_page(one)} on {_where(one['where'])}: {esc(one['summary'])}</li>" for one in report["accepted"]
    )
    rows = [
        (f"<code>{esc(one['code'])}</code>", _where(one["where"]), esc(one["why"])) for one in report["undetermined"]
    ]
    told = f"<p>Accepted by <code>{esc(report['accept_variable'])}</code>:</p><ul>{accepted}</ul>" if accepted else ""
    table = (
        _table("Rules that could not tell, and the key that each missed", ("Rule", "Where", "Why"), rows)
        if rows
        else ""
    )
    nothing = "" if accepted or rows else "<p>Every rule could tell.</p>"
    return f'<section aria-labelledby="open"><h2 id="open">Not told</h2>{told}{table}{nothing}</section>'
