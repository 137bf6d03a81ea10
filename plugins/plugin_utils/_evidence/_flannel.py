# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's net-conf.json as flanneld reads it (pkg/subnet/config.go): keys in any case, unknown ones ignored."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ._item import Item
from ._net import Network, network
from ._texts import json_object

_KEYS = """
EnableIPv4 EnableIPv6 EnableNFTables Network IPv6Network SubnetMin SubnetMax IPv6SubnetMin IPv6SubnetMax SubnetLen
IPv6SubnetLen Backend
"""
KEYS = {key.lower(): key for key in _KEYS.split()}
"""The keys that flanneld knows, by their lower case."""


class NetConf(Item):
    """net-conf.json; the readers of `Item` take the keys as the file writes them, the properties as flanneld does."""

    def __init__(self, raw: dict[str, Any], path: str = "") -> None:
        known = {KEYS[key.lower()]: value for key, value in raw.items() if key.lower() in KEYS}
        super().__init__({**raw, **known}, path)
        self.unknown = [key for key in raw if key.lower() not in KEYS]

    @property
    def enable_ipv4(self) -> bool:
        return self.flag("EnableIPv4") is not False

    @property
    def enable_ipv6(self) -> bool:
        return self.flag("EnableIPv6") is True

    @property
    def enable_nftables(self) -> bool:
        return self.flag("EnableNFTables") is True

    @cached_property
    def networks(self) -> list[Network]:
        """The networks of the families that are enabled: IPv4 first."""
        texts = [self.text("Network")] * self.enable_ipv4 + [self.text("IPv6Network")] * self.enable_ipv6
        return [one for one in map(network, texts) if one is not None]

    @property
    def backend(self) -> Item:
        """The Backend object."""
        return self.item("Backend")

    @property
    def backend_type(self) -> str:
        """vxlan, host-gw, wireguard, ...; a missing Backend means udp (parseBackendType)."""
        return self.backend.text("Type").lower() or "udp"


def net_conf(raw: Any) -> NetConf:
    """Parses the text; raises ValueError where it is no JSON object."""
    return NetConf(json_object(raw).raw)


def manifest_net_conf(documents: list[Item]) -> str:
    """The text of net-conf.json in the ConfigMap of a manifest, "" where there is none."""
    every = [one for document in documents for one in (document, *document.items("items"))]
    return next((text for one in every if (text := one.text("data", "net-conf.json"))), "")


class FlannelConfig:
    """ConfigMap kube-flannel-cfg: ``namespace``, ``net_conf`` and ``cni_conf`` parsed, the texts beside them."""

    def __init__(self, raw: Any) -> None:
        if not isinstance(raw, dict):
            raise ValueError(f"a mapping is expected, a {type(raw).__name__} stands there")
        config = Item(raw, "cluster.flannel_config")
        self.namespace = config.text("namespace")
        self.net_conf_text = config.text("net-conf.json")
        self.cni_conf_text = config.text("cni-conf.json")
        self._config = config

    @cached_property
    def net_conf(self) -> NetConf:
        """Raises `Missing` where the key is absent and ValueError where the text is no JSON object."""
        return net_conf(self._config.need("net-conf.json", kind=str))

    @cached_property
    def cni_conf(self) -> Item:
        return json_object(self._config.need("cni-conf.json", kind=str))
