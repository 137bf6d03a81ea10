# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""nft's statements: what each does to a packet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from . import _nat
from ._model import ACT, MATCH, Act, Alternative, At, Step
from ._nft_scope import Scope, values
from ._nft_sets import comparison
from ._nft_values import expression
from ._packet import State
from ._values import ABSENT, UNKNOWN, Choice, Tri, Unsupported
from ._xt_targets import prepare, set_zone, unreadable, untrack

# Statements after which a later chain may see another packet or another connection.
EFFECTS = frozenset(
    ("mangle", "notrack", "dnat", "snat", "masquerade", "redirect", "tproxy", "xt", "set", "synproxy", "queue", "text")
)

_GOES_ON = frozenset(
    (
        "counter", "log", "last", "ct helper", "secmark", "dup", "comment", "tunnel",
    )
)  # fmt: skip
_MAY_MATCH = frozenset(("limit", "quota", "ct count", "connlimit", "meter", "hashlimit"))
_VERDICTS = {"accept": "accept", "drop": "drop", "return": "return", "continue": "next"}


def targets_of(statements: list[Mapping[str, Any]], scope: Scope) -> tuple[str, ...]:
    """Names of the chains that a rule may enter."""
    found: list[str] = []

    def look(tree: Any) -> None:
        if isinstance(tree, Mapping):
            for name, body in tree.items():
                if name in ("jump", "goto") and isinstance(body, Mapping):
                    found.append(str(body.get("target")))
                elif name == "vmap" and isinstance(body, Mapping) and str(body.get("data", "")).startswith("@"):
                    look((scope.sets.get(str(body["data"])[1:]) or {}).get("elem"))
                else:
                    look(body)
        elif isinstance(tree, list):
            for part in tree:
                look(part)

    look(statements)
    return tuple(found)


def compile_rule(statements: list[Mapping[str, Any]], scope: Scope) -> list[Step]:
    """The steps of one rule. What cannot be read becomes a step whose outcome is unknown."""
    steps: list[Step] = []
    for statement in statements:
        name, body = next(iter(statement.items()))
        try:
            step = _step(name, body, scope)
        except (Unsupported, KeyError, IndexError, TypeError, ValueError, AttributeError):
            step = (MATCH, _unknown) if name == "match" else (ACT, _anything)
        if step is not None:
            steps.append(step)
    return [(MATCH, _unknown), *steps] if _hides_family(statements, scope) else steps


def _unknown(state: State, at: At) -> Tri:
    return None


def _anything(state: State, at: At) -> list[Alternative]:
    return [*unreadable(state, at), ("break", None, state)]


def _goes_on(state: State, at: At) -> list[Alternative]:
    return [("next", None, state)]


def _may_break(state: State, at: At) -> list[Alternative]:
    return [("next", None, state), ("break", None, state)]


def _may_expire(state: State, at: At) -> list[Alternative]:
    """A TTL that is set may end the packet at the router itself."""
    return [("next", None, state), ("drop", None, state)]


def _step(name: str, body: Any, scope: Scope) -> Step | None:
    if name in _MAY_MATCH or (name in _GOES_ON and isinstance(body, Mapping) and "map" in body):
        return MATCH, _unknown  # an object that is looked up in a map may not be there
    if name in _GOES_ON:
        return None
    if name == "match":
        return MATCH, _match(body, scope)
    if name in _VERDICTS:
        action = _VERDICTS[name]
        return ACT, lambda state, at: [(action, None, state)]
    if name in ("jump", "goto"):
        target = str(body["target"])
        return ACT, lambda state, at: [(name, target, state)]
    if name in _STATEMENTS:
        return ACT, _STATEMENTS[name](body, scope)
    raise Unsupported(name)


def _match(body: Mapping[str, Any], scope: Scope) -> Callable[[State, At], Tri]:
    left = body["left"]
    if isinstance(left, Mapping) and ("field" in left.get("exthdr", ()) or "field" in left.get("ip option", ())):
        return lambda state, at: False  # the packet has no such header
    getter, kind = expression(left)
    matcher = comparison(str(body.get("op", "==")), body["right"], kind, scope.lookup)

    def match(state: State, at: At) -> Tri:
        value = getter(state, at)
        if value is ABSENT:
            return False
        if isinstance(value, Choice):
            answers = {matcher(one) for one in value.values}
            return answers.pop() if len(answers) == 1 else None
        return matcher(value)

    return match


def _verdict_of(tree: Any) -> tuple[str, str | None]:
    name, body = next(iter(tree.items()))
    if name in _VERDICTS:
        return _VERDICTS[name], None
    if name in ("jump", "goto"):
        return name, str(body["target"])
    raise Unsupported(str(tree))


