# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rulesets that real software makes: recorded on lab nodes, loaded here, and held against packets.

    ./dev fuzz forwarding_rulesets [--write]

Each recording (tests/unit/plugins/module_utils/_netfilter/fixtures/rulesets/) is loaded into a router whose interfaces
have the names they have on a node. The walker's verdict over the recording is compared with whether the packets arrive,
and docs/forwarding-rulesets.md with what it says of them; --write writes that page. Last line "N passed, M failed".
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import pathlib
import re
import sys
from typing import Any

from forwarding_net import Frame, Net

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import FORWARD, Ruleset, Verdict, walk

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/unit/plugins/module_utils/_netfilter/fixtures/rulesets"
PAGE = ROOT / "docs/forwarding-rulesets.md"
OUTSIDE = "198.51.100.9"
KEEP = "table ip keep {\n chain c {\n  type filter hook prerouting priority -500\n  ct state new\n }\n}\n"
HEAD = """\
# What real rulesets do with pod traffic

Recorded from real software, loaded into a network namespace and asked with real packets by
`tests/fuzz/forwarding_rulesets.py`, which writes this page. A verdict is the one of
`podnet.kubeadm.forward_verdict`; each of them is what the packets did.

An accept ends its own base chain only. A later base chain on the same hook may still drop, a drop is final, and both
backends of iptables and all tables of nft see the packet. So the same `policy drop` cuts pods off beside flannel's
nftables mode and does nothing beside its iptables mode, whose accept stands in the same chain, before the policy.
"""


def flows(cidr: str, local: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """By name: where from, where to, and the packet as the walker is told it."""
    mine, whole = ipaddress.ip_network(local), ipaddress.ip_network(cidr)
    here, there = str(mine[5]), str(mine[5] + mine.num_addresses)
    assert ipaddress.ip_address(there) in whole
    away = {"in": "cni0", "out": "flannel.1", "source": here, "destination": there}
    back = {"in": "flannel.1", "out": "cni0", "source": there, "destination": here}
    return {
        "pod to pod on another node": ("a", "s", away),
        "pod from pod on another node": ("s", "a", back),
        "its answer": ("a", "s", {**away, "state": "established"}),
        "pod to outside": ("a", "s", {**away, "destination": OUTSIDE}),
    }


def load(net: Net, recorded: dict[str, Any]) -> None:
    node = recorded["node"]
    net.inside("router", "nft", "flush", "ruleset")
    for key in ("iptables", "ip6tables"):
        for backend in ("nft", "legacy"):
            text = (node.get(key) or {}).get(backend)
            if text:
                # kube-proxy counts invalid packets in an object that a tool of its own makes; it decides nothing.
                text = re.sub(r" -m nfacct --nfacct-name +\S+", "", text)
                net.inside("router", f"{key}-{backend}-restore", text=text)
    if recorded.get("native"):
        net.inside("router", "nft", "-f", "-", text=recorded["native"])


def arrives(net: Net, recorded: dict[str, Any], name: str, number: int, flow: tuple[str, str, dict[str, Any]]) -> bool:
    """Sends the packet; for an answer, first the packet it answers, while no rule is there."""
    origin, target, packet = flow
    frame = Frame(origin, target, 4, packet["source"], packet["destination"], "udp", 40000 + number, 5000 + number)
    if packet.get("state") == "established":
        net.inside("router", "nft", "flush", "ruleset")
        net.inside("router", "nft", "-f", "-", text=KEEP)
        opening = Frame(target, origin, 4, packet["destination"], packet["source"], "udp", frame.dport, frame.sport)
        net.send([opening, frame], wait=0.05)
        load(net, recorded)
    return net.send([frame], wait=0.05)[0]


def check(path: pathlib.Path) -> tuple[list[str], list[tuple[str, Verdict]]]:
    """(what the packets contradict, verdicts)."""
    recorded = json.loads(path.read_text(encoding="utf-8"))
    local = ipaddress.ip_network(recorded["local_cidr"])
    asked = flows(recorded["pod_cidr"], recorded["local_cidr"])
    ends = {
        "a": {4: [str(local[5])]}, "b": {4: [str(local[6])]},
        "s": {4: [str(local[5] + local.num_addresses)]},
    }  # fmt: skip
    own = {"cni0": (f"{local[1]}/{local.prefixlen}",), "flannel.1": ("192.0.2.1/24",)}
    routes = (str(ipaddress.ip_network(f"{ends['s'][4][0]}/{local.prefixlen}", strict=False)), f"{OUTSIDE}/32")
    wrong, verdicts = [], []
    rules = Ruleset.from_evidence(recorded["node"])
    with Net("cni0", "flannel.1", {**ends, "s": {4: [*ends["s"][4], OUTSIDE]}}, own, routes) as net:
        for number, (name, flow) in enumerate(asked.items()):
            load(net, recorded)
            packet = {**flow[2], "protocol": "udp", "source_port": 40000 + number, "destination_port": 5000 + number}
            verdict = walk(rules, packet, FORWARD)
            verdicts.append((name, verdict))
            came = arrives(net, recorded, name, number, flow)
            if verdict.verdict != ("accept" if came else "drop"):
                wrong.append(f"{name}: {verdict.verdict}, but the packet {'arrived' if came else 'did not arrive'}")
    return wrong, verdicts


def section(path: pathlib.Path, verdicts: list[tuple[str, Verdict]]) -> str:
    recorded = json.loads(path.read_text(encoding="utf-8"))
    lines = [
        f"## {recorded['title']}",
        "",
        recorded["recorded"],
        "",
        "| packet | verdict | decided by |",
        "| --- | --- | --- |",
    ]
    for name, verdict in verdicts:
        by = verdict.by
        where = f"{by.family} {by.table} {by.chain}, {by.backend}: `{by.rule}`".replace("|", "\\|") if by else "no rule"
        lines.append(f"| {name} | **{verdict.verdict}** | {where} |")
    extract = recorded.get("extract") or ""
    if extract:
        lines += ["", "<details><summary>The rules on the forward hook</summary>", ""]
        lines += ["```", extract.rstrip(), "```", "</details>"]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    page = [HEAD]
    for path in sorted(FIXTURES.glob("*.json")):
        wrong, verdicts = check(path)
        page.append(section(path, verdicts))
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print(f"  {'FAILED  ' if wrong else 'ok      '}{path.stem} {'; '.join(wrong)}", flush=True)
    text = "\n".join(page)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        failed += 1
        print(f"  FAILED  {PAGE.name} is not what the recordings say; write it with --write")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
