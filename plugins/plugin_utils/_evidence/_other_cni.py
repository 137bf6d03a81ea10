# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DaemonSets of other pod networks than flannel, told by their containers' images."""

from __future__ import annotations

from ._kube import DaemonSet
from ._versions import image_name

_NETWORKS = {
    "calico/node": "Calico",
    "cilium/cilium": "Cilium",
    "weave-kube": "Weave Net",
    "kube-router": "kube-router",
    "antrea-agent": "Antrea",
    "antrea-ubuntu": "Antrea",
    "antrea-agent-ubuntu": "Antrea",
    "kube-ovn": "Kube-OVN",
    "ovn-kubernetes": "OVN-Kubernetes",
    "kindnetd": "kindnet",
    "amazon-k8s-cni": "Amazon VPC CNI",
    "azure-cns": "Azure CNI",
}
"""Image name, or last two parts of its path where the name alone says too little, and the network it belongs to."""


def other_networks(daemonsets: list[DaemonSet]) -> dict[str, str]:
    """``NAMESPACE/NAME`` of DaemonSets that run another pod network, with that network's name. A DaemonSet that runs
    flannel too (Canal) is flannel's."""
    found = {}
    for one in daemonsets:
        for image in [] if one.is_flannel else [item.text("image") for item in one.pod_spec.items("containers")]:
            network = _NETWORKS.get(image_name(image)) or _NETWORKS.get(_two_parts(image))
            if network:
                found[f"{one.namespace}/{one.name}"] = network
    return found


def runs_canal(daemonsets: list[DaemonSet]) -> bool:
    """Whether Calico's agent runs beside flanneld in one DaemonSet: pods have Calico's links and flannel's ranges."""
    return any(one.is_flannel and any("calico" in image for image in one.images) for one in daemonsets)


def _two_parts(image: str) -> str:
    path = image.partition("@")[0].rpartition("/")[0].rpartition("/")[2]
    return f"{path}/{image_name(image)}"
