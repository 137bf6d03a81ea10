# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory asks for (``intent``): the collection's variables as the user wrote them, before any default,
or a user's own files in their place."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .._finding import Malformed, Missing
from ._flannel import NetConf, manifest_net_conf, net_conf
from ._item import Item
from ._kubeadm import ClusterConfiguration, KubeadmFile
from ._net import Network, cidr_texts, networks
from ._part import Key, Part, item, text, text_map, whole
from ._texts import yaml_documents


class Intent(Part):
    """The intent. Reading an attribute that the user did not set raises `Missing`."""

    def __init__(self, raw: Any) -> None:
        super().__init__(raw, "intent")

    kubernetes_version = Key(text)
    pod_cidr: Key[list[str]] = Key(cidr_texts)
    service_cidr: Key[list[str]] = Key(cidr_texts)
    node_mask = Key(whole)
    node_mask_v6 = Key(whole)
    max_pods = Key(whole)
    planned_nodes = Key(whole)
    cluster_dns: Key[list[str]] = Key(cidr_texts)
    control_plane_endpoint = Key(text)
    cluster_domain = Key(text)
    flannel: Key[Item] = Key(item)
    kube_proxy_mode = Key(text)
    cri_socket = Key(text)
    pod_network_cidr_flag = Key(text)
    kubeadm_file: Key[KubeadmFile] = Key(KubeadmFile, "kubeadm_config")
    manifest = Key(yaml_documents)
    unknown_variables = Key(text_map)
    invalid_variables = Key(text_map)
    own_net_conf: Key[NetConf] = Key(net_conf, "net_conf")

    @cached_property
    def kubeadm(self) -> ClusterConfiguration:
        """The ClusterConfiguration of the user's own kubeadm file, empty where there is none."""
        return self.kubeadm_file.cluster if self.has("kubeadm_config") else ClusterConfiguration({})

    @cached_property
    def pod_texts(self) -> list[str]:
        """The pod ranges as written: of the variable, the user's own kubeadm file, or the flag on its command line;
        empty where none of them names one."""
        if self.has("pod_cidr"):
            return self.pod_cidr
        if found := self.kubeadm.pod_texts:
            return found
        return cidr_texts(self.pod_network_cidr_flag) if self.has("pod_network_cidr_flag") else []

    @cached_property
    def service_texts(self) -> list[str]:
        """The service ranges as written, in the same order; empty where kubeadm's default is meant."""
        return self.service_cidr if self.has("service_cidr") else self.kubeadm.service_texts

    def pod_networks(self) -> list[Network]:
        """The pod ranges that can be read. Raises `Missing` where none is named, `Malformed` where none is one."""
        if not self.pod_texts:
            raise Missing("intent.pod_cidr")
        found = networks(self.pod_texts)
        if not found:
            raise Malformed("intent.pod_cidr", f"{', '.join(self.pod_texts)} is no network")
        return found

    def service_networks(self) -> list[Network]:
        """The service ranges that can be read; raises as `pod_networks` does."""
        if not self.service_texts:
            raise Missing("intent.service_cidr")
        found = networks(self.service_texts)
        if not found:
            raise Malformed("intent.service_cidr", f"{', '.join(self.service_texts)} is no network")
        return found

    @property
    def has_net_conf(self) -> bool:
        """Whether the user brings a net-conf.json, alone or in a manifest."""
        return self.has("net_conf") or bool(self.net_conf_text)

    @cached_property
    def net_conf_text(self) -> str:
        """The text of the user's own net-conf.json, "" where there is none."""
        if self.has("net_conf"):
            return str(self.raw["net_conf"])
        return manifest_net_conf(self.manifest) if self.has("manifest") else ""

    @property
    def net_conf(self) -> NetConf:
        """The user's own net-conf.json; raises `Missing` or `Malformed`."""
        if self.has("net_conf"):
            return self.own_net_conf
        if not self.net_conf_text:
            raise Missing("intent.net_conf")
        try:
            return net_conf(self.net_conf_text)
        except ValueError as error:
            raise Malformed("intent.manifest", f"its net-conf.json is {error}") from error
