# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What unit tests of rules share: healthy evidence to start from, and the findings of one rule over it."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Finding, Undetermined
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import load_rules
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

BASES = Path(__file__).resolve().parents[3] / "field-cases" / "base"


@functools.cache
def _base(name: str) -> str:
    return (BASES / f"{name}.json").read_text()


def healthy(name: str = "cluster") -> dict[str, Any]:
    """A fresh copy of a healthy bundle: intent, host, cluster, cluster-docker or cluster-dual."""
    bundle: dict[str, Any] = json.loads(_base(name))
    return bundle


def findings(code: str, bundle: dict[str, Any]) -> list[Finding]:
    """What the rule of that code finds in the bundle; a fault of the rule fails the test."""
    return judge(View(bundle), {code: load_rules()[code]}, strict=True).findings


def undetermined(code: str, bundle: dict[str, Any]) -> list[Undetermined]:
    """What the rule of that code cannot tell from the bundle."""
    return judge(View(bundle), {code: load_rules()[code]}, strict=True).undetermined


def heard_alone(line: str, container: str = "kube-flannel/kube-flannel-ds-x/kube-flannel") -> dict[str, Any]:
    """A cluster of which one log is all there is."""
    return {"format": 1, "taken_at": "2026-11-30T15:50:00Z", "stage": "cluster", "cluster": {"logs": {container: line}}}


def heard_of_node2(line: str, *absent: str) -> dict[str, Any]:
    """A healthy cluster in which flannel on node2 is not ready and says that; node2 without some keys, or without any
    where none is named."""
    bundle = healthy()
    for pod in bundle["cluster"]["pods"]["items"]:
        if pod["spec"].get("nodeName") == "node2" and pod["metadata"]["namespace"] == "kube-flannel":
            name = pod["metadata"]["name"]
            for one in pod["status"]["conditions"]:
                one["status"] = "False"
    bundle["cluster"]["logs"][f"kube-flannel/{name}/kube-flannel"] = line
    for key in absent:
        bundle["nodes"]["node2"].pop(key)
    if not absent:
        bundle["nodes"].pop("node2")
    return bundle


def kubeadm_said(line: str, *absent: str) -> dict[str, Any]:
    """Healthy hosts without a cluster, of which node1 was refused by kubeadm and was not asked for some keys."""
    bundle = healthy("host")
    bundle["nodes"]["node1"]["kubeadm_output"] = line
    for key in absent:
        bundle["nodes"]["node1"].pop(key)
    return bundle
