# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order in which the kernel calls what sees a packet: layers, hooks, priorities."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ._model import Chain
from ._packet import State
from ._ruleset import Ruleset
from ._values import UNKNOWN, Token, Tri

CONNTRACK = Token("connection tracking")
NAT = Token("address translation")

# Where the kernel itself acts among the base chains (include/uapi/linux/netfilter_ipv4.h). All nat chains of a hook are
# called from there, whatever priority they have; their own priorities order them among themselves (nf_nat_core.c).
_KERNEL = {
    "prerouting": ((-200, CONNTRACK), (-100, NAT)),
    "output": ((-200, CONNTRACK), (-100, NAT)),
    "input": ((100, NAT),),
    "postrouting": ((100, NAT),),
}


@dataclass
class Stop:
    """What is called at one hook with one priority."""

    hook: str
    layer: str
    members: list[Any] = field(default_factory=list)  # Chains, CONNTRACK, NAT
    nat: list[Chain] = field(default_factory=list)
    ordered: bool = True  # False: of equal priority, and the order could matter
    maybe: bool = False  # the evidence does not tell whether the packet comes here
    routing: bool = False
    blind: bool = False  # the packet was at hooks already that are walked later

    def nat_orders(self) -> list[tuple[Chain, ...]]:
        """The orders in which the nat chains may be asked; no one tells which of equal priority comes first."""
        groups: dict[int, list[Chain]] = {}
        for chain in self.nat:
            if chain.rules or chain.policy != "accept":
                groups.setdefault(chain.priority, []).append(chain)
        every = itertools.product(*(itertools.permutations(groups[priority]) for priority in sorted(groups)))
        return [tuple(itertools.chain(*one)) for one in itertools.islice(every, 25)]


def path(rules: Ruleset, state: State, hooks: tuple[str, ...], bridged: Tri) -> Iterator[Stop]:
    """The stops of a packet, in order. `bridged`: whether it stays on one bridge."""
    has_bridge_rules = any(table.family == "bridge" for table in rules.tables)
    if hooks[0] == "prerouting":
        yield from _device(rules, state, "ingress", state.iif)
    if has_bridge_rules and hooks[0] == "prerouting":
        yield from _layer(rules, state, "prerouting", "bridge", state.iif)
        yield from _perhaps(bridged, _layer(rules, state, "input", "bridge", state.iif))
    skip = _bridge_skips_ip(rules, state, bridged)
    for hook in hooks:
        if hook == "forward" and has_bridge_rules and bridged is not False:
            for stop in _layer(rules, state, "forward", "bridge", state.iif):
                stop.maybe = stop.maybe or bridged is None
                yield stop
        for stop in _hook(rules, state, hook):
            stop.maybe = stop.maybe or skip is not False
            if skip is not True:
                yield stop
        if hook == "prerouting":
            yield Stop("prerouting", "ip", routing=True)
    if hooks[-1] == "postrouting":
        if has_bridge_rules:
            yield from _perhaps(bridged, _layer(rules, state, "output", "bridge", state.oif))
            yield from _layer(rules, state, "postrouting", "bridge", state.oif)
        yield from _device(rules, state, "egress", state.oif)


def _perhaps(bridged: Any, stops: Iterator[Stop]) -> Iterator[Stop]:
    """The stops of a packet that is routed, where it may be bridged."""
    for stop in stops:
        stop.maybe = stop.maybe or bridged is None
        if bridged is not True:
            yield stop


def _bridge_skips_ip(rules: Ruleset, state: State, bridged: Any) -> Any:
    """Whether the packet passes the ip hooks by, on a bridge without br_netfilter; None where no one can tell."""
    name = f"net.bridge.bridge-nf-call-{'iptables' if state.family == 4 else 'ip6tables'}"
    calls = {"1": True, "0": False}.get(str(rules.facts.sysctl.get(name)))
    if bridged is False or calls is True:
        return False
    return True if bridged and calls is False else None


def _hook(rules: Ruleset, state: State, hook: str) -> Iterator[Stop]:
    chains = rules.base_chains("ip", hook, state.family)
    nat = [chain for chain in chains if chain.type == "nat"]
    groups: dict[int, list[Any]] = {}
    for chain in chains:
        if chain.type != "nat":
            groups.setdefault(chain.priority, []).append(chain)
    for priority, member in _KERNEL.get(hook, ()):
        if member is not NAT or nat:
            groups.setdefault(priority, []).append(member)
    for priority in sorted(groups):
        members = groups[priority]
        # A table without rules (iptables-legacy leaves them behind) says nothing, wherever it stands.
        members = [one for one in members if isinstance(one, Token) or one.rules or one.policy != "accept"]
        if members:
            yield Stop(hook, "ip", members, nat=nat, ordered=_order_is_idle(members))


def _order_is_idle(members: list[Any]) -> bool:
    """Whether the order of chains of equal priority makes no difference; nothing tells which was registered first."""
    if len(members) < 2:
        return True
    return not any(isinstance(one, Token) or one.has_effects() for one in members)


def _layer(rules: Ruleset, state: State, hook: str, layer: str, device: Any) -> Iterator[Stop]:
    """A hook of the bridge, where the interface is one, or may be one."""
    bridge = rules.facts.is_bridge(device)
    if bridge is False:
        return
    for chain in rules.base_chains(layer, hook, state.family):
        yield Stop(hook, layer, [chain], maybe=bridge is None)


def _device(rules: Ruleset, state: State, hook: str, device: Any) -> Iterator[Stop]:
    """Chains of one network device. Behind a bridge the packet may have come by any of its ports."""
    bridge = rules.facts.is_bridge(device)
    for chain in rules.base_chains("netdev", hook, state.family):
        certain = device in chain.device
        # nft 1.0 leaves the device out of its JSON; and a bridge's ports are devices that the packet may have come by.
        if certain or not chain.device or device is UNKNOWN or bridge is not False:
            # br_netfilter calls the hook prerouting of a bridge's packets before the bridge itself receives them.
            blind = hook == "ingress" and bridge is not False
            yield Stop(hook, "netdev", [chain], maybe=not certain, blind=blind)
