# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Questions to the routing tables: `-m addrtype`, `-m rpfilter` and nft's `fib`."""

from __future__ import annotations

from typing import Any, Callable

from ._model import At
from ._packet import State
from ._values import UNKNOWN, Tri

# What addresses can be to a host (include/uapi/linux/netfilter/xt_addrtype.h); those below never hold for the
# addresses of a packet that the host forwards, unless its routes say so, which the kernel then ends by itself.
_NEVER = frozenset(("unspec", "throw", "nat", "xresolve", "blackhole", "prohibit", "unreachable"))


def local(field: str, state: State, at: At) -> Tri:
    """Whether the address is the host's own. What is forwarded is not: the kernel would have delivered it."""
    value = getattr(state, field)
    answer = at.facts.is_local(value, state.family)
    if answer is not None or value is UNKNOWN or at.hook in ("input", "output"):
        return answer
    if field == "dst" and at.hook in ("prerouting", "ingress") and at.local_destination_possible:
        return None  # a DNAT may turn it into what is forwarded
    if at.hook == "postrouting" and (field == "src" and state.iif in ("", UNKNOWN)):
        return None
    return False


def kind(field: str, state: State, at: At) -> Any:
    """local, broadcast, multicast or unicast; UNKNOWN where the evidence does not tell."""
    value = getattr(state, field)
    if value is UNKNOWN:
        return UNKNOWN
    bits = 32 if state.family == 4 else 128
    if (bits == 32 and value >> 28 == 0xE) or (bits == 128 and value >> 120 == 0xFF):
        return "multicast"
    if bits == 32 and (value in at.facts.broadcasts or value in (0, 0xFFFFFFFF)):
        return "broadcast"
    answer = local(field, state, at)
    return UNKNOWN if answer is None else "local" if answer else "unicast"


def kind_by_interface(field: str, state: State, at: At) -> Any:
    """The same where only the addresses of one interface count: an address of another one is unicast then."""
    found = kind(field, state, at)
    return UNKNOWN if found in ("local", "broadcast") else found


def address_type(field: str, names: set[str], family: int, limited: bool) -> Callable[[State, At], Tri]:
    """The test of `--src-type` or `--dst-type`; limited: only addresses of one interface count."""

    def test(state: State, at: At) -> Tri:
        wanted = names - _NEVER
        if family == 6 and names & (_NEVER | {"anycast"}):
            return None  # asks the routes
        found = kind(field, state, at)
        if found is UNKNOWN:
            # What is not known is local or unicast; a test for both, or for neither, has its answer.
            if {"local", "unicast"} <= wanted:
                return None if family == 6 else True
            return None if wanted & {"local", "unicast"} else False
        if family == 6:
            return _type_v6(found, wanted, limited)
        if limited and found in ("local", "broadcast"):
            return None
        return found in wanted

    return test


def _type_v6(found: str, wanted: set[str], limited: bool) -> Tri:
    """xt_addrtype's match_type6 asks for every named class at once, and a local address is unicast too."""
    if "multicast" in wanted and found != "multicast":
        return False
    if "unicast" in wanted and found == "multicast":
        return False
    if "local" in wanted:
        return None if limited and found == "local" else found == "local"
    return True


def reverse_path(loose: bool) -> Callable[[State, At], Tri]:
    """Whether the source is reached back by the interface the packet came from (`-m rpfilter`)."""

    def test(state: State, at: At) -> Tri:
        if _to_come(state, at):
            return True
        device = at.facts.device_for(state.src, state.family)
        if device is UNKNOWN or state.iif is UNKNOWN:
            return None
        if device is None:
            return False
        if loose or device == state.iif:
            return True
        return False if state.family == 4 else None  # IPv6 looks for a route by that interface, however general

    return test


def _to_come(state: State, at: At) -> bool:
    """Whether the packet's link is not there yet (cni0 before there are pods): its routes come with it."""
    return bool(at.facts.links) and state.iif is not UNKNOWN and state.iif not in at.facts.links


def output_interface(field: str, with_input: bool, state: State, at: At) -> Any:
    """`fib ... oif`: name of the interface, "" where there is no route (or none by the input interface), UNKNOWN."""
    if with_input and field == "src" and _to_come(state, at):
        return state.iif
    device = at.facts.device_for(getattr(state, field), state.family)
    if device is UNKNOWN:
        return UNKNOWN
    if device is None:
        return ""
    if not with_input:
        return device
    if state.iif is UNKNOWN:
        return UNKNOWN
    if device == state.iif:
        return device
    return "" if state.family == 4 else UNKNOWN  # as in reverse_path
