# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


def used():
    """A host that is in no cluster any more, with all that a member has."""
    bundle = healthy("host")
    member = healthy()["nodes"]["node2"]
    node = bundle["nodes"]["node2"]
    return bundle, node, member


def test_a_prepared_host_has_none():
    assert findings("reset-leftovers", healthy("host")) == []


@pytest.mark.parametrize("name", ["cni0", "flannel.1"])
def test_links(name):
    bundle, node, member = used()
    node["ip_address"] += [link for link in member["ip_address"] if link["ifname"] == name]
    (found,) = findings("reset-leftovers", bundle)
    assert (found.severity, found.where) == ("warning", ["node2"])
    assert name in found.summary


def test_chains_in_either_backend():
    for key in ("nft", "legacy"):
        bundle, node, member = used()
        node["iptables"][key] = member["iptables"]["nft"]
        (found,) = findings("reset-leftovers", bundle)
        assert "FLANNEL-FWD" in found.evidence["chains"]


def test_chains_that_a_kubelet_alone_makes():
    bundle, node, _member = used()
    node["iptables"]["nft"] = "*mangle\n:KUBE-IPTABLES-HINT - [0:0]\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n"
    assert findings("reset-leftovers", bundle) == []


def test_files_that_kubeadm_stops_at():
    bundle, node, _member = used()
    node["kubernetes_files"] += ["/etc/kubernetes/pki/ca.crt", "/var/lib/etcd/member"]
    (found,) = findings("reset-leftovers", bundle)
    assert found.evidence == {"files": ["/etc/kubernetes/pki/ca.crt", "/var/lib/etcd/member"]}


def test_a_member_without_its_api_server_is_no_leftover():
    bundle = healthy()
    bundle["stage"] = "host"
    del bundle["cluster"]
    assert findings("reset-leftovers", bundle) == []


def test_a_host_that_was_never_reset():
    bundle, node, _member = used()
    node["kubernetes_files"].append("/etc/kubernetes/kubelet.conf")
    assert findings("reset-leftovers", bundle) == []
    node["kubeadm_output"] = "[ERROR FileAvailable--etc-kubernetes-kubelet.conf]: kubelet.conf already exists"
    (found,) = findings("reset-leftovers", bundle)
    assert found.evidence == {"files": ["/etc/kubernetes/kubelet.conf"]}


def test_links_of_another_network_on_a_member():
    bundle = healthy()
    bundle["nodes"]["node2"]["ip_address"].append({"ifname": "weave", "addr_info": []})
    (found,) = findings("reset-leftovers", bundle)
    assert "Weave Net" in found.summary


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["kubernetes_files"]
    assert [missed.key for missed in undetermined("reset-leftovers", bundle)] == ["nodes.*.kubernetes_files"]
