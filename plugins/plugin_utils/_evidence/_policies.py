# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Network policies: who enforces them, and what they leave open for DNS."""

from __future__ import annotations

from ._item import Item
from ._kube import DaemonSet, Object
from ._versions import image_name

ENFORCERS = {
    "kube-network-policies": "flannel's policy add-on",
    "node": "Calico",
    "mirrored-calico-node": "Calico",
    "cilium": "Cilium",
    "kube-router": "kube-router",
    "weave-npc": "Weave Net",
    "antrea-agent": "Antrea",
    "antrea-agent-ubuntu": "Antrea",
    "antrea-ubuntu": "Antrea",
    "kube-ovn": "Kube-OVN",
}
"""Image names of what enforces policies; ``node`` counts only below ``calico``."""


def enforcers(daemonsets: list[DaemonSet]) -> dict[str, str]:
    """DaemonSets that enforce network policies: ``NAMESPACE/NAME`` and what they are."""
    found = {}
    for one in daemonsets:
        for image in one.images:
            name = image_name(image)
            if name in ENFORCERS and (name != "node" or "calico" in image):
                found[f"{one.namespace}/{one.name}"] = ENFORCERS[name]
    return found


def selects(selector: Item, labels: dict[str, str]) -> bool:
    """Whether a label selector matches; an empty one matches everything."""
    if any(labels.get(key) != value for key, value in selector.map("matchLabels").items()):
        return False
    return all(_expression(one, labels.get(one.text("key"))) for one in selector.items("matchExpressions"))


def _expression(one: Item, value: str | None) -> bool:
    operator = one.text("operator")
    if operator in ("In", "NotIn"):
        return (value in one.texts("values")) is (operator == "In")
    return (value is not None) is (operator == "Exists")


def applies(policy: Object, direction: str, labels: dict[str, str]) -> bool:
    """Whether the policy isolates pods with these labels in a direction, ``Ingress`` or ``Egress``."""
    default = ["Ingress", "Egress"] if policy.items("spec", "egress") else ["Ingress"]
    types = policy.texts("spec", "policyTypes") or default
    return direction in types and selects(policy.item("spec", "podSelector"), labels)


def lets_dns(policy: Object, direction: str) -> bool:
    """Whether a rule of the policy may let DNS (port 53) through, to or from anybody: peers are not looked at."""
    rules = policy.items("spec", direction.lower())
    return any(not rule.items("ports") or any(_dns_port(port) for port in rule.items("ports")) for rule in rules)


def _dns_port(port: Item) -> bool:
    number, name = port.number("port"), port.text("port")
    end = port.number("endPort")
    if number is None:
        return not name or name.startswith("dns")
    return number <= 53 <= (end or number)
