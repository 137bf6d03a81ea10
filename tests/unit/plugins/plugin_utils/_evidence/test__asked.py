# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset, flannel_pod, remove_pods
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._asked import (
    Interfaces,
    backend,
    backend_option,
    component_pods,
    flannel_intent,
    flannel_nftables,
    interfaces,
    kubelet_asked,
    kubernetes_version,
    net_conf,
    pod_versions,
    proxy_mode,
)
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Missing
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

WIREGUARD = '{"Backend": {"Type": "wireguard", "MTU": 1400, "PSK": "x"}, "EnableNFTables": true}'


def cluster_with(text):
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = text
    return View(bundle)


def asking(**intent):
    """Hosts before there is a cluster, and what is asked of them."""
    return View({"intent": intent, "nodes": {"n1": {}}})


@pytest.mark.parametrize(
    ("view", "kind", "nftables", "mtu"),
    [
        (cluster_with(WIREGUARD), "wireguard", True, 1400),
        (asking(net_conf=WIREGUARD, flannel={"backend": "host-gw"}), "wireguard", True, 1400),
        (asking(flannel={"backend": "Host-GW", "enable_nftables": True, "mtu": "1300"}), "host-gw", True, 1300),
        (asking(kube_proxy_mode="nftables"), "vxlan", True, None),
        (asking(flannel={"enable_nftables": False}, kube_proxy_mode="nftables"), "vxlan", False, None),
        (asking(flannel=7, kube_proxy_mode=7), "vxlan", False, None),
    ],
)
def test_what_is_asked_of_flannel_by_the_cluster_else_by_the_intent(view, kind, nftables, mtu):
    assert (backend(view), flannel_nftables(view), backend_option(view, "MTU", "mtu")) == (kind, nftables, mtu)


def test_a_net_conf_that_cannot_be_read_leaves_the_intents():
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = "["
    assert net_conf(View(bundle)) is None and backend(View(bundle)) == "vxlan"
    bundle["intent"]["net_conf"] = WIREGUARD
    assert backend(View(bundle)) == "wireguard"


def test_a_backend_that_nobody_names_is_missing():
    with pytest.raises(Missing) as found:
        backend(View({"nodes": {"n1": {}}}))
    assert found.value.key == "cluster.flannel_config"
    assert not flannel_intent(View({}))


def test_flags_of_a_backend_are_flags():
    assert (
        backend_option(cluster_with('{"Backend": {"DirectRouting": false}}'), "DirectRouting", "direct_routing")
        is False
    )
    assert backend_option(asking(flannel={"direct_routing": True}), "DirectRouting", "direct_routing") is True
    assert backend_option(asking(), "DirectRouting", "direct_routing") is None


@pytest.mark.parametrize(
    ("proxy", "intent", "mode"),
    [
        ("mode: ipvs", {"kube_proxy_mode": "nftables"}, "ipvs"),
        ('mode: ""', {"kube_proxy_mode": "nftables"}, "iptables"),
        ("[", {"kube_proxy_mode": "nftables"}, "nftables"),
        (None, {}, "iptables"),
    ],
)
def test_the_mode_of_kube_proxy(proxy, intent, mode):
    assert proxy_mode(View({"cluster": {"kube_proxy_config": proxy}, "intent": intent})) == mode


def test_families_of_pods_are_those_of_the_nodes_else_of_the_ranges():
    bundle = healthy("cluster-dual")
    bundle["intent"]["pod_cidr"] = "10.244.0.0/16"
    assert pod_versions(View(bundle)) == {4, 6}
    for node in bundle["cluster"]["nodes"]["items"]:
        del node["spec"]["podCIDRs"], node["spec"]["podCIDR"]
    assert pod_versions(View(bundle)) == {4, 6}  # kubeadm-config's
    assert pod_versions(asking(pod_cidr="fd00::/56")) == {6}
    assert pod_versions(asking()) == set()


