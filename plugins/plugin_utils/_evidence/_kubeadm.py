# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubeadm's own files: what a ClusterConfiguration says about addresses, and the keys that kubeadm would ignore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ._item import Item
from ._net import cidr_texts
from ._texts import yaml_documents

_COMPONENT = "extraArgs extraVolumes extraEnvs"
_NODE = "name criSocket taints kubeletExtraArgs ignorePreflightErrors imagePullPolicy imagePullSerial"
KNOWN: dict[str, dict[str, str]] = {
    "ClusterConfiguration": {
        "": "etcd networking kubernetesVersion controlPlaneEndpoint apiServer controllerManager scheduler dns proxy "
        "certificatesDir imageRepository featureGates clusterName encryptionAlgorithm certificateValidityPeriod "
        "caCertificateValidityPeriod",
        "networking": "serviceSubnet podSubnet dnsDomain",
        "controllerManager": _COMPONENT,
        "scheduler": _COMPONENT,
        "apiServer": f"{_COMPONENT} certSANs timeoutForControlPlane",
        "dns": "imageRepository imageTag disabled type",
        "proxy": "disabled",
    },
    "InitConfiguration": {
        "": "bootstrapTokens dryRun nodeRegistration localAPIEndpoint certificateKey skipPhases patches timeouts",
        "nodeRegistration": _NODE,
        "localAPIEndpoint": "advertiseAddress bindPort",
    },
    "JoinConfiguration": {
        "": "dryRun nodeRegistration caCertPath discovery controlPlane skipPhases patches timeouts",
        "nodeRegistration": _NODE,
    },
}
"""Keys of kubeadm's API v1beta3 and v1beta4 by kind and by the field they are in ("" for the document itself)."""

MASK_FLAGS = ("node-cidr-mask-size", "node-cidr-mask-size-ipv4", "node-cidr-mask-size-ipv6")


class ClusterConfiguration(Item):
    """kubeadm's ClusterConfiguration, of a user's file or of the ConfigMap kubeadm-config."""

    @property
    def pod_texts(self) -> list[str]:
        return cidr_texts(self.text("networking", "podSubnet"))

    @property
    def service_texts(self) -> list[str]:
        return cidr_texts(self.text("networking", "serviceSubnet"))

    def arguments(self, component: str) -> dict[str, str]:
        """extraArgs of a component (``controllerManager``): the list of v1beta4 or the mapping of older ones."""
        listed = {one.text("name"): str(one.get("value")) for one in self.items(component, "extraArgs")}
        return listed or self.map(component, "extraArgs")


class KubeadmFile:
    """A user's own kubeadm file: its documents, however damaged it is."""

    def __init__(self, raw: Any) -> None:
        if not isinstance(raw, str):
            raise ValueError(f"text is expected, a {type(raw).__name__} stands there")
        self.text = raw

    @cached_property
    def pieces(self) -> list[str]:
        """What lies between the lines ``---``."""
        return [piece for piece in re.split(r"(?m)^---(?:[ \t].*)?$", self.text) if piece.strip()]

    @cached_property
    def joined(self) -> list[list[str]]:
        """Kinds of pieces that hold more than one document, for want of a line ``---``."""
        kinds = [re.findall(r"(?m)^kind:\s*(\S+)", piece) for piece in self.pieces]
        return [found for found in kinds if len(found) > 1]

    @cached_property
    def documents(self) -> list[Item]:
        """Every document that can be read."""
        found = []
        for piece in self.pieces:
            try:
                found += yaml_documents(piece)
            except ValueError:
                continue
        return found

    @cached_property
    def unreadable(self) -> str:
        """Why a piece cannot be read, "" where all can."""
        for piece in self.pieces:
            try:
                yaml_documents(piece)
            except ValueError as error:
                return str(error)
        return ""

    @cached_property
    def cluster(self) -> ClusterConfiguration:
        """The ClusterConfiguration, empty where there is none."""
        found = (one for one in self.documents if one.text("kind") == "ClusterConfiguration")
        return ClusterConfiguration(next(found, Item({})).raw)

    def unknown_keys(self) -> Iterator[str]:
        """Keys that kubeadm does not know, as ``KIND.field.key``."""
        for document in self.documents:
            kind = document.text("kind")
            for field, known in KNOWN.get(kind, {}).items():
                place = document.item(field) if field else document
                names = set(known.split()) | ({"apiVersion", "kind"} if not field else set())
                yield from (".".join(filter(None, (kind, field, key))) for key in place if key not in names)


def cluster_configuration(raw: Any) -> ClusterConfiguration:
    """The ClusterConfiguration of a text; raises ValueError where it is no YAML."""
    documents = yaml_documents(raw)
    return ClusterConfiguration(documents[0].raw if documents else {})
