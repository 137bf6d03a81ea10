# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""report.md: the cluster's network as it is, for the runbook; then what the verdict was."""

from __future__ import annotations

from typing import Any

from ._safe import for_code as code
from ._safe import for_markdown as text
from ._space import KINDS

_MOST_ROWS = 200

# Port, protocol, on which hosts, from where, what for. Kubernetes' own list; flannel's line is added by backend.
_PORTS = (
    ("6443", "TCP", "control plane", "every node, administrators", "API server"),
    ("2379-2380", "TCP", "control plane", "control plane", "etcd"),
    ("10250", "TCP", "every node", "control plane", "kubelet"),
    ("10256", "TCP", "every node", "load balancers", "kube-proxy's health"),
    ("30000-32767", "TCP, UDP", "every node", "clients of NodePort services", "services"),
)


def describe(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    network = report["network"]
    lines = ["# The pod network as it is", ""]
    lines += [f"Evidence of {text(report['taken_at'] or 'an unknown time')}, {report['summary']['hosts']} hosts.", ""]
    lines += _table(("What", "Value"), [(text(name), code(value) or "not known") for name, value in _basics(network)])
    lines += ["## Ranges", ""]
    lines += _table(
        ("Kind", "Range", "What", "Hosts", "Meets"),
        [
            (
                KINDS[one["kind"]],
                code(one["network"]),
                text(one["label"]),
                text(_few(one["hosts"])),
                text(", ".join(report["address_space"][i]["network"] for i in one["meets"])),
            )
            for one in report["address_space"]
        ],
    )
    lines += ["## Ports between hosts", ""]
    lines += _table(("Port", "Protocol", "On", "From", "For"), [*_PORTS, *_backend_port(network)])
    lines += ["## Hosts", ""]
    lines += _table(
        ("Host", "Node", "Roles", "Address", "Pods", "System", "Runtime", "kubelet"),
        [
            (
                text(one["name"]),
                text(one["node"]),
                text(", ".join(one["roles"])),
                code(one["address"]),
                code(", ".join(one["pod_ranges"])),
                text(one["system"]),
                text(one["runtime"]),
                text(one["kubelet"]),
            )
            for one in report["hosts"]
        ],
    )
    lines += ["## Firewall rules that matter", ""]
    by_rule: dict[str, list[str]] = {}
    for host in report["hosts"]:
        for rule in host["firewall"]:
            by_rule.setdefault(rule, []).append(host["name"])
    lines += [f"- {code(rule)} on {text(_few(names))}" for rule, names in by_rule.items()] or ["None was seen."]
    lines += ["", "## Network policies", ""]
    lines += [f"- {code(name)}" for name in network["policies"]] or ["None."]
    lines += ["", "## Services that are reached from outside", ""]
    lines += [f"- {text(name)}" for name in network["exposed"]] or ["None."]
    lines += ["", "## Verdict", ""]
    lines += _table(
        ("Severity", "Code", "Where", "What", "Next"),
        [
            (
                one["severity"],
                f"[{one['code']}]({one['page']})",
                text(_few(one["where"])),
                text(one["summary"]),
                text(one["remedy"]),
            )
            for one in report["findings"]
        ],
    ) or ["Nothing was found.", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _basics(network: dict[str, Any]) -> list[tuple[str, str]]:
    flannel = " ".join(filter(None, (network["flannel_version"], network["backend"])))
    return [
        ("Kubernetes", network["version"]),
        ("Control plane endpoint", network["endpoint"]),
        ("Pods", ", ".join(network["pods"])),
        ("Services", ", ".join(network["services"])),
        ("Cluster DNS", ", ".join(network["dns"])),
        ("flannel", flannel),
        ("flannel's Network", ", ".join(network["flannel_network"])),
        ("flannel's namespace", network["flannel_namespace"]),
        ("kube-proxy's mode", network["kube_proxy_mode"]),
    ]


def _backend_port(network: dict[str, Any]) -> list[tuple[str, ...]]:
    if network["port"]:
        return [(str(network["port"]), "UDP", "every node", "every node", f"flannel ({text(network['backend'])})")]
    return []


def _few(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _table(head: tuple[str, ...], rows: list[Any]) -> list[str]:
    if not rows:
        return []
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        lines += ["", f"{len(rows) - _MOST_ROWS} more are in report.json."]
    return [*lines, ""]
