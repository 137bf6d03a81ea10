# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The matches of iptables: one table from a module's name to what reads its options.

A reader takes (options, family), options being (negated, name, values), and answers a function of (State, At), or None
where the match says nothing (a comment). Modules that are not in the table, and options that a reader does not know,
are unknown: limit, hashlimit, recent, set, statistic, time, string, bpf, u32, length, ttl and the like cannot be told
from the rules alone.
"""

from __future__ import annotations

from typing import Any, Callable

from ._model import At
from ._packet import ICMP, ICMPV6, TCP_FLAGS, WITH_PORTS, State
from ._values import (
    UNKNOWN,
    Matcher,
    Tri,
    Unsupported,
    address,
    all_of,
    any_of,
    equals,
    interface,
    masked,
    negate,
    network,
    protocol_number,
    within,
)
from ._xt_base import Match, Options, every, field_is, in_name, out_name, port_range
from ._xt_conntrack import connmark, conntrack, mark_is


def _address_match(name: str) -> Callable[[list[str], int], Match]:
    def read(values: list[str], family: int) -> Match:
        base, mask = network(values[0], family)
        return field_is(name, masked(base, mask))

    return read


def _interface_in(values: list[str], family: int) -> Match:
    match = interface(values[0], "+")
    return lambda state, at: match(in_name(state, at))


def _interface_out(values: list[str], family: int) -> Match:
    match = interface(values[0], "+")
    return lambda state, at: match(out_name(state, at))


def _protocol(values: list[str], family: int) -> Match | None:
    number = protocol_number(values[0]) if values[0] != "all" else 0
    return field_is("proto", equals(number)) if number else None


def _fragment(values: list[str], family: int) -> Match:
    return lambda state, at: False


GENERIC: dict[str, Callable[[list[str], int], Match | None]] = {
    "-s": _address_match("src"), "--source": _address_match("src"),
    "-d": _address_match("dst"), "--destination": _address_match("dst"),
    "-i": _interface_in, "--in-interface": _interface_in,
    "-o": _interface_out, "--out-interface": _interface_out,
    "-p": _protocol, "--protocol": _protocol,
    "-f": _fragment, "--fragment": _fragment,
}  # fmt: skip


def _ports(options: Options, family: int) -> Match | None:
    tests: list[tuple[bool, Match]] = []
    for negated, name, values in options:
        if name in ("--sport", "--source-port", "--sports"):
            tests.append((negated, field_is("sport", port_range(values[0]))))
        elif name in ("--dport", "--destination-port", "--dports"):
            tests.append((negated, field_is("dport", port_range(values[0]))))
        elif name == "--tcp-flags":
            tests.append((negated, _tcp_flags(values[0], values[1])))
        elif name == "--syn":
            tests.append((negated, _tcp_flags("FIN,SYN,RST,ACK", "SYN")))
        else:
            raise Unsupported(name)
    return every(tests) if tests else None


def _tcp_flags(mask: str, wanted: str) -> Match:
    def bits(text: str) -> int:
        if text == "NONE":
            return 0
        if text == "ALL":
            return 63
        return sum({TCP_FLAGS[name.lower()] for name in text.split(",")})

    return field_is("tcp_flags", masked(bits(wanted), bits(mask)))


def _multiport(options: Options, family: int) -> Match:
    tests: list[tuple[bool, Match]] = []
    for negated, name, values in options:
        ranges = [port_range(part) for part in values[0].split(",")]
        fields = {
            "--sports": ("sport",), "--source-ports": ("sport",), "--dports": ("dport",),
            "--destination-ports": ("dport",), "--ports": ("sport", "dport"),
        }.get(name)  # fmt: skip
        if fields is None:
            raise Unsupported(name)
        tests.append((negated, _in_any(fields, ranges)))
    test = every(tests)
    return lambda state, at: test(state, at) if state.proto in WITH_PORTS else False


def _in_any(fields: tuple[str, ...], ranges: list[Matcher]) -> Match:
    return lambda state, at: any_of(match(getattr(state, name)) for name in fields for match in ranges)


_ICMP_TYPES = {
    "echo-reply": 0, "pong": 0, "destination-unreachable": 3, "source-quench": 4, "redirect": 5, "echo-request": 8,
    "ping": 8, "router-advertisement": 9, "router-solicitation": 10, "time-exceeded": 11, "ttl-exceeded": 11,
    "parameter-problem": 12, "timestamp-request": 13, "timestamp-reply": 14,
}  # fmt: skip
_ICMP6_TYPES = {
    "destination-unreachable": 1, "packet-too-big": 2, "time-exceeded": 3, "parameter-problem": 4, "echo-request": 128,
    "ping": 128, "echo-reply": 129, "pong": 129, "router-solicitation": 133, "router-advertisement": 134,
    "neighbour-solicitation": 135, "neighbor-solicitation": 135, "neighbour-advertisement": 136,
    "neighbor-advertisement": 136, "redirect": 137,
}  # fmt: skip


def _icmp(options: Options, family: int) -> Match | None:
    tests: list[tuple[bool, Match]] = []
    for negated, name, values in options:
        if name not in ("--icmp-type", "--icmpv6-type"):
            raise Unsupported(name)
        tests.append((negated, _icmp_type(values[0], ICMP if family == 4 else ICMPV6)))
    return every(tests) if tests else None


def _icmp_type(text: str, protocol: int) -> Match:
    if text in ("any", "255") and protocol == ICMP:
        return lambda state, at: state.proto == protocol
    kind, _slash, code = text.partition("/")
    names = _ICMP_TYPES if protocol == ICMP else _ICMP6_TYPES
    if not kind.isdigit() and kind not in names:
        raise Unsupported(text)
    number = int(kind) if kind.isdigit() else names[kind]
    type_is = field_is("icmp_type", equals(number))
    if not code:
        return type_is
    code_is = field_is("icmp_code", equals(int(code)))
    return lambda state, at: all_of((type_is(state, at), code_is(state, at)))


def _iprange(options: Options, family: int) -> Match:
    tests: list[tuple[bool, Match]] = []
    for negated, name, values in options:
        low, _dash, high = values[0].partition("-")
        field = {"--src-range": "src", "--dst-range": "dst"}[name]
        tests.append((negated, field_is(field, within(address(low), address(high)))))
    return every(tests)


def _physdev(options: Options, family: int) -> Match:
    from ._bridge import physdev

    return every([(False, physdev(name, values, negated)) for negated, name, values in options])


def _packet_type(options: Options, family: int) -> Match:
    # What is forwarded is addressed to the host's own link address.
    tests = [(values[0] == "unicast") != negated for negated, _name, values in options]
    return lambda state, at: all(tests)


def _owner(options: Options, family: int) -> Match:
    # xt_owner: a forwarded packet has no socket, so each criterion counts as not met.
    def match(state: State, at: At) -> Tri:
        return (
            None if at.hook == "output" or state.iif in ("", UNKNOWN) else all(negated for negated, _n, _v in options)
        )

    return match


def _addrtype(options: Options, family: int) -> Match:
    from ._fib import address_type

    tests: list[tuple[bool, Match]] = []
    limited = any(name.startswith("--limit-iface") for _negated, name, _values in options)
    for negated, name, values in options:
        if name in ("--src-type", "--dst-type"):
            field = "src" if name == "--src-type" else "dst"
            tests.append((negated, address_type(field, set(values[0].lower().split(",")), family, limited)))
        elif not name.startswith("--limit-iface"):
            raise Unsupported(name)
    return every(tests)


def _rpfilter(options: Options, family: int) -> Match:
    from ._fib import reverse_path

    names = {name for _negated, name, _values in options}
    if names - {"--invert", "--loose", "--validmark", "--accept-local"}:
        raise Unsupported(", ".join(sorted(names)))
    test = reverse_path(loose="--loose" in names)
    return (lambda state, at: negate(test(state, at))) if "--invert" in names else test


def _ipsec_policy(options: Options, family: int) -> Match:
    # The packet is not under IPsec.
    none = any(values == ["none"] for _negated, name, values in options if name == "--pol")
    return lambda state, at: none


def _device_group(options: Options, family: int) -> Match:
    tests: list[tuple[bool, Match]] = []
    for negated, name, values in options:
        number, _slash, mask = values[0].partition("/")
        matcher = masked(0 if number == "default" else int(number, 0), int(mask or "0xffffffff", 0))
        tests.append((negated, _group_is({"--src-group": in_name, "--dst-group": out_name}[name], matcher)))
    return every(tests)


def _group_is(link: Callable[[State, At], Any], matcher: Matcher) -> Match:
    def test(state: State, at: At) -> Tri:
        name = link(state, at)
        return False if name == "" else matcher(at.facts.group(name))

    return test


def _extension_header(options: Options, family: int) -> Match:
    # Without the header these answer false, whatever is negated (ip6t_rt.c and its like).
    return lambda state, at: False


_MODULES: dict[str, Callable[[Options, int], Match | None]] = {
    "comment": lambda options, family: None,
    "tcp": _ports, "udp": _ports, "sctp": _ports, "dccp": _ports, "udplite": _ports,
    "multiport": _multiport, "icmp": _icmp, "icmp6": _icmp, "icmpv6": _icmp, "ipv6-icmp": _icmp,
    "conntrack": conntrack, "state": conntrack, "mark": mark_is("mark"), "connmark": connmark,
    "iprange": _iprange, "physdev": _physdev, "pkttype": _packet_type, "owner": _owner,
    "addrtype": _addrtype, "rpfilter": _rpfilter, "policy": _ipsec_policy, "devgroup": _device_group,
    "rt": _extension_header, "frag": _extension_header, "hbh": _extension_header, "dst": _extension_header,
}  # fmt: skip


def build(module: str, options: Options, family: int) -> Match | None:
    """The test of one `-m MODULE` with its options; raises Unsupported, KeyError is one too."""
    reader = _MODULES.get(module)
    if reader is None:
        raise Unsupported(module)
    try:
        return reader(options, family)
    except KeyError as error:
        raise Unsupported(f"{module} {error}") from None
