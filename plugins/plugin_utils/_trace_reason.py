# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why a traced connection was not seen beyond a hop: from the host's configuration, and from its rules, walked with it.

Pure. Watching links shows between which two of them a packet was lost, never why: without ip_forward, by the reverse
path filter and without a route the kernel is silent, so these are told from what the host says of itself.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from ..module_utils._netfilter import FORWARD, INPUT, OUTPUT
from ._trace import BRIDGE, THERE, Hop, Trace
from ._trace_step import Step
from ._view import View

ICMP_WORDS = {
    (3, 0): "network unreachable", (3, 1): "host unreachable", (3, 2): "protocol unreachable",
    (3, 3): "port unreachable", (3, 4): "too large to forward", (3, 9): "network prohibited",
    (3, 10): "host prohibited", (3, 13): "administratively prohibited", (11, 0): "time exceeded",
    (1, 0): "no route", (1, 1): "prohibited", (1, 3): "address unreachable", (1, 4): "port unreachable",
    (2, 0): "packet too big",
}  # fmt: skip
NOTHING_FOUND = "neither its configuration nor its rules say why"


def reasons(trace: Trace, view: View) -> list[str]:
    """Sentences, the most telling first; empty where the connection came there and back."""
    if trace.came:
        return []
    found = _Reasons(trace, view)
    if trace.way is None or trace.last is None:
        return list(_refusals(trace, view)) or list(found.not_taken() if trace.outcome == "no answer" else [])
    return list(found.all())


def _refusals(trace: Trace, view: View) -> Iterator[str]:
    given = trace.plan["address"] if trace.plan["kind"] == "service" else ""
    by_name = [one for one in trace.errors if one.reporter != given]
    for one in by_name or trace.errors:
        words = ICMP_WORDS.get(one.error or (0, 0), f"type and code {one.error}")
        # What is sent back about a translated packet is translated too.
        owner = trace.plan["source"]["host"] if one.reporter == given else _owner(one.reporter, view)
        yield f"{owner} answered with ICMP: {words}"


def _owner(address: str, view: View) -> str:
    for name in view.nodes:
        raw = view.nodes[name].raw.get("ip_address") or []
        for link in raw:
            if any(info.get("local") == address for info in link.get("addr_info") or []):
                return f"{name} ({address} on {link.get('ifname')})"
    return address


