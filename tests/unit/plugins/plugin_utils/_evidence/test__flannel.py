# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._flannel import (
    FlannelConfig,
    manifest_net_conf,
    net_conf,
)
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._item import Item
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Missing


def test_keys_in_any_case_and_defaults_as_flanneld_has_them():
    conf = net_conf('{"network": "10.244.0.0/16", "BACKEND": {"Type": "VXLAN"}, "comment": 1}')
    assert [str(one) for one in conf.networks] == ["10.244.0.0/16"]
    assert (conf.enable_ipv4, conf.enable_ipv6, conf.enable_nftables) == (True, False, False)
    assert (conf.backend_type, conf.unknown) == ("vxlan", ["comment"])


def test_without_a_backend_it_is_udp():
    assert net_conf("{}").backend_type == "udp"


@pytest.mark.parametrize("text", ["", "[]", "7", "{"])
def test_what_is_no_object_raises_a_sentence(text):
    with pytest.raises(ValueError, match="no JSON"):
        net_conf(text)


def test_a_config_map_without_the_key_is_missing():
    with pytest.raises(Missing):
        _read = FlannelConfig({"namespace": "kube-flannel"}).net_conf


def test_net_conf_of_a_manifest_also_inside_a_list():
    config = {"kind": "ConfigMap", "data": {"net-conf.json": "{}"}}
    assert manifest_net_conf([Item({"kind": "Namespace"}), Item(config)]) == "{}"
    assert manifest_net_conf([Item({"kind": "List", "items": [config]})]) == "{}"
    assert manifest_net_conf([]) == ""
