# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._host import Host
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._rules.hosts._modules import available, joined, present
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View


def host(**changes):
    raw = healthy()["nodes"]["node2"] | {"ip_address": None, "proc_net_bridge": None, "sysctl": None} | changes
    return Host({key: value for key, value in raw.items() if value is not None}, "node2")


def link(kind):
    return [{"ifname": "x", "addr_info": [], "linkinfo": {"info_kind": kind}}]


@pytest.mark.parametrize(
    ("changes", "modules"),
    [
        ({"modules": ["br-netfilter", "vxlan"]}, {"br_netfilter", "vxlan"}),
        ({"modules": [], "ip_address": link("wireguard")}, {"wireguard"}),
        ({"modules": [], "ip_address": link("bond")}, set()),
        ({"modules": [], "proc_net_bridge": True}, {"br_netfilter"}),
        ({"modules": [], "proc_net_bridge": False}, set()),
        ({"modules": [], "sysctl": {"net.netfilter.nf_conntrack_max": "1"}}, {"nf_conntrack"}),
        ({"modules": [], "sysctl": {"net.ipv4.ip_forward": "1"}}, set()),
    ],
)
def test_modules_that_are_loaded_or_shown_by_what_only_they_make(changes, modules):
    assert present(host(**changes)) == modules


def test_modules_that_could_be_loaded():
    assert available(host(modules=["a-b"], modules_available=["c-d"], proc_net_bridge=True)) == {
        "a_b",
        "c_d",
        "br_netfilter",
    }


@pytest.mark.parametrize(
    ("read", "key"), [(present, "modules"), (available, "modules"), (available, "modules_available")]
)
def test_without_the_list_they_are_missing(read, key):
    with pytest.raises(Missing) as found:
        read(host(**{key: None}))
    assert found.value.key == f"nodes.node2.{key}"


KUBECONFIG = ["/etc/kubernetes/kubelet.conf"]


@pytest.mark.parametrize(
    ("stage", "files", "node", "member"),
    [
        ("host", KUBECONFIG, "none", True),
        ("host", [], "none", False),
        ("host", None, "there", False),
        ("cluster", [], "there", True),
        ("cluster", [], "other", False),
        ("cluster", None, "other", False),
        ("cluster", None, "none", True),
        ("cluster", [], "none", False),
    ],
)
def test_whether_a_host_is_a_member(stage, files, node, member):
    bundle = healthy()
    bundle["stage"] = stage
    bundle["nodes"]["node2"]["kubernetes_files"] = files
    if node == "none":
        del bundle["cluster"]["nodes"]
    if node == "other":
        bundle["cluster"]["nodes"]["items"] = []
    view = View(bundle)
    assert joined(view.nodes["node2"], view) is member
