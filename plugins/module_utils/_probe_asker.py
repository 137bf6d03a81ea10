# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This module util is private to the collection.

"""How each kind of path is asked, and what is held against it. Standard library only."""

from __future__ import annotations

import time
from typing import Any, Callable

from ansible_collections.podnet.kubeadm.plugins.module_utils import _probe_client, _probe_plan
from ansible_collections.podnet.kubeadm.plugins.module_utils._probe_client import ProbeFailed

BULK = 1024 * 1024
KUBELET_PORT = 10250
# Tries on a service of n pods, so that one of them is missed once in some 100,000 runs.
TRIES_PER_POD = 12


class Asker:
    """Asks the paths of the plan; one method per kind of path, each raises ProbeFailed.

    params: the options of the module C(pod_probe) in state C(probing). seen: the pods that answered over TCP at each
    address of the service. mtu: of the pod's link, in bytes, set once its namespace is entered.
    """

    def __init__(self, params: dict[str, Any]) -> None:
        self.params = params
        self.targets = params["targets"]
        self.word = params["word"]
        self.limit = params["limit"]
        self.seen: dict[str, set[str]] = {}
        self.mtu = 0

    def expect(self, found: str, name: str) -> None:
        if found != name:
            raise ProbeFailed(f"{found} answered instead of {name}")

    def who(self, probe: _probe_plan.Probe) -> None:
        port = self.targets["host_port"] if probe.what == "tcp/hostport" else self.params["port"]
        ask = _probe_client.udp_who if probe.what.startswith("udp/") else _probe_client.tcp_who
        self.expect(ask(probe.address, port, self.word, self.limit), probe.target)

    def full_packet(self, probe: _probe_plan.Probe) -> None:
        _probe_client.full_icmp(probe.address, self.mtu, self.limit)

    def both_ways(self, probe: _probe_plan.Probe) -> None:
        _probe_client.bulk(probe.address, self.params["port"], self.word, BULK, self.limit * 5)

    def service(self, probe: _probe_plan.Probe) -> None:
        """Ask until every pod has answered. A try that fails is a failure: services hide dead pods among live ones."""
        port = self.targets["service_port"]
        expected = set(probe.extra["expected"])
        who = _probe_client.udp_who if probe.what == "udp/vip" else _probe_client.tcp_who
        seen: set[str] = set()
        if probe.what == "tcp/vip":
            self.seen[probe.address] = seen  # also where a later try fails
        for attempt in range(TRIES_PER_POD * max(len(expected), 1)):
            try:
                seen.add(who(probe.address, port, self.word, self.limit))
            except ProbeFailed as exc:
                if not (self.params["partial"] and "refused" in str(exc)):
                    raise ProbeFailed(f"try {attempt + 1}: {exc}") from exc
            if seen and probe.what == "udp/vip":
                return
            if seen >= expected or len(expected) > _probe_plan.ALL_PAIRS:
                break
        if seen - expected:
            raise ProbeFailed(f"{', '.join(sorted(seen - expected))} answered, which is none of its pods")
        if not seen >= expected and len(expected) <= _probe_plan.ALL_PAIRS:
            raise ProbeFailed(f"its pod on {', '.join(sorted(expected - seen))} never answered")

    def name(self, probe: _probe_plan.Probe) -> None:
        kind = "AAAA" if ":" in self.targets["services"][0] else "A"
        _probe_client.dns(
            probe.address,
            self.targets["name"],
            kind,
            self.targets["services"][:1],
            probe.what.startswith("tcp/"),
            self.limit,
        )

    def api(self, probe: _probe_plan.Probe) -> None:
        _probe_client.api_version(probe.address, self.targets["api_port"], self.targets["ca_file"], self.limit)

    def kubelet(self, probe: _probe_plan.Probe) -> None:
        _probe_client.kubelet(probe.address, KUBELET_PORT, self.limit)

    def outside(self, probe: _probe_plan.Probe) -> None:
        host, _colon, port = probe.address.rpartition(":")
        _probe_client.connects(host.strip("[]"), int(port), self.limit)

    def method(self, what: str) -> Callable[[_probe_plan.Probe], None]:
        special = {
            "icmp/pod": self.full_packet,
            "bulk/pod": self.both_ways,
            "tcp/vip": self.service,
            "udp/vip": self.service,
            "udp/name": self.name,
            "tcp/name": self.name,
            "tcp/service": self.api,
            "tcp/kubelet": self.kubelet,
            "tcp/outside": self.outside,
        }
        return special.get(what, self.who)

    def ask(self, probe: _probe_plan.Probe, end: float) -> dict[str, Any]:
        """The result of *probe*, tried again until *end* (time.monotonic) while it fails."""
        result = {
            "from": self.params["node"],
            "to": probe.target,
            "what": probe.what,
            "address": probe.address,
            "ok": False,
            "ms": None,
            "tries": 0,
            "detail": "",
        }
        if probe.what == "icmp/pod":
            result["bytes"] = _probe_client.icmp_payload(self.mtu, probe.address)
        while True:
            start = time.monotonic()
            result["tries"] += 1
            try:
                self.method(probe.what)(probe)
            except ProbeFailed as exc:
                result["detail"] = str(exc)
            else:
                return dict(result, ok=True, ms=round((time.monotonic() - start) * 1000, 1), detail="")
            if time.monotonic() > end:
                return result
            time.sleep(0.25)

    def hairpins(self, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Whether the pod reached itself through its service, told from who answered there."""
        found = []
        for result in results:
            if result["what"] == "tcp/vip":
                ok = self.params["node"] in self.seen.get(result["address"], ())
                detail = "" if ok else result["detail"] or "the pod itself never answered"
                found.append(dict(result, what="tcp/hairpin", ok=ok, ms=result["ms"] if ok else None, detail=detail))
        return found
