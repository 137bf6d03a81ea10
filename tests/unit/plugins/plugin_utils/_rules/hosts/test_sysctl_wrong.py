# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def setting(name, value, base="cluster"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["sysctl"][name] = value
    return bundle


def test_ipv6_forwarding_counts_where_pods_have_ipv6():
    (found,) = findings("sysctl-wrong", setting("net.ipv6.conf.all.forwarding", "0", "cluster-dual"))
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence["needed"] == {"net.ipv6.conf.all.forwarding": "1"}


def test_ipv6_switches_do_not_matter_without_ipv6():
    assert findings("sysctl-wrong", setting("net.bridge.bridge-nf-call-ip6tables", "0")) == []


def test_forwarding_of_flannels_link_alone():
    (found,) = findings("sysctl-wrong", setting("net.ipv4.conf.flannel/1.forwarding", "0"))
    assert "flannel/1" in found.summary


def test_a_foreign_links_forwarding_is_its_own():
    assert findings("sysctl-wrong", setting("net.ipv4.conf.eth7.forwarding", "0")) == []


def test_what_the_kubelet_insists_on():
    bundle = setting("vm.overcommit_memory", "0")
    assert findings("sysctl-wrong", bundle) == []
    bundle["nodes"]["node2"]["kubelet_config"] += "protectKernelDefaults: true\n"
    (found,) = findings("sysctl-wrong", bundle)
    assert found.evidence["running"] == {"vm.overcommit_memory": "0"}


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["sysctl"]
    assert [missed.key for missed in undetermined("sysctl-wrong", bundle)] == ["nodes.*.sysctl"]
