# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubernetes objects as ``kubectl get -o json`` lists them, with the fields that rules ask for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ._item import Item
from ._net import Address, Network, address, network
from ._part import kube_items
from ._texts import flags
from ._versions import image_name

FLANNEL_PREFIX = "flannel.alpha.coreos.com/"


class Object(Item):
    """Any object: name, namespace, labels, and the readers of `Item` for the rest."""

    @cached_property
    def name(self) -> str:
        return self.text("metadata", "name")

    @property
    def namespace(self) -> str:
        return self.text("metadata", "namespace")

    @property
    def labels(self) -> dict[str, str]:
        return self.map("metadata", "labels")


class KubeNode(Object):
    """A Node object."""

    @cached_property
    def pod_cidr_texts(self) -> list[str]:
        """spec.podCIDRs, or spec.podCIDR alone; empty where the controller manager assigned none."""
        one = self.text("spec", "podCIDR")
        return self.texts("spec", "podCIDRs") or ([one] if one else [])

    @cached_property
    def pod_networks(self) -> list[Network]:
        return [one for one in map(network, self.pod_cidr_texts) if one is not None]

    @cached_property
    def internal_addresses(self) -> list[Address]:
        """Its addresses of type InternalIP."""
        found = (
            address(one.text("address"))
            for one in self.items("status", "addresses")
            if one.text("type") == "InternalIP"
        )
        return [one for one in found if one is not None]

    @property
    def taints(self) -> list[Item]:
        return self.items("spec", "taints")

    def condition(self, kind: str) -> Item:
        """The condition of that type (Ready, NetworkUnavailable, ...), empty where there is none."""
        found = (one for one in self.items("status", "conditions") if one.text("type") == kind)
        return next(found, Item({}))

    def flannel(self, key: str) -> str:
        """Flannel's annotation ``key`` (public-ip, backend-type, backend-data, public-ip-overwrite, ...), or ""."""
        return self.text("metadata", "annotations", FLANNEL_PREFIX + key)

    @property
    def flannel_lease(self) -> bool:
        """Whether flannel ran on it. It annotates before it checks, so this proves no good lease."""
        return self.flannel("kube-subnet-manager") == "true"


class Pod(Object):
    """A Pod object."""

    @property
    def node_name(self) -> str:
        return self.text("spec", "nodeName")

    @property
    def phase(self) -> str:
        return self.text("status", "phase")

    @property
    def host_network(self) -> bool:
        return self.flag("spec", "hostNetwork") is True

    @cached_property
    def ready(self) -> bool:
        conditions = self.items("status", "conditions")
        return any(one.text("type") == "Ready" and one.text("status") == "True" for one in conditions)

    @property
    def containers(self) -> list[Item]:
        """Containers and init containers as the spec has them."""
        return self.items("spec", "initContainers") + self.items("spec", "containers")

    @property
    def statuses(self) -> list[Item]:
        """Statuses of containers and init containers."""
        return self.items("status", "initContainerStatuses") + self.items("status", "containerStatuses")

    @property
    def waiting(self) -> list[str]:
        """Why containers wait: CrashLoopBackOff, ImagePullBackOff, CreateContainerConfigError, ..."""
        return [reason for one in self.statuses if (reason := one.text("state", "waiting", "reason"))]

    @property
    def images(self) -> list[str]:
        return [image for one in self.containers if (image := one.text("image"))]

    @property
    def command_flags(self) -> dict[str, str]:
        """The flags of its first container, from command and args."""
        for one in self.items("spec", "containers"):
            return flags(one.texts("command") + one.texts("args"))
        return {}

    @property
    def addresses(self) -> list[Address]:
        found = [address(one.text("ip")) for one in self.items("status", "podIPs")] or [
            address(self.text("status", "podIP"))
        ]
        return [one for one in found if one is not None]


class DaemonSet(Object):
    """A DaemonSet object."""

    @property
    def pod_spec(self) -> Item:
        return self.item("spec", "template", "spec")

    @property
    def containers(self) -> list[Item]:
        """Containers and init containers of its template."""
        return self.pod_spec.items("initContainers") + self.pod_spec.items("containers")

    @property
    def images(self) -> list[str]:
        return [image for one in self.containers if (image := one.text("image"))]

    @property
    def is_flannel(self) -> bool:
        return runs_flannel(self.pod_spec.items("containers"))


def runs_flannel(containers: list[Item]) -> bool:
    """Whether one of the containers runs flanneld: by its command, or by the image's name where there is none."""
    for one in containers:
        command = one.texts("command") + one.texts("args")
        if any(word.rpartition("/")[2] == "flanneld" for word in command):
            return True
        if image_name(one.text("image")) in ("flannel", "mirrored-flannel", "mirrored-flannelcni-flannel"):
            return True
    return False


def nodes(raw: Any) -> list[KubeNode]:
    return [KubeNode(one.raw) for one in kube_items(raw)]


def pods(raw: Any) -> list[Pod]:
    return [Pod(one.raw) for one in kube_items(raw)]


def daemonsets(raw: Any) -> list[DaemonSet]:
    return [DaemonSet(one.raw) for one in kube_items(raw)]


def objects(raw: Any) -> list[Object]:
    return [Object(one.raw) for one in kube_items(raw)]
