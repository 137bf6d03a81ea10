# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The same case under other names and addresses, with noise: what a rule says must not hang on the bases' own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

NOISE = {
    "kubelet": 'E1130 15:46:03 kubelet.go] "Container runtime network not ready" err="cni plugin not initialized"\n'
    'E1130 15:46:05 controller.go] "Failed to ensure lease exists, will retry" err="connect: connection refused"\n',
    "containerd": 'level=error msg="failed to load cni during init" error="no network config found"\n',
    "kernel": "kernel: cni0: port 2(veth544d87f6) entered blocking state\n",
}
Pair = tuple[dict[str, Any], Any]


def replaced(*pairs: tuple[str, str]) -> Callable[[dict[str, Any], Any], Pair]:
    """Replaces patterns in all of the evidence and in the places that are expected."""

    def change(evidence: dict[str, Any], where: Any) -> Pair:
        texts = [json.dumps(evidence), json.dumps(where)]
        for pattern, other in pairs:
            texts = [re.sub(pattern, other, text) for text in texts]
        return json.loads(texts[0]), json.loads(texts[1])

    return change


def noisy(evidence: dict[str, Any], where: Any) -> Pair:
    """Lines that every healthy start leaves, in front of what the journals hold."""
    for node in evidence.get("nodes", {}).values():
        if isinstance(journal := node.get("journal"), dict):
            node["journal"] = {**journal, **{name: text + journal.get(name, "") for name, text in NOISE.items()}}
    return evidence, where


VARIATIONS: dict[str, Callable[[dict[str, Any], Any], Pair]] = {
    "links": replaced((r"\beth0\b", "ens18")),
    "addresses": replaced((r"192\.168\.10\.", "10.11.12.")),
    "ranges": replaced((r"10\.244\.", "172.30."), (r"10\.96\.0\.0/12", "10.112.0.0/12"), (r"10\.96\.", "10.112.")),
    "hosts": replaced((r"\bnode1\b", "cp-a"), (r"\bnode2\b", "wrk-b"), (r"\bnode3\b", "wrk-c")),
    "domain": replaced((r'"node([123])"', r'"node\1.example.com"'), (r'-node([123])"', r'-node\1.example.com"')),
    "noise": noisy,
}