@pytest.mark.parametrize(
    ("host", "server", "asked", "version"),
    [
        ({"kubelet_version": "v1.35.1", "kubeadm_version": "v1.36.0"}, "v1.37.2", "1.37.2", "v1.35.1"),
        ({"kubelet_version": "unknown", "kubeadm_version": "v1.36.0"}, "v1.37.2", "1.37.2", "v1.36.0"),
        ({"kubeadm_version": 7}, "v1.37.2", "1.36", "v1.37.2"),
        ({}, "", "1.36", "v1.36.0"),
        ({}, "x", "latest", "None"),
        ({}, "", None, "None"),
    ],
)
def test_the_version_of_a_host_else_of_the_server_else_of_the_intent(host, server, asked, version):
    view = View(
        {
            "nodes": {"n1": host},
            "cluster": {"version": {"serverVersion": {"gitVersion": server}}},
            "intent": {"kubernetes_version": asked},
        }
    )
    assert str(kubernetes_version(view, view.nodes["n1"])) == version
    without = View({"intent": {"kubernetes_version": "1.34.0"}, "nodes": {"n1": {"kubelet_version": "v1.30.0"}}})
    assert str(kubernetes_version(without)) == "v1.34.0"


@pytest.mark.parametrize(
    ("intent", "swap"),
    [
        ({"kubeadm_config": "kind: A\n---\nkind: KubeletConfiguration\nfailSwapOn: false\n"}, False),
        (
            {"kubeadm_config": "kind: KubeletConfiguration\nfailSwapOn: true", "kubelet_config": {"failSwapOn": False}},
            False,
        ),
        ({"kubeadm_config": "kind: ClusterConfiguration\nfailSwapOn: false"}, None),
        ({"kubeadm_config": "[", "kubelet_config": 7}, None),
        ({}, None),
    ],
)
def test_the_kubelets_configuration_that_is_asked_for(intent, swap):
    assert kubelet_asked(asking(**intent)).flag("failSwapOn") is swap


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ([], Interfaces()),
        (["--iface=eth0", "--iface", "eth1", "-iface=eth2"], Interfaces(names=("eth0", "eth1", "eth2"))),
        (["--iface-regex=eth.*", "--iface-regex"], Interfaces(patterns=("eth.*",))),
        (["--iface-can-reach=10.0.0.1"], Interfaces(reach="10.0.0.1")),
        (["--public-ip=10.0.0.1"], Interfaces(public_ip=True)),
        (["--public-ipv6=fd00::1"], Interfaces(public_ip=True)),
        (["--iface="], Interfaces()),
    ],
)
def test_how_flannel_is_told_its_interface(words, asked):
    bundle = healthy()
    flannel_pod(bundle)["spec"]["containers"][0]["args"] += words
    assert interfaces(View(bundle), "node2") == asked
    assert interfaces(View(bundle), "node1") == Interfaces()
    assert asked.given is bool(words and not asked.public_ip and words != ["--iface="])


def test_the_interface_of_a_node_without_a_pod_is_that_of_the_daemonset_else_of_the_intent():
    bundle = healthy()
    daemonset(bundle)["spec"]["template"]["spec"]["containers"][0]["args"].append("--iface=eth7")
    assert interfaces(View(bundle), "node2").names == ()
    remove_pods(bundle, "kube-flannel-ds-", "node2")
    assert interfaces(View(bundle), "node2").names == ("eth7",)
    del bundle["cluster"]["daemonsets"]
    bundle["intent"]["flannel"]["interface"] = "eth8"
    assert interfaces(View(bundle), "node2").names == ("eth8",)


@pytest.mark.parametrize(
    ("flannel", "names", "patterns"),
    [
        ({"interface": ["eth0", "eth1"], "interface_regex": "en.*"}, ("eth0", "eth1"), ("en.*",)),
        ({"interface": "", "interface_regex": ["a", ""]}, (), ("a",)),
        ({}, (), ()),
    ],
)
def test_the_interface_that_is_asked_for_before_there_is_a_cluster(flannel, names, patterns):
    assert interfaces(asking(flannel=flannel)) == Interfaces(names, patterns)


def test_pods_of_components_on_a_node():
    view = View(healthy())
    found = component_pods(view, "node1", "etcd", "kube-proxy")
    assert {pod.name[:10] for pod in found} == {"etcd-node1", "kube-proxy"}
    assert component_pods(view, "node2", "etcd") == component_pods(view, "no such", "etcd") == []
