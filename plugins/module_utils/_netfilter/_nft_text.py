# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes a rule of nft's JSON the way nft itself writes it, for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def rule_text(statements: list[Mapping[str, Any]], comment: str = "") -> str:
    """One line; what it does not know is shown as JSON."""
    words = [_statement(*next(iter(one.items()))) for one in statements]
    if comment:
        words.append(f'comment "{comment}"')
    return " ".join(word for word in words if word)


def _statement(name: str, body: Any) -> str:
    if name == "match":
        operator = body.get("op", "==")
        shown = "" if operator in ("==", "in") else f"{operator} "
        return f"{_value(body.get('left'))} {shown}{_value(body.get('right'), quote=_names(body.get('left')))}"
    if name in ("jump", "goto") and isinstance(body, Mapping):
        return f"{name} {body.get('target')}"
    if name == "vmap":
        return f"{_value(body.get('key'))} vmap {_value(body.get('data'), quote=_names(body.get('key')))}"
    if name == "mangle":
        return f"{_value(body.get('key'))} set {_value(body.get('value'))}"
    if name == "counter":
        return "counter"
    if name == "xt":
        return f"xt {(body or {}).get('type', '')} {(body or {}).get('name', '')}".strip()
    if name == "limit" and isinstance(body, Mapping) and "rate" in body:
        return f"limit rate {'over ' if body.get('inv') else ''}{body['rate']}/{body.get('per', 'second')}"
    if name == "log":
        prefix = (body or {}).get("prefix") if isinstance(body, Mapping) else None
        return f'log prefix "{prefix}"' if prefix else "log"
    if name == "reject":
        kind = (body or {}).get("type") if isinstance(body, Mapping) else None
        return f"reject with {kind} {body.get('expr', '')}".strip() if kind else "reject"
    if name in ("dnat", "snat", "redirect", "masquerade"):
        return _translation(name, body or {})
    if name == "set" and isinstance(body, Mapping):
        return f"{body.get('op')} {body.get('set')} {{ {_value(body.get('elem'))} }}"
    return name if body is None else f"{name} {json.dumps(body, sort_keys=True)}"


def _translation(name: str, body: Mapping[str, Any]) -> str:
    port = f":{_value(body['port'])}" if "port" in body else ""
    target = _value(body["addr"]) if "addr" in body else ""
    return f"{name} to {target}{port}" if target or port else name


def _names(left: Any) -> bool:
    key = left.get("meta", {}).get("key") if isinstance(left, Mapping) and isinstance(left.get("meta"), Mapping) else ""
    return str(key).endswith("name") or key in ("iif", "oif")


def _value(tree: Any, quote: bool = False) -> str:
    if isinstance(tree, bool):
        return "exists" if tree else "missing"
    if isinstance(tree, (str, int)):
        return f'"{tree}"' if quote and isinstance(tree, str) and not tree.startswith("@") else str(tree)
    if isinstance(tree, list):
        return ",".join(_value(one) for one in tree)
    if not isinstance(tree, Mapping) or not tree:
        return json.dumps(tree)
    name, body = next(iter(tree.items()))
    writer = _WRITERS.get(name)
    if name == "set":
        members = body if isinstance(body, list) else [body]
        return "{ " + ", ".join(_member(one, quote) for one in members) + " }"
    return writer(body) if writer else json.dumps(tree, sort_keys=True)


def _member(tree: Any, quote: bool) -> str:
    if isinstance(tree, list) and len(tree) == 2:
        return f"{_value(tree[0], quote)} : {_verdict(tree[1])}"
    return _value(tree, quote)


def _verdict(tree: Any) -> str:
    if isinstance(tree, Mapping) and len(tree) == 1:
        name, body = next(iter(tree.items()))
        if name in ("accept", "drop", "return", "continue", "jump", "goto"):
            return f"{name} {body['target']}" if isinstance(body, Mapping) else name
    return _value(tree)


def _payload(body: Mapping[str, Any]) -> str:
    if "protocol" in body:
        return f"{body['protocol']} {body.get('field')}"
    return f"@{body.get('base')},{body.get('offset')},{body.get('len')}"


def _meta(body: Any) -> str:
    key = str(body.get("key")) if isinstance(body, Mapping) else str(body)
    return key if key in ("iif", "oif", "iifname", "oifname", "iifgroup", "oifgroup") else f"meta {key}"


def _ct(body: Mapping[str, Any]) -> str:
    return f"ct {body['dir']} {body.get('key')}" if body.get("dir") else f"ct {body.get('key')}"


_WRITERS = {
    "payload": _payload,
    "meta": _meta,
    "ct": _ct,
    "prefix": lambda body: f"{body.get('addr')}/{body.get('len')}",
    "range": lambda body: f"{body[0]}-{body[1]}",
    "concat": lambda body: " . ".join(_value(one) for one in body),
    "elem": lambda body: _value(body.get("val")),
    "fib": lambda body: f"fib {' . '.join(body.get('flags') or [])} {body.get('result')}",
    "numgen": lambda body: f"numgen {body.get('mode')} mod {body.get('mod')}",
    "map": lambda body: f"{_value(body.get('key'))} map {_value(body.get('data'))}",
    "&": lambda body: f"{_value(body[0])} & {_value(body[1])}",
    "|": lambda body: " | ".join(_value(one) for one in body),
    "^": lambda body: f"{_value(body[0])} ^ {_value(body[1])}",
}
