# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory asks for (``intent``): the collection's variables as the user wrote them, before any default."""

from __future__ import annotations

from typing import Any

from ._flannel import NetConf, net_conf
from ._item import Item
from ._net import Network, network
from ._part import Key, Part, boolean, item, text, whole
from ._texts import yaml_documents


def cidr_texts(raw: Any) -> list[str]:
    """A range or two: a text, "a,b" or a list of texts."""
    parts = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(parts, list):
        raise ValueError(f"a text or a list is expected, a {type(raw).__name__} stands there")
    return [str(part).strip() for part in parts if str(part).strip()]


class Intent(Part):
    """The intent. Reading an attribute that the user did not set raises `Missing`."""

    def __init__(self, raw: Any) -> None:
        super().__init__(raw, "intent")

    kubernetes_version = Key(text)
    pod_cidr = Key(cidr_texts)
    service_cidr = Key(cidr_texts)
    node_mask = Key(whole)
    node_mask_v6 = Key(whole)
    max_pods = Key(whole)
    planned_nodes = Key(whole)
    cluster_dns = Key(cidr_texts)
    control_plane_endpoint = Key(text)
    cluster_domain = Key(text)
    flannel: Key[Item] = Key(item)
    kube_proxy_mode = Key(text)
    cri_socket = Key(text)
    pod_network_cidr_flag = Key(text)
    kubeadm_config = Key(yaml_documents)
    net_conf: Key[NetConf] = Key(net_conf)
    manifest = Key(yaml_documents)
    enable_nftables = Key(boolean)

    def pod_networks(self) -> list[Network]:
        """The pod ranges that can be read."""
        return [one for one in map(network, self.pod_cidr) if one is not None]

    def service_networks(self) -> list[Network]:
        return [one for one in map(network, self.service_cidr) if one is not None]