def _vmap(body: Mapping[str, Any], scope: Scope) -> Act:
    getter, kind = expression(body["key"])
    lookup = scope.data(body["data"], kind)

    def act(state: State, at: At) -> list[Alternative]:
        value = getter(state, at)
        if value is ABSENT:
            return [("break", None, state)]
        found, missed = lookup.find(value)
        results: list[Alternative] = []
        for tree in found:
            action, target = ("drop", None) if tree is True else _verdict_of(tree)
            if (action, target, state) not in results:
                results.append((action, target, state))
        if missed or not results:
            results.append(("break", None, state))
        return results

    for tree in [*lookup.exact.values(), *(data for _m, data in lookup.others), *lookup.rest]:
        _verdict_of(tree)
    return act


def _mangle(body: Mapping[str, Any], scope: Scope) -> Act:
    key = body["key"]
    what, detail = next(iter(key.items()))
    if what == "meta" and detail.get("key") == "mark":
        return _assign("mark", values(body["value"], "mark", scope))
    if what == "ct" and detail.get("key") == "mark":
        return _connection_mark(values(body["value"], "mark", scope))
    if what == "ct" and detail.get("key") == "zone":
        return _zone
    if what == "meta" and detail.get("key") == "pkttype" and body["value"] == "host":
        return _goes_on
    if what == "meta" and detail.get("key") in ("pkttype", "broute"):
        return lambda state, at: [("next", None, state), ("drop", None, state)]
    if what == "payload":
        return _mangle_payload(body, detail, scope)
    may_break = what in ("tcp option", "exthdr", "ip option", "sctp chunk") or isinstance(body["value"], Mapping)
    return lambda state, at: [("next", None, state), *([("break", None, state)] if may_break else [])]


def _zone(state: State, at: At) -> list[Alternative]:
    """Unlike iptables' CT, nft gives a template to what is to be left untracked, too, which is tracked then."""
    return set_zone(state.copy(tracking="none") if state.tracking == "untracked" else state, at)


def _timeout(body: Any, scope: Scope) -> Act:
    if isinstance(body, Mapping):  # looked up in a map, where it may not be
        return lambda state, at: [*prepare(state, at), ("break", None, state)]
    return prepare


def _connection_mark(possible: Callable[[State, At], tuple[list[Any], bool]]) -> Act:
    assign = _assign("ctmark", possible)

    def act(state: State, at: At) -> list[Alternative]:
        if state.tracking == "tracked":
            return assign(state, at)
        _found, missed = possible(state, at)
        ctmark = UNKNOWN if state.tracking is UNKNOWN else state.ctmark
        return [("next", None, state.copy(ctmark=ctmark)), *([("break", None, state)] if missed else [])]

    return act


def _assign(field: str, possible: Callable[[State, At], tuple[list[Any], bool]]) -> Act:
    def act(state: State, at: At) -> list[Alternative]:
        found, missed = possible(state, at)
        results: list[Alternative] = [("next", None, state.copy(touched=True, **{field: value})) for value in found]
        return [*results, ("break", None, state)] if missed or not results else results

    return act


def _redirect_late(assign: Act) -> Act:
    """Once a packet is routed, another destination is looked for behind the device that was chosen for the first."""

    def act(state: State, at: At) -> list[Alternative]:
        late = at.hook not in ("prerouting", "output", "ingress")
        return [
            ("local", None, after) if late and action == "next" and after.dst != state.dst else (action, target, after)
            for action, target, after in assign(state, at)
        ]

    return act


def _mangle_payload(body: Mapping[str, Any], payload: Mapping[str, Any], scope: Scope) -> Act:
    protocol, name = str(payload.get("protocol")), str(payload.get("field"))
    if "base" in payload:
        raise Unsupported("raw payload")
    getter, kind = expression({"payload": payload})
    field = {"saddr": "src", "daddr": "dst", "sport": "sport", "dport": "dport"}.get(name)
    assign: Act = _goes_on
    if name in ("ttl", "hoplimit") and not (isinstance(body["value"], int) and body["value"] > 1):
        assign = _may_expire
    if field and protocol in ("ip", "ip6", "tcp", "udp", "sctp", "dccp", "udplite", "th"):
        assign = _assign(field, values(body["value"], kind, scope))
    if field == "dst":
        assign = _redirect_late(assign)

    def act(state: State, at: At) -> list[Alternative]:
        return [("break", None, state)] if getter(state, at) is ABSENT else assign(state, at)

    return act


def _translation(translate: Callable[..., list[Alternative]]) -> Callable[[Any, Scope], Act]:
    def read(body: Any, scope: Scope) -> Act:
        body = body or {}
        wanted = {"ip": 4, "ip6": 6}.get(str(body.get("family")))
        addresses = values(body["addr"], "address", scope) if "addr" in body else None
        ports = values(body["port"], "port", scope) if "port" in body else None

        def act(state: State, at: At) -> list[Alternative]:
            if wanted is not None and state.family != wanted:
                return [("break", None, state)]
            found, missed = addresses(state, at) if addresses else ([None], False)
            port = None
            if ports:
                known, broken = ports(state, at)
                port = known[0] if len(known) == 1 and not broken else UNKNOWN
            results: list[Alternative] = []
            for address in found:
                pair = address if isinstance(address, tuple) else (address, port)
                results += translate(state, at, *pair)
            return [*results, ("break", None, state)] if missed or not results else results

        return act

    return read


