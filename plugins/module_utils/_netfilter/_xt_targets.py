# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The targets of iptables: one table from a target's name to what it does to the packet."""

from __future__ import annotations

from typing import Any, Callable

from . import _nat
from ._model import Act, Alternative, At
from ._packet import STATES, State
from ._values import UNKNOWN, Unsupported

Options = list[tuple[bool, str, list[str]]]

# Targets that change what a later chain may look at.
EFFECTS = frozenset(
    [
        "MARK",
        "CONNMARK",
        "CT",
        "NOTRACK",
        "DNAT",
        "SNAT",
        "MASQUERADE",
        "REDIRECT",
        "NETMAP",
        "TPROXY",
        "HMARK",
        "SECMARK",
        "CONNSECMARK",
        "SYNPROXY",
    ]
)


def _verdict(action: str) -> Callable[[Options, int], Act]:
    return lambda options, family: lambda state, at: [(action, None, state)]


def _goes_on(options: Options, family: int) -> Act:
    return lambda state, at: [("next", None, state)]


def unreadable(state: State, at: At) -> list[Alternative]:
    """A target that this package does not know: it may do anything, the packet's fields included."""
    changed = state.copy(mark=UNKNOWN, ctmark=UNKNOWN, touched=True)
    return [("next", None, changed), ("accept", None, changed), ("drop", None, state)]


def _value_mask(options: Options) -> dict[str, str]:
    return {name: values[0] if values else "" for _negated, name, values in options}


def _pair(text: str, default_mask: int) -> tuple[int, int]:
    value, _slash, mask = text.partition("/")
    return int(value, 0), int(mask, 0) if mask else default_mask


def _new_word(given: dict[str, str], word: Any) -> Any:
    """A mark word after --set-mark, --set-xmark, --and-mark, --or-mark or --xor-mark."""
    full = 0xFFFFFFFF
    if "--set-xmark" in given:
        value, mask = _pair(given["--set-xmark"], full)
    elif "--set-mark" in given:
        value, mask = _pair(given["--set-mark"], full)
        mask |= value
    elif "--and-mark" in given:
        value, mask = 0, full ^ int(given["--and-mark"], 0)
    elif "--or-mark" in given:
        value = mask = int(given["--or-mark"], 0)
    elif "--xor-mark" in given:
        value, mask = int(given["--xor-mark"], 0), 0
    else:
        raise Unsupported(str(given))
    if mask == full:
        return value
    return UNKNOWN if word is UNKNOWN else (word & ~mask & full) ^ value


def _mark(options: Options, family: int) -> Act:
    given = _value_mask(options)
    _new_word(given, 0)
    return lambda state, at: [("next", None, state.copy(mark=_new_word(given, state.mark), touched=True))]


def _connmark(options: Options, family: int) -> Act:
    given = _value_mask(options)
    full = 0xFFFFFFFF
    ct_mask = int(given.get("--ctmask") or given.get("--mask") or "0xffffffff", 0)
    nf_mask = int(given.get("--nfmask") or given.get("--mask") or "0xffffffff", 0)
    saves, restores = "--save-mark" in given, "--restore-mark" in given
    if any("shift" in name for name in given):
        raise Unsupported(str(given))
    if not saves and not restores:
        _new_word(given, 0)

    def act(state: State, at: At) -> list[Alternative]:
        if state.tracking in ("none", "untracked"):
            return [("next", None, state)]
        if state.tracking == "template":
            return [("next", None, state.copy(mark=UNKNOWN, touched=True) if restores else state)]
        known = UNKNOWN not in (state.mark, state.ctmark, state.tracking)
        changed = state.copy(touched=True)
        if saves:
            changed.ctmark = (state.ctmark & ~ct_mask & full) ^ (state.mark & nf_mask) if known else UNKNOWN
            if ct_mask == nf_mask == full and state.tracking == "tracked":
                changed.ctmark = state.mark
        elif restores:
            changed.mark = (state.mark & ~nf_mask & full) ^ (state.ctmark & ct_mask) if known else UNKNOWN
            if ct_mask == nf_mask == full and state.tracking == "tracked":
                changed.mark = state.ctmark
        else:
            changed.ctmark = _new_word(given, state.ctmark) if state.tracking == "tracked" else UNKNOWN
        return [("next", None, changed)]

    return act


def untrack(state: State, at: At) -> list[Alternative]:
    """NOTRACK: has an effect only before connection tracking has looked at the packet."""
    if state.tracking == "none":
        state = state.copy(tracking="untracked", touched=True)
    return [("next", None, state)]


