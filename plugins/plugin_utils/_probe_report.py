# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person, and a machine, sees of the results of C(pod_probe)."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

Probe = dict[str, Any]
Findings = list[dict[str, Any]]
FAILED, MISSING = "FAILED", "-"


def pods(probes: list[Probe]) -> list[Probe]:
    """The probes from node to node between pods, which make the table."""
    return [probe for probe in probes if probe["from"] != probe["to"] and probe["what"].endswith("/pod")]


def cause(probe: Probe, findings: Findings) -> str:
    """The code of the first error that the doctor found at either node of a probe, at any for a path through a service,
    or at the cluster; "" for none."""
    places, anywhere = {probe["from"], probe["to"], "cluster"}, probe["what"].endswith(("/vip", "/name"))
    near = (one for one in findings if one["severity"] == "error" and (anywhere or places & set(one["where"])))
    return next((str(one["code"]) for one in near), "")


def cell(probes: list[Probe], findings: Findings) -> str:
    """One pair of nodes: the round trip of TCP in ms, or what failed (unless all did) and its cause."""
    if not probes:
        return MISSING
    failed = [probe for probe in probes if not probe["ok"]]
    if failed:
        kinds = ",".join(sorted({probe["what"].split("/")[0] for probe in failed}))
        words = [
            FAILED,
            "" if len(failed) == len(probes) else kinds,
            f"({code})" if (code := cause(failed[0], findings)) else "",
        ]
        return " ".join(filter(None, words))
    times = [probe["ms"] for probe in probes if probe["what"] == "tcp/pod"] or [probe["ms"] for probe in probes]
    return f"{min(times):.1f} ms"


def table(probes: list[Probe], findings: Findings) -> list[str]:
    """Lines of a table: a row per asking node, a column per asked one."""
    between = pods(probes)
    nodes = sorted({probe["from"] for probe in between} | {probe["to"] for probe in between})
    if not nodes:
        return []
    rows = [["from/to", *nodes]]
    for source in nodes:
        pairs = [[one for one in between if (one["from"], one["to"]) == (source, target)] for target in nodes]
        rows.append([source, *(cell(pair, findings) for pair in pairs)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(nodes) + 1)]
    return ["  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip() for row in rows]


def summary(probes: list[Probe]) -> list[str]:
    """A line per kind of path: how many went well of how many, and the slowest."""
    lines = []
    for what in sorted({probe["what"] for probe in probes}):
        mine = [probe for probe in probes if probe["what"] == what]
        good = [probe for probe in mine if probe["ok"]]
        # A pod that reached itself before its service failed has no time of its own.
        times = [probe["ms"] for probe in good if probe["ms"] is not None]
        slowest = f", at most {max(times):.1f} ms" if times else ""
        lines.append(f"{what}: {len(good)} of {len(mine)}{slowest}")
    return lines


def failures(probes: list[Probe], findings: Findings) -> list[str]:
    """A sentence for the paths that failed between the same two in the same way, with the cause that was found."""
    found: dict[str, list[str]] = {}
    for probe in probes:
        if not probe["ok"]:
            target = probe["address"] if probe["from"] == probe["to"] else f"{probe['to']} ({probe['address']})"
            code = cause(probe, findings)
            words = f"from {probe['from']} to {target}: {probe['detail']}{f' ({code})' if code else ''}"
            found.setdefault(words, []).append(probe["what"])
    return [f"{', '.join(dict.fromkeys(paths))} {words}" for words, paths in found.items()]


def report(
    probes: list[Probe], drops: dict[str, dict[str, int]] | None = None, findings: Findings | None = None
) -> list[str]:
    """Table, summary, failures, and packets that hosts dropped meanwhile, as lines. findings: of the doctor, the most
    severe first."""
    findings = findings or []
    if not probes:
        return ["No path was tried."]
    lines = [*table(probes, findings), *summary(probes), *failures(probes, findings)]
    for node, counters in sorted((drops or {}).items()):
        lines += [f"{node} dropped meanwhile: {name} {count}" for name, count in sorted(counters.items())]
    return lines


_KNOWN = ("tcp/pod", "tcp/hostport", "tcp/service", "tcp/kubelet")


def evidence(probes: list[Probe]) -> dict[str, list[Probe]]:
    """The results as the evidence format has them (C(nodes.NAME.probes)), by the node that asked.

    It knows fewer paths, and calls a UDP server in a pod what it is to the network: a DNS server. IPv6 is marked.
    """
    found: dict[str, list[Probe]] = {}
    for probe in probes:
        what = str(probe["what"])
        what = {"udp/pod": "udp/dns", "icmp/pod": f"icmp/{probe.get('bytes')}"}.get(what, what)
        if what.startswith(("udp/dns", "icmp/")) or what in _KNOWN:
            one = {key: probe[key] for key in ("from", "to", "ok", "ms")} | {"what": what}
            found.setdefault(probe["from"], []).append(one | ({"family": 6} if ":" in probe["address"] else {}))
    return found


def junit(probes: list[Probe]) -> str:
    """The results as JUnit, a case per path."""
    failed = sum(not probe["ok"] for probe in probes)
    suite = ElementTree.Element("testsuite", name="podnet.kubeadm.verify", tests=str(len(probes)), failures=str(failed))
    for probe in probes:
        name = f"{probe['what']} {probe['from']} to {probe['to']} {probe['address']}"
        seconds = (probe["ms"] or 0) / 1000
        case = ElementTree.SubElement(suite, "testcase", classname=probe["what"], name=name, time=f"{seconds:.4f}")
        if not probe["ok"]:
            ElementTree.SubElement(case, "failure", message=probe["detail"])
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
