# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""nft's expressions: what they read from the packet, and the constants they are compared with.

The shapes are those of libnftables-json(5). Each expression has a kind, which says how its constants are written.
nft hides in a listing the tests it adds by itself (`tcp dport` implies `meta l4proto tcp`, `ip saddr` in an inet table
implies IPv4), so a field that the packet does not have is ABSENT and ends the rule, negated or not.
"""

from __future__ import annotations

from typing import Any, Callable, Union

from . import _fib
from ._model import At
from ._packet import ICMP, ICMPV6, STATES, STATUS, TCP, TCP_FLAGS, WITH_PORTS, State
from ._values import ABSENT, UNKNOWN, Choice, Unsupported, address, port_number, protocol_number
from ._xt_base import in_name, out_name
from ._xt_conntrack import conntrack_state

Getter = Callable[[State, At], Any]
Kind = Union[str, tuple[str, ...]]


def expression(tree: Any) -> tuple[Getter, Kind]:
    """(getter, kind) of an expression; raises Unsupported for what no getter can be made of."""
    if not isinstance(tree, dict) or len(tree) != 1:
        raise Unsupported(str(tree))
    name, body = next(iter(tree.items()))
    reader = _EXPRESSIONS.get(name)
    if reader is None:
        return (lambda state, at: UNKNOWN), "opaque"
    return reader(body)


def _meta(body: Any) -> tuple[Getter, Kind]:
    key = body.get("key") if isinstance(body, dict) else body
    return _META.get(str(key), ((lambda state, at: UNKNOWN), "opaque"))


def _socket(state: State, at: At) -> Any:
    """What is asked of a socket: a forwarded packet has none (nft_meta: the rule breaks off)."""
    forwarded = at.hook in ("prerouting", "forward") or (at.hook == "postrouting" and state.iif not in ("", UNKNOWN))
    return ABSENT if forwarded else UNKNOWN


def _input_name(state: State, at: At) -> Any:
    return in_name(state, at)


_META: dict[str, tuple[Getter, Kind]] = {
    "iif": (_input_name, "name"),
    "iifname": (_input_name, "name"),
    "oif": (out_name, "name"),
    "oifname": (out_name, "name"),
    "mark": (lambda state, at: state.mark, "mark"),
    "l4proto": (lambda state, at: state.proto, "protocol"),
    "nfproto": (lambda state, at: 2 if state.family == 4 else 10, "nfproto"),
    "protocol": (lambda state, at: 0x0800 if state.family == 4 else 0x86DD, "ethertype"),
    "pkttype": (lambda state, at: "host" if at.layer == "ip" else UNKNOWN, "word"),
    "iifgroup": (lambda state, at: at.facts.group(in_name(state, at)), "group"),
    "oifgroup": (lambda state, at: at.facts.group(out_name(state, at)) if out_name(state, at) else ABSENT, "group"),
    "skuid": (_socket, "word"),
    "skgid": (_socket, "word"),
    "cgroup": (_socket, "word"),
    "ipsec": (lambda state, at: False, "exists"),
    "iiftype": (lambda state, at: at.facts.kind_of_link(in_name(state, at)), "word"),
    "oiftype": (lambda state, at: at.facts.kind_of_link(out_name(state, at)), "word"),
}


def _of_family(family: int, name: str) -> Getter:
    return lambda state, at: getattr(state, name) if state.family == family else ABSENT


def _of_protocol(protocol: int, name: str) -> Getter:
    return lambda state, at: getattr(state, name) if state.proto == protocol else ABSENT


def _any_port(name: str) -> Getter:
    # `th dport` reads these bytes of whatever transport header is there.
    return lambda state, at: getattr(state, name) if state.proto in WITH_PORTS else UNKNOWN


def _constant(value: Any, family: int) -> Getter:
    return lambda state, at: value if state.family == family else ABSENT


_PAYLOAD: dict[tuple[str, str], tuple[Getter, Kind]] = {
    ("ip", "saddr"): (_of_family(4, "src"), "address"),
    ("ip", "daddr"): (_of_family(4, "dst"), "address"),
    ("ip", "protocol"): (_of_family(4, "proto"), "protocol"),
    ("ip", "version"): (_constant(4, 4), "number"),
    ("ip", "hdrlength"): (_constant(5, 4), "number"),
    ("ip6", "saddr"): (_of_family(6, "src"), "address"),
    ("ip6", "daddr"): (_of_family(6, "dst"), "address"),
    ("ip6", "nexthdr"): (_of_family(6, "proto"), "protocol"),
    ("ip6", "version"): (_constant(6, 6), "number"),
    ("th", "sport"): (_any_port("sport"), "port"),
    ("th", "dport"): (_any_port("dport"), "port"),
    ("tcp", "flags"): (_of_protocol(6, "tcp_flags"), "tcpflags"),
    ("icmp", "type"): (_of_protocol(ICMP, "icmp_type"), "icmp"),
    ("icmp", "code"): (_of_protocol(ICMP, "icmp_code"), "icmpcode"),
    ("icmpv6", "type"): (_of_protocol(ICMPV6, "icmp_type"), "icmpv6"),
    ("icmpv6", "code"): (_of_protocol(ICMPV6, "icmp_code"), "icmpv6code"),
}
_TRANSPORTS = {"tcp": 6, "udp": 17, "dccp": 33, "sctp": 132, "udplite": 136}
for _name, _number in _TRANSPORTS.items():
    _PAYLOAD[(_name, "sport")] = (_of_protocol(_number, "sport"), "port")
    _PAYLOAD[(_name, "dport")] = (_of_protocol(_number, "dport"), "port")


def _payload(body: dict[str, Any]) -> tuple[Getter, Kind]:
    protocol, field = str(body.get("protocol")), str(body.get("field"))
    found = _PAYLOAD.get((protocol, field))
    if found:
        return found
    if protocol in _TRANSPORTS:
        number = _TRANSPORTS[protocol]
        return (lambda state, at: UNKNOWN if state.proto == number else ABSENT), "opaque"
    if protocol in ("icmp", "icmpv6"):
        number = ICMP if protocol == "icmp" else ICMPV6
        return (lambda state, at: UNKNOWN if state.proto == number else ABSENT), "opaque"
    if protocol in ("ip", "ip6"):
        family = 4 if protocol == "ip" else 6
        if (protocol, field) == ("ip", "frag-off"):
            return (lambda state, at: UNKNOWN if state.family == 4 else ABSENT), "fragment"
        return (lambda state, at: UNKNOWN if state.family == family else ABSENT), "opaque"
    return (lambda state, at: UNKNOWN), "opaque"


def _connection(getter: Getter) -> Getter:
    """A key of the connection: absent where there is none."""

    def get(state: State, at: At) -> Any:
        current = conntrack_state(state, at)
        if current is UNKNOWN or state.tracking == "template":
            return UNKNOWN
        return ABSENT if current in (STATES["invalid"], STATES["untracked"]) else getter(state, at)

    return get


_CT: dict[tuple[str, str | None], tuple[Getter, Kind]] = {
    ("state", None): (conntrack_state, "ctstate"),
    ("mark", None): (_connection(lambda state, at: state.ctmark), "mark"),
    ("status", None): (_connection(lambda state, at: state.ctstatus), "ctstatus"),
    ("direction", None): (_connection(lambda state, at: state.ctdir), "ctdir"),
    ("l3proto", None): (_connection(lambda state, at: 2 if state.family == 4 else 10), "nfproto"),
    ("protocol", None): (_connection(lambda state, at: state.proto), "protocol"),
    ("protocol", "original"): (_connection(lambda state, at: state.proto), "protocol"),
    ("proto-src", "original"): (_connection(lambda state, at: state.orig_sport), "port"),
    ("ip saddr", "original"): (
        _connection(lambda state, at: state.orig_src if state.family == 4 else ABSENT), "address",
    ),
    ("ip6 saddr", "original"): (
        _connection(lambda state, at: state.orig_src if state.family == 6 else ABSENT), "address",
    ),
    ("proto-dst", "original"): (_connection(lambda state, at: state.orig_dport), "port"),
    ("ip daddr", "original"): (
        _connection(lambda state, at: state.orig_dst if state.family == 4 else ABSENT), "address",
    ),
    ("ip6 daddr", "original"): (
        _connection(lambda state, at: state.orig_dst if state.family == 6 else ABSENT), "address",
    ),
}  # fmt: skip


def _ct(body: dict[str, Any]) -> tuple[Getter, Kind]:
    found = _CT.get((str(body.get("key")), body.get("dir")))
    return found or (_connection(lambda state, at: UNKNOWN), "opaque")


def _fib_expression(body: dict[str, Any]) -> tuple[Getter, Kind]:
    flags = body.get("flags") or []
    flags = [flags] if isinstance(flags, str) else flags
    field = "src" if "saddr" in flags else "dst"
    if body.get("result") == "type":
        if "iif" in flags or "oif" in flags:
            return (lambda state, at: _fib.kind_by_interface(field, state, at)), "word"
        return (lambda state, at: _fib.kind(field, state, at)), "word"
    if body.get("result") in ("oif", "oifname") and "oif" not in flags:
        with_input = "iif" in flags
        kind = "exists" if body["result"] == "oif" else "name"
        return (lambda state, at: _fib.output_interface(field, with_input, state, at)), kind
    return (lambda state, at: UNKNOWN), "opaque"


def _numgen(body: dict[str, Any]) -> tuple[Getter, Kind]:
    modulus, offset = int(body.get("mod", 0)), int(body.get("offset", 0) or 0)
    choice = Choice(list(range(offset, offset + modulus))) if 0 < modulus <= 4096 else UNKNOWN
    if "expr" not in body:
        return (lambda state, at: choice), "number"
    # nft lists `meta protocol ip6 jhash ip saddr ...` without its first test, by which it never matches.
    hashed, _kind = expression(body["expr"])
    return (lambda state, at: ABSENT if hashed(state, at) is ABSENT else UNKNOWN), "number"


def _extension_header(body: dict[str, Any]) -> tuple[Getter, Kind]:
    """A field of a header that the packet does not have, or whether it has the header."""
    if "field" in body:
        return (lambda state, at: ABSENT), "number"
    return (lambda state, at: False if state.family == 6 else ABSENT), "exists"


def _tcp_option(body: Any) -> tuple[Getter, Kind]:
    return (lambda state, at: UNKNOWN if state.proto == TCP else ABSENT), "opaque"


def _binary(apply: Callable[[int, int], int]) -> Callable[[Any], tuple[Getter, Kind]]:
    def read(body: Any) -> tuple[Getter, Kind]:
        left, kind = expression(body[0])
        if kind == "fragment":
            # The packet is no fragment: offset and more-fragments are 0, the other bits are not known.
            mask = constant(body[1], "number")
            return (lambda state, at: 0 if state.family == 4 and mask & ~0x3FFF == 0 else left(state, at)), "number"
        rights = [_operand(part, kind) for part in body[1:]]

        def get(state: State, at: At) -> Any:
            value = left(state, at)
            for right in rights:
                other = right(state, at)
                for side in (value, other):
                    if side is ABSENT:
                        return ABSENT
                    if not isinstance(side, int):
                        return UNKNOWN
                value = apply(value, other)
            return value

        return get, kind

    return read


def _operand(tree: Any, kind: Kind) -> Getter:
    if isinstance(tree, dict) and next(iter(tree), "") in _EXPRESSIONS and next(iter(tree)) != "|":
        return expression(tree)[0]
    value = constant(tree, kind)
    return lambda state, at: value


def _concat(body: list[Any]) -> tuple[Getter, Kind]:
    parts = [expression(part) for part in body]
    getters = [getter for getter, _kind in parts]

    def get(state: State, at: At) -> Any:
        values = tuple(getter(state, at) for getter in getters)
        return ABSENT if ABSENT in values else values

    return get, tuple(str(kind) for _getter, kind in parts)


_EXPRESSIONS: dict[str, Callable[[Any], tuple[Getter, Kind]]] = {
    "meta": _meta, "payload": _payload, "ct": _ct, "fib": _fib_expression, "numgen": _numgen, "jhash": _numgen,
    "symhash": _numgen, "tcp option": _tcp_option, "exthdr": _extension_header,
    "concat": _concat, "&": _binary(lambda a, b: a & b), "|": _binary(lambda a, b: a | b),
    "^": _binary(lambda a, b: a ^ b), "<<": _binary(lambda a, b: a << b & 0xFFFFFFFF),
    ">>": _binary(lambda a, b: a >> b),
}  # fmt: skip

_WORDS: dict[str, dict[str, int]] = {
    "ctstate": STATES,
    "ctstatus": STATUS,
    "tcpflags": TCP_FLAGS,
    "ctdir": {"original": 0, "reply": 1},
    "nfproto": {"ipv4": 2, "ipv6": 10},
    "ethertype": {"ip": 0x0800, "arp": 0x0806, "vlan": 0x8100, "8021q": 0x8100, "8021ad": 0x88A8, "ip6": 0x86DD},
    "group": {"default": 0},
    "icmp": {
        "echo-reply": 0, "destination-unreachable": 3, "source-quench": 4, "redirect": 5, "echo-request": 8,
        "router-advertisement": 9, "router-solicitation": 10, "time-exceeded": 11, "parameter-problem": 12,
        "timestamp-request": 13, "timestamp-reply": 14, "info-request": 15, "info-reply": 16,
        "address-mask-request": 17, "address-mask-reply": 18,
    },
    "icmpcode": {
        "net-unreachable": 0, "host-unreachable": 1, "prot-unreachable": 2, "port-unreachable": 3, "frag-needed": 4,
        "net-prohibited": 9, "host-prohibited": 10, "admin-prohibited": 13,
    },
    "icmpv6code": {
        "no-route": 0, "admin-prohibited": 1, "addr-unreachable": 3, "port-unreachable": 4, "policy-fail": 5,
        "reject-route": 6,
    },
    "icmpv6": {
        "destination-unreachable": 1, "packet-too-big": 2, "time-exceeded": 3, "parameter-problem": 4,
        "echo-request": 128, "echo-reply": 129, "mld-listener-query": 130, "mld-listener-report": 131,
        "mld-listener-done": 132, "mld-listener-reduction": 132, "nd-router-solicit": 133, "nd-router-advert": 134,
        "nd-neighbor-solicit": 135, "nd-neighbor-advert": 136, "nd-redirect": 137, "router-renumbering": 138,
        "ind-neighbor-solicit": 141, "ind-neighbor-advert": 142, "mld2-listener-report": 143,
    },
}  # fmt: skip
FLAGS = frozenset(("ctstate", "ctstatus", "tcpflags"))


def constant(tree: Any, kind: Kind) -> Any:
    """The value of a constant as it is written for a kind; raises Unsupported."""
    if isinstance(tree, dict):
        if set(tree) == {"elem"}:
            return constant(tree["elem"].get("val"), kind)
        if set(tree) == {"|"}:
            return constant(tree["|"], kind)
        raise Unsupported(str(tree))
    if isinstance(tree, list):
        total = 0
        for part in tree:
            total |= constant(part, kind)
        return total
    if isinstance(tree, bool) or kind == "opaque":
        raise Unsupported(str(tree))
    if kind in ("name", "word"):
        return str(tree)
    if isinstance(tree, int):
        return tree
    text = str(tree).removesuffix(" [invalid type]")  # nft 1.0 writes it behind a port whose protocol it does not see
    words = _WORDS.get(str(kind), {})
    if text in words:
        return words[text]
    if kind == "address" or ":" in text or text.count(".") == 3:
        return address(text)
    if kind == "protocol":
        return protocol_number(text)
    if kind == "port" and not text.startswith("0x"):
        return port_number(text)
    try:
        return int(text, 0)
    except ValueError:
        raise Unsupported(text) from None