def prepare(state: State, at: At) -> list[Alternative]:
    """Gives a packet that has no connection yet a template of one (nf_ct_set with IP_CT_NEW): it counts as new."""
    if state.tracking == "none":
        state = state.copy(tracking="template", touched=True)
    return [("next", None, state)]


def set_zone(state: State, at: At) -> list[Alternative]:
    """Another conntrack zone is another table of connections: only a new connection is surely new there too."""
    if state.tracking == "tracked":
        return [("next", None, state)]
    known = state.ctstate if state.ctstate in (STATES["new"], STATES["invalid"]) else UNKNOWN
    return prepare(state.copy(ctmark=UNKNOWN, ctstate=known, touched=True), at)


def _ct(options: Options, family: int) -> Act:
    given = _value_mask(options)
    if "--notrack" in given:
        return untrack
    if set(given) & {"--zone", "--zone-orig", "--zone-reply"}:
        return set_zone
    return prepare  # helper, timeout, events


def _dnat(options: Options, family: int) -> Act:
    given = _value_mask(options)
    addresses, ports = _nat.parse_target(given["--to-destination"])
    return lambda state, at: _nat.destination(state, at, addresses, ports)


def _snat(options: Options, family: int) -> Act:
    addresses, _ports = _nat.parse_target(_value_mask(options)["--to-source"])
    return lambda state, at: _nat.source(state, at, addresses)


def _netmap(options: Options, family: int) -> Act:
    def act(state: State, at: At) -> list[Alternative]:
        if at.hook in ("prerouting", "output"):
            return _nat.destination(state, at, UNKNOWN)
        return _nat.source(state, at, UNKNOWN)

    return act


def _may_drop(options: Options, family: int) -> Act:
    return lambda state, at: [("next", None, state), ("drop", None, state)]


def _queue(options: Options, family: int) -> Act:
    """A program decides; it may also have changed the packet's mark."""
    return lambda state, at: [("accept", None, state.copy(mark=UNKNOWN, touched=True)), ("drop", None, state)]


def _tproxy(options: Options, family: int) -> Act:
    return lambda state, at: [("local", None, state), ("drop", None, state), ("accept", None, state)]


def _ttl(options: Options, family: int) -> Act:
    """A TTL that is taken down may end the packet at the router itself."""
    name, values = options[0][1], options[0][2]
    if name.endswith("-inc") or (name.endswith("-set") and int(values[0]) > 1):
        return _goes_on(options, family)
    return _may_drop(options, family)


_TARGETS: dict[str, Callable[[Options, int], Act]] = {
    "ACCEPT": _verdict("accept"), "DROP": _verdict("drop"), "REJECT": _verdict("drop"), "RETURN": _verdict("return"),
    "QUEUE": _queue, "NFQUEUE": _queue, "TPROXY": _tproxy,
    "SYNPROXY": lambda options, family: unreadable,
    "LOG": _goes_on, "NFLOG": _goes_on, "ULOG": _goes_on, "TRACE": _goes_on, "AUDIT": _goes_on, "TEE": _goes_on,
    "CLASSIFY": _goes_on, "TOS": _goes_on, "DSCP": _goes_on, "ECN": _goes_on, "CHECKSUM": _goes_on, "SET": _goes_on,
    "TCPMSS": _goes_on, "TCPOPTSTRIP": _goes_on, "IDLETIMER": _goes_on, "LED": _goes_on, "RATEEST": _goes_on,
    "SECMARK": _goes_on, "CONNSECMARK": _goes_on, "TTL": _ttl, "HL": _ttl,
    "MARK": _mark, "CONNMARK": _connmark, "CT": _ct,
    "NOTRACK": lambda options, family: untrack,
    "DNAT": _dnat, "SNAT": _snat, "NETMAP": _netmap,
    "MASQUERADE": lambda options, family: _nat.masquerade,
    "REDIRECT": lambda options, family: _nat.redirect,
}  # fmt: skip


_NEVER_DROPS = frozenset(("ACCEPT", "RETURN", *EFFECTS, *(name for name, read in _TARGETS.items() if read is _goes_on)))


def may_drop(name: str) -> bool:
    """Whether a target may end a packet: by its name, by a program's word, or because no one knows it."""
    return name not in _NEVER_DROPS - {"TPROXY", "SYNPROXY"}


def build(name: str, options: Options, family: int) -> Act:
    """What `-j NAME` with its options does; raises Unsupported."""
    reader = _TARGETS.get(name)
    if reader is None:
        raise Unsupported(name)
    try:
        return reader(options, family)
    except KeyError as error:
        raise Unsupported(f"{name} {error}") from None
