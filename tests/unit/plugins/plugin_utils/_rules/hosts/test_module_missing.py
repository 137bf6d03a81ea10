# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import flannel_pod, log, waits
from rules import findings, healthy, heard_alone, kubeadm_said, undetermined


def without(name, *keys, base="host"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    for key in keys or ("modules", "modules_available"):
        node[key] = [one for one in node[key] if one != name]
    return bundle, node


def test_br_netfilter_that_can_be_loaded_is_a_warning_before_the_cluster():
    bundle, node = without("br_netfilter", "modules")
    node["proc_net_bridge"] = False
    (found,) = findings("module-missing", bundle)
    assert (found.severity, found.where) == ("warning", ["node2"])
    assert "br_netfilter" in found.summary and "can load it" in found.summary


def test_on_a_member_it_is_an_error():
    bundle, node = without("br_netfilter", "modules", base="cluster")
    node["proc_net_bridge"] = False
    (found,) = findings("module-missing", bundle)
    assert found.severity == "error"


@pytest.mark.parametrize(
    ("backend", "module"), [("vxlan", "vxlan"), ("wireguard", "wireguard"), ("ipip", "ipip"), ("udp", "tun")]
)
def test_a_kernel_without_the_backends_module_is_an_error(backend, module):
    bundle, _node = without(module)
    bundle["intent"]["flannel"]["backend"] = backend
    (found,) = findings("module-missing", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert module in found.summary


def test_ipvs_mode_needs_its_modules():
    bundle, _node = without("ip_vs_rr")
    assert findings("module-missing", bundle) == []
    bundle["intent"]["kube_proxy_mode"] = "ipvs"
    assert "ip_vs_rr" in findings("module-missing", bundle)[0].summary


def test_a_backend_that_does_without_needs_none():
    bundle, _node = without("vxlan")
    bundle["intent"]["flannel"]["backend"] = "host-gw"
    assert findings("module-missing", bundle) == []


def test_a_link_proves_its_module():
    bundle, _node = without("vxlan", base="cluster")
    assert findings("module-missing", bundle) == []


def test_the_kernels_own_switch_proves_br_netfilter():
    bundle, _node = without("br_netfilter")
    assert findings("module-missing", bundle) == []


def test_conntrack_that_kube_proxy_misses_is_an_error():
    bundle, node = without("nf_conntrack", "modules", base="cluster")
    del node["sysctl"]["net.netfilter.nf_conntrack_max"]
    (found,) = findings("module-missing", bundle)
    assert found.severity == "error" and "nf_conntrack" in found.summary


def test_conntrack_not_yet_loaded_on_a_fresh_host_is_fine():
    bundle, node = without("nf_conntrack", "modules")
    node["sysctl"].pop("net.netfilter.nf_conntrack_max", None)
    assert findings("module-missing", bundle) == []


def test_without_the_keys_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node1"]["modules"]
    del bundle["nodes"]["node2"]["modules_available"]
    missed = undetermined("module-missing", bundle)
    assert [(one.where, one.key) for one in missed] == [
        (["node1"], "nodes.*.modules"),
        (["node2"], "nodes.*.modules_available"),
    ]


def test_words_of_a_node_whose_host_was_not_looked_at():
    bundle = healthy()
    pod = flannel_pod(bundle)
    log(
        bundle,
        pod,
        "Failed to check br_netfilter: stat /proc/sys/net/bridge/bridge-nf-call-iptables: no such file or directory",
    )
    waits(pod, "CrashLoopBackOff")
    assert [found.where for found in findings("module-missing", bundle)] == []
    del bundle["nodes"]["node2"]["modules"]
    assert [found.where for found in findings("module-missing", bundle)] == [["node2"]]
    del bundle["nodes"]["node2"]
    assert [found.where for found in findings("module-missing", bundle)] == [["node2"]]


def test_one_log_is_enough():
    words = "Failed to check br_netfilter: stat /proc/sys/net/bridge/bridge-nf-call-iptables: no such file or directory"
    assert findings("module-missing", heard_alone(words))[0].where == ["cluster"]


def test_kubeadms_words_are_enough():
    words = "[ERROR FileContent--x]: /proc/sys/net/bridge/bridge-nf-call-iptables does not exist"
    assert findings("module-missing", kubeadm_said(words, "modules", "proc_net_bridge"))[0].where == ["node1"]


def test_kube_proxys_words_about_ipvs():
    bundle = healthy()
    bundle["nodes"]["node3"]["journal"]["kubelet"] = (
        "can't use the IPVS proxier: IPVS proxier will not be used because the following required kernel "
        "modules are not loaded: [ip_vs_rr ip_vs_wrr]"
    )
    assert "ip_vs" in findings("module-missing", bundle)[0].summary
