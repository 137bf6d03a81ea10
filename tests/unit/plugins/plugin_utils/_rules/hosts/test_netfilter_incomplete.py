# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from edits import flannel_pod, log, waits
from rules import findings, healthy, undetermined


def lacking(*names, base="host"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    for key in ("modules", "modules_available"):
        node[key] = [one for one in node[key] if one not in names]
    return bundle, node


LEGACY = ("ip_tables", "iptable_filter", "iptable_nat")


def test_a_kernel_without_any_iptables_is_an_error():
    bundle, node = lacking(*LEGACY, "nft_compat", "x_tables")
    node["iptables"]["selected"] = "none"
    (found,) = findings("netfilter-incomplete", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_tools_that_point_to_tables_which_the_kernel_lacks():
    bundle, node = lacking(*LEGACY)
    node["iptables"]["selected"] = "legacy"
    (found,) = findings("netfilter-incomplete", bundle)
    assert "legacy backend" in found.summary


def test_no_legacy_tables_are_no_fault_with_the_nft_backend():
    bundle, _node = lacking(*LEGACY)
    assert findings("netfilter-incomplete", bundle) == []


def test_a_match_that_is_missing():
    bundle, _node = lacking("xt_statistic")
    (found,) = findings("netfilter-incomplete", bundle)
    assert "xt_statistic" in found.summary


def test_the_old_name_of_masquerade_does():
    bundle, node = lacking("xt_MASQUERADE")
    node["modules_available"].append("ipt_MASQUERADE")
    assert findings("netfilter-incomplete", bundle) == []


def test_rules_in_the_kernel_prove_that_it_can():
    bundle, _node = lacking(*LEGACY, "nft_compat", "x_tables", "xt_statistic", base="cluster")
    assert findings("netfilter-incomplete", bundle) == []


def test_nftables_mode_needs_its_own_parts():
    bundle, node = lacking("nft_fib", "nft_fib_ipv4")
    assert findings("netfilter-incomplete", bundle) == []
    bundle["intent"]["kube_proxy_mode"] = "nftables"
    (found,) = findings("netfilter-incomplete", bundle)
    assert "nft_fib" in found.summary
    node["kernel"] = "5.10.0-36-amd64"
    (found,) = findings("netfilter-incomplete", bundle)
    assert "5.13" in found.summary


def test_a_kernel_that_loads_nothing_is_not_judged_by_its_list():
    bundle, node = lacking("xt_statistic")
    node["modules_available"] = []
    assert findings("netfilter-incomplete", bundle) == []


def test_portmap_told_to_use_nftables_needs_nft():
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    conf = json.loads(node["cni_config"]["10-flannel.conflist"])
    conf["plugins"][1]["backend"] = "nftables"
    node["cni_config"]["10-flannel.conflist"] = json.dumps(conf)
    assert findings("netfilter-incomplete", bundle) == []
    del node["packages"]["nftables"], node["nft"]
    (found,) = findings("netfilter-incomplete", bundle)
    assert found.where == ["node2"]


@pytest.mark.parametrize(
    "line",
    [
        'no nftables support: could not find nftables binary: exec: "nft": executable file not found in $PATH',
        "modprobe: FATAL: Module ip_tables not found in directory /lib/modules/6.12",
        "Extension MASQUERADE revision 0 not supported, missing kernel module?",
        "line 3: RULE_APPEND failed (No such file or directory): rule in chain FLANNEL-POSTRTG",
        "iptables v1.8.7 (nf_tables):  CHAIN_ADD failed (No such file or directory): chain PREROUTING",
        'ip6tables-restore v1.8.2 (nf_tables): unknown option \\"--random-fully\\"',
        "Couldn't load match `comment':No such file or directory",
        "Failed to setup IPTables. iptables-restore binary was not found: not found",
        'err="iptables is not available on this host"',
        "kube-proxy in nftables mode requires kernel 5.13 or later",
    ],
)
def test_a_component_that_says_so(line):
    bundle = healthy()
    pod = next(one for one in bundle["cluster"]["pods"]["items"] if one["metadata"]["name"] == "kube-proxy-td92x")
    bundle["cluster"]["logs"] = {f"kube-system/{pod['metadata']['name']}/kube-proxy": line}
    (found,) = findings("netfilter-incomplete", bundle)
    assert found.where == [pod["spec"]["nodeName"]]


@pytest.mark.parametrize(
    "line",
    [
        "iptables v1.8.6 (legacy): Couldn't load target `FLANNEL-FWD':No such file or directory",
        '"Error cleaning up nftables rules" err="could not find nftables binary: exec: nft not found"',
    ],
)
def test_words_about_a_chain_that_is_gone_or_a_mode_that_is_not_used(line):
    bundle = healthy()
    bundle["cluster"]["logs"] = {"kube-system/kube-proxy-td92x/kube-proxy": line}
    assert findings("netfilter-incomplete", bundle) == []


def test_without_the_keys_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["iptables"]
    assert [missed.key for missed in undetermined("netfilter-incomplete", bundle)] == ["nodes.*.iptables"]


def test_words_of_a_node_whose_host_was_not_looked_at():
    bundle = healthy()
    pod = flannel_pod(bundle)
    log(
        bundle,
        pod,
        "iptables v1.8.11 (legacy): can't initialize iptables table `nat': Table does not exist (do you need",
    )
    waits(pod, "CrashLoopBackOff")
    assert [found.where for found in findings("netfilter-incomplete", bundle)] == [["node2"]]
    del bundle["nodes"]["node2"]
    assert [found.where for found in findings("netfilter-incomplete", bundle)] == [["node2"]]