class _Reasons(Step):
    """One method for each kind of step; they yield sentences."""

    def all(self) -> Iterator[str]:
        yield from _refusals(self.trace, self.view)
        if self.before is None and self.trace.plan["source"]["pod"]:
            yield f"the pod sent nothing: the kernel said {self.trace.outcome!r}; see the routes in the pod"
            return
        found = list(self.why(self.before) if self.before else self.sending())
        yield from found or ([] if self.trace.errors else [NOTHING_FOUND])
        for name, count in sorted(self.trace.drops.get(self.host, {}).items()):
            yield f"{self.host} dropped meanwhile: {name} {count}"

    def why(self, before: Hop) -> Iterator[str]:
        after = self.after
        if self.turned or after is None:
            yield from self.at_the_end(before)
        elif after.host != before.host:
            yield from self.wire(before, after)
        else:
            way = (before.kind, after.kind)
            if way == ("tunnel", "nic"):
                yield from self.encapsulation()
            elif way == ("nic", "tunnel"):
                yield from self.decapsulation(before)
            elif "pod" in way:
                yield from self.pair(before, after)
            elif way in (("veth", "bridge"), ("bridge", "veth")):
                yield from self.bridging(after)
            else:
                yield from self.forwarding(before, after)

    def sending(self) -> Iterator[str]:
        """A node sent nothing to the first link on the way."""
        after = self.after
        if after is None:
            return
        yield from self.down(self.named(after))
        yield from self.routing(after)
        yield from self.filtered("", self.named(after), OUTPUT)

    def not_taken(self) -> Iterator[str]:
        """The answer came back to the host, or to the pod, and was not taken there."""
        start, hops = self.trace.plan["source"], self.trace.hops
        if start["pod"]:
            yield f"its answer came back to pod {start['pod']}, which did not take it: see the rules in the pod"
        elif hops and hops[0].back:
            yield from self.filtered(hops[0].back[0].link, "", INPUT)

    def forwarding(self, before: Hop, after: Hop) -> Iterator[str]:
        values = self.raw().get("sysctl") or {}
        switch = "net.ipv4.ip_forward" if self.version == 4 else "net.ipv6.conf.all.forwarding"
        if values.get(switch) == "0":
            yield f"{switch} of {self.host} is 0: it forwards nothing"
        into = self.named(before)
        for name in (into, "all"):
            key = f"net.ipv{self.version}.conf.{name.replace('.', '/')}.forwarding"
            if values.get(key) == "0" and values.get(switch) != "0":
                yield f"{key} of {self.host} is 0"
        yield from self.down(self.named(after))
        yield from self.routing(after)
        if not self.trace.translated and self.trace.way == THERE:
            yield f"{self.host} did not translate the service's address {self.trace.plan['address']}: see kube-proxy"
        yield from self.reverse_path(into)
        yield from self.filtered(into, self.named(after))

    def routing(self, after: Hop) -> Iterator[str]:
        """The route to where it goes, and for the tunnel the neighbour entry of its gateway."""
        facts, target = self.rules().facts, self.ends[1]
        device = facts.device_for(int(ipaddress.ip_address(target)), self.version)
        lease, expected = self.lease(target), self.named(after)
        which = f" ({lease.network}, {lease.node})" if lease else ""
        if device is None:
            yield f"{self.host} has no route to {target}{which}"
        elif isinstance(device, str) and after.kind in ("tunnel", "bridge") and device != expected:
            astray = any(one.host == self.host and one.link == device for one in self.trace.astray)
            left = f"left by {device}" if astray else f"goes by {device}"
            yield f"{self.host} has no route to {target}{which} by {expected}; it {left} instead"
        elif after.kind == "tunnel":
            yield from self.neighbour(lease, expected)
        elif after.kind == "bridge":
            yield from self.neighbour_failed(target, expected)
        elif lease and lease.public_ip and (gateway := self.gateway(target)) != lease.public_ip:
            sent = f"{self.host} sends {lease.network} to {gateway or 'no gateway'}"
            yield f"{sent}; the lease of {lease.node} says {lease.public_ip}"
        elif lease and isinstance(device, str):
            yield from self.neighbour_failed(lease.public_ip, device)

    def neighbour_failed(self, address: str, link: str) -> Iterator[str]:
        for one in self.raw().get("ip_neigh") or []:
            if one.get("dst") == address and one.get("dev") == link and "FAILED" in (one.get("state") or []):
                whose = "pod" if link == BRIDGE else "host"
                yield f"{address} does not answer to ARP on {link} of {self.host}: the {whose} is gone, or its link"

    def reverse_path(self, link: str) -> Iterator[str]:
        values = self.raw().get("sysctl") or {}
        strict = [values.get(f"net.ipv4.conf.{name.replace('.', '/')}.rp_filter") for name in (link, "all")]
        if self.version == 6 or "1" not in strict or "2" in strict:
            return
        back = self.rules().facts.device_for(int(ipaddress.ip_address(self.ends[0])), self.version)
        counted = self.trace.drops.get(self.host, {}).get("IPReversePathFilter")
        if isinstance(back, str) and back != link:
            more = f"; it counted {counted} such packets" if counted else ""
            yield f"rp_filter of {self.host} is strict and {self.ends[0]} is routed by {back}, not {link}{more}"
        elif counted:
            yield f"the reverse path filter of {self.host} dropped {counted} packets"

    def filtered(self, into: str, out: str, hooks: tuple[str, ...] = FORWARD) -> Iterator[str]:
        source, destination, source_port, port = self.ends
        packet: dict[str, Any] = {
            "source": source, "destination": destination, "source_port": source_port, "destination_port": port,
            "in": into or None, "out": out or None, "protocol": self.trace.plan["protocol"],
        }  # fmt: skip
        plan = self.trace.plan
        if self.trace.way != THERE:
            packet.update(state="established", direction="reply")
            packet.update({"tcp_flags": ["syn", "ack"]} if plan["protocol"] == "tcp" else {})
        elif plan["kind"] == "service" and self.host == plan["source"]["host"]:
            packet.update(original_destination=plan["address"], original_destination_port=plan["port"])
        yield from self.walked(packet, hooks)

    def encapsulation(self) -> Iterator[str]:
        tunnel, lease = str(self.trace.plan["tunnel"]), self.lease(self.ends[1])
        yield from self.down(tunnel)
        if lease is None or not lease.mac:
            return
        raw = self.raw()
        entries = [
            one for one in raw.get("bridge_fdb") or [] if one.get("ifname") == tunnel and one.get("mac") == lease.mac
        ]
        if "bridge_fdb" in raw and not entries:
            yield f"{tunnel} of {self.host} has no FDB entry for {lease.mac} ({lease.node}, {lease.public_ip})"
        elif entries and entries[0].get("dst") != lease.public_ip:
            yield (
                f"the FDB entry of {tunnel} of {self.host} sends {lease.mac} to {entries[0].get('dst')}; "
                f"the lease of {lease.node} says {lease.public_ip}"
            )
        yield from self.neighbour(lease, tunnel)
        if lease.public_ip:
            device = self.rules().facts.device_for(
                int(ipaddress.ip_address(lease.public_ip)), _version(lease.public_ip)
            )
            if device is None:
                yield f"{self.host} has no route to {lease.public_ip} ({lease.node})"
            packet = self.outer(self.own_public(), lease.public_ip)
            if packet:
                yield from self.walked({**packet, "out": device or None}, OUTPUT)

    def own_public(self) -> str:
        own = self.lease(self.ends[0])
        return own.public_ip if own else ""

    def outer(self, source: str, destination: str) -> dict[str, Any]:
        if not source or not destination:
            return {}
        port = self.trace.plan["vxlan_port"]
        return {"source": source, "destination": destination, "protocol": "udp", "destination_port": port}

    def wire(self, before: Hop, after: Hop) -> Iterator[str]:
        if before.kind == "tunnel":
            yield f"it entered {self.named(before)} of {before.host} and did not come out of that of {after.host}"
            return
        packets = self.packets(before)
        if not packets:
            return
        lease, target, wrapped = self.lease(self.ends[1]), packets[0].destination, packets[0].outer_destination
        sent = wrapped or (self.gateway(target) if self.trace.end["pod"] else "") or target
        if lease and sent not in (target, lease.public_ip):
            yield f"{before.host} sent it to {sent}; the lease of {lease.node} says {lease.public_ip}"
        elif self.trace.end["pod"] and sent == target:
            yield f"{before.host} sent it to the network as if {target} were there: it has no route to the pod's node"
        else:
            kind = (
                f"UDP port {self.trace.plan['vxlan_port']}"
                if wrapped
                else f"{self.trace.plan['protocol'].upper()} between {' and '.join(self.ends[:2])}"
            )
            yield (
                f"it left {before.host} for {sent} and did not come to {after.host}: what lies between them drops "
                f"{kind} (a security group, a firewall of the network, a switch)"
            )

    def gateway(self, address: str) -> str:
        """The next hop of the host's route to an address, "" where there is none."""
        routes = self.rules().facts.routes[self.version]
        found = next(iter(routes.to(int(ipaddress.ip_address(address)))), None) if routes else None
        return found.gateway if found else ""

    def decapsulation(self, before: Hop) -> Iterator[str]:
        tunnel = str(self.trace.plan["tunnel"])
        yield from self.down(tunnel)
        packets = self.packets(before)
        data = ((self.link(tunnel) or {}).get("linkinfo") or {}).get("info_data") or {}
        if packets and data.get("id") is not None and packets[0].vni != data["id"]:
            yield f"it came with VNI {packets[0].vni}, {tunnel} of {self.host} has {data['id']}"
        if data.get("port") is not None and data["port"] != self.trace.plan["vxlan_port"]:
            yield f"{tunnel} of {self.host} listens on port {data['port']}, it came to {self.trace.plan['vxlan_port']}"
        if packets:
            packet = self.outer(packets[0].outer_source, packets[0].outer_destination)
            yield from self.walked({**packet, "in": packets[0].link}, INPUT)

    def bridging(self, after: Hop) -> Iterator[str]:
        found = [*self.down(BRIDGE), *self.neighbour_failed(self.ends[1], BRIDGE)]
        if after.kind == "bridge":
            found += self.filtered(BRIDGE, "", ("prerouting",))  # before a bridge hands a frame up, with br_netfilter
        yield from found
        if after.kind == "bridge" and not found:
            yield f"the frame entered the bridge and was not for it: has {BRIDGE} the address of the pods' gateway?"

    def pair(self, before: Hop, after: Hop) -> Iterator[str]:
        yield f"it was lost between {before.kind} and {after.kind}: the two ends of the pod's veth pair"

    def at_the_end(self, before: Hop) -> Iterator[str]:
        """It came to the end, and nothing came back from there."""
        end = self.trace.end
        if before.kind == "pod":
            udp = self.trace.plan["protocol"] == "udp"
            may = " (what listens there may have no answer to a DNS question)" if udp else ""
            yield f"it came to pod {before.pod}, which sent nothing back{may}: see the rules and routes in the pod"
            return
        if not end["host"] or end["host"] != before.host:
            there = (
                f"host {end['host'] or end['node']}" if end["node"] else f"{end['address']}, outside of the cluster,"
            )
            yield f"nothing came back from there, and {there} was not watched: whether it came so far is not known"
            return
        start = self.trace.plan["source"]
        packet = {
            "source": start["address"], "destination": end["address"], "source_port": start["port"],
            "destination_port": end["port"], "in": self.named(before) or None, "protocol": self.trace.plan["protocol"],
        }  # fmt: skip
        yield from self.walked(packet, INPUT)


def _version(address: str) -> int:
    return ipaddress.ip_address(address).version
