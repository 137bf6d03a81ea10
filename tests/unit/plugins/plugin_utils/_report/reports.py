# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What tests of reports share: verdicts over real evidence, one with every kind of finding and hostile texts in it."""

from __future__ import annotations

from typing import Any

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Finding, Undetermined
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import Verdict
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

HOSTILE = (
    "</script><script>document.title='owned'</script>\x1b[2J\x1b]0;owned\x07 | `x` <img src=x onerror=alert(1)>\u202e"
)


def finding(code: str, severity: str, where: list[str], summary: str, **more: Any) -> Finding:
    return Finding(
        code=code,
        title=more.pop("title", f"Title of {code}."),
        chapter=more.pop("chapter", "Traffic"),
        severity=severity,
        where=where,
        summary=summary,
        evidence=more.pop("evidence", {}),
        remedy=more.pop("remedy", "Run podnet.kubeadm.repair."),
        repair=more.pop("repair", None),
        consequences=more.pop("consequences", []),
    )


def broken(bundle: dict[str, Any], hostile: str = "") -> tuple[View, Verdict]:
    """A verdict with an error, a warning, a note, one accepted and one undetermined rule over BUNDLE (three nodes).

    HOSTILE stands in every place that a host or a user can write to.
    """
    node = bundle["nodes"]["node2"]
    node["ip_address"].append(
        {
            "ifname": "docker0",
            "mtu": 1500,
            "flags": ["UP"],
            "addr_info": [{"family": "inet", "local": "10.244.128.1", "prefixlen": 20}],
        }
    )
    if hostile:
        node["hostname"] = node["os_release"]["PRETTY_NAME"] = node["kernel"] = hostile
        node["subnet_env"] += f"FLANNEL_X={hostile}\n"
        node["ip_address"].append({"ifname": hostile, "mtu": 1, "flags": [], "addr_info": []})
        bundle["nodes"][hostile] = {"hostname": hostile, "ip_address": node["ip_address"], "roles": [hostile]}
        bundle["cluster"]["nodes"]["items"][1]["metadata"]["labels"]["x"] = hostile
        bundle["cluster"]["network_policies"]["items"] = [{"metadata": {"name": hostile, "namespace": hostile}}]
        bundle["taken_at"] = hostile
    view = View(bundle)
    places = ["node2", *([hostile] if hostile else [])]
    return view, Verdict(
        findings=[
            finding(
                "forward-other-table",
                "error",
                places,
                hostile or "the table inet filter drops forwarded packets before flannel's accept is asked",
                evidence={"chain": hostile or "inet filter forward", "policy": "drop", "rules": {"a": "b\nc"}},
                repair="firewall:forward",
                consequences=[
                    finding(
                        "service-path-broken", "warning", places, hostile or "10.96.0.1:443 is not reached from pods"
                    )
                ],
            ),
            finding(
                "overlap-container-bridge",
                "warning",
                ["node2"],
                "docker0 has 10.244.128.0/20, which lies in the pod range 10.244.0.0/16",
                chapter="Address plan",
            ),
            finding("package-not-held", "info", ["node1", "node2", "node3"], "kubelet is not held", chapter="Hosts"),
        ],
        accepted=[finding("swap-on", "error", ["node3"], hostile or "swap is on", chapter="Hosts")],
        undetermined=[
            Undetermined(
                "cgroup-v1", ["node2"], "nodes.*.cgroup", "absent", hostile or "nodes.*.cgroup was not looked at"
            )
        ],
        hosts=sorted(bundle["nodes"]),
    )