def _source(state: State, at: At, address: Any, port: Any) -> list[Alternative]:
    return _nat.source(state, at, state.src if address is None else address)


def _reject(body: Any, scope: Scope) -> Act:
    """nft hides the test that a kind of reject implies: TCP for a reset, the family for an ICMP error of one family."""
    kind = str((body or {}).get("type", ""))

    def act(state: State, at: At) -> list[Alternative]:
        applies = {"tcp reset": state.proto == 6, "icmp": state.family == 4, "icmpv6": state.family == 6}
        return [("drop" if applies.get(kind, True) else "break", None, state)]

    return act


_ICMP_OF = {"icmp": "ipv4", "icmpv6": "ipv6"}


def _hides_family(statements: list[Mapping[str, Any]], scope: Scope) -> bool:
    """Whether the listing may hide a test of the IP version, as nft 1.0 and 1.1 do before a reject.

    `meta nfproto ipv6 meta l4proto tcp reject with tcp reset` is listed without its first test, and
    `meta protocol ip6 reject with icmp host-prohibited`, which never matches, as `meta nfproto ipv4 reject with ...`,
    while the same with `meta nfproto ipv4` is listed without that.
    """
    if scope.table.family in ("ip", "ip6"):
        return False
    rejects = [str((one["reject"] or {}).get("type", "")) for one in statements if "reject" in one]
    matches = str([one for one in statements if "reject" not in one])
    if "tcp reset" in rejects:
        return not any(f"'{word}'" in matches for word in ("ip", "ip6", "icmp", "icmpv6", "nfproto", "arp"))
    return any(kind in _ICMP_OF and f"'nfproto'}}}}, 'right': '{_ICMP_OF[kind]}'" in matches for kind in rejects)


def _dynamic_set(body: Mapping[str, Any], scope: Scope) -> Act:
    """`add`/`update @set`: goes on where the element could be stored and its own statements let it."""
    name = "elem" if "elem" in body else "key"
    getter, _kind = expression(body[name]) if isinstance(body.get(name), dict) else ((lambda state, at: UNKNOWN), "")

    def act(state: State, at: At) -> list[Alternative]:
        if getter(state, at) is ABSENT:
            return [("break", None, state)]
        if body.get("op") == "delete":
            return [("next", None, state)]
        return [("next", None, state), ("break", None, state)]

    return act


def _queue(body: Any, scope: Scope) -> Act:
    return lambda state, at: [("accept", None, state.copy(mark=UNKNOWN, touched=True)), ("drop", None, state)]


def _tproxy(body: Any, scope: Scope) -> Act:
    return lambda state, at: [("next", None, state), ("local", None, state), ("break", None, state)]


def _synproxy(body: Any, scope: Scope) -> Act:
    return _anything


def _flow(body: Any, scope: Scope) -> Act:
    """`flow add` breaks off where it cannot offload the connection; an expectation may even drop."""
    return lambda state, at: [("next", None, state), ("break", None, state)]


def _fwd(body: Any, scope: Scope) -> Act:
    return lambda state, at: [("local", None, state)]


_KNOWN_XT = {
    "comment": [("next", None)], "LOG": [("next", None)], "NFLOG": [("next", None)], "TRACE": [("next", None)],
    "REJECT": [("drop", None)], "TCPMSS": [("next", None)],
}  # fmt: skip


def _xt(body: Any, scope: Scope) -> Act:
    """An extension of iptables in nft's listing, which shows its name only."""
    name = str((body or {}).get("name", ""))
    known = _KNOWN_XT.get(name)
    if known is not None:
        return lambda state, at: [(action, target, state) for action, target in known]
    if (body or {}).get("type") == "match":
        return lambda state, at: [("next", None, state), ("break", None, state)]
    if name == "MASQUERADE":
        return _nat.masquerade
    if name in ("SNAT", "NETMAP"):
        return lambda state, at: _nat.source(state, at, UNKNOWN)
    return _anything


_STATEMENTS: dict[str, Callable[[Any, Scope], Act]] = {
    "vmap": _vmap, "mangle": _mangle, "reject": _reject, "set": _dynamic_set, "map": _dynamic_set, "queue": _queue,
    "reset": lambda body, scope: _may_break, "ct timeout": _timeout,
    "tproxy": _tproxy, "synproxy": _synproxy, "flow": _flow, "fwd": _fwd, "xt": _xt,
    "dnat": _translation(_nat.destination),
    "snat": _translation(_source),
    "masquerade": lambda body, scope: _nat.masquerade,
    "redirect": lambda body, scope: _nat.redirect,
    "notrack": lambda body, scope: untrack,
}  # fmt: skip
