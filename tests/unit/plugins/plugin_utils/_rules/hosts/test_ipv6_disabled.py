# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined


def off(base="cluster"):
    bundle = healthy(base)
    node = bundle["nodes"]["node2"]
    node["sysctl"] = {key: value for key, value in node["sysctl"].items() if "ipv6" not in key}
    for link in node["ip_address"]:
        link["addr_info"] = [one for one in link["addr_info"] if one["family"] == "inet"]
    return bundle, node


def test_dual_stack_on_a_host_without_ipv6():
    bundle, _node = off("cluster-dual")
    (found,) = findings("ipv6-disabled", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_switched_off_by_the_kernels_switch():
    bundle = healthy("cluster-dual")
    bundle["nodes"]["node2"]["sysctl"]["net.ipv6.conf.all.disable_ipv6"] = "1"
    assert findings("ipv6-disabled", bundle)


def test_an_ipv4_cluster_does_not_mind():
    bundle, _node = off()
    assert findings("ipv6-disabled", bundle) == []


def test_a_plugin_that_minds():
    bundle, node = off()
    node["journal"]["kubelet"] = "open /proc/sys/net/ipv6/conf/eth0/accept_dad: no such file or directory"
    (found,) = findings("ipv6-disabled", bundle)
    assert "trips" in found.summary


def test_a_release_that_minds_is_told_before_the_cluster():
    bundle, _node = off("host")
    bundle["intent"]["flannel"]["version"] = "v0.24.3"
    (found,) = findings("ipv6-disabled", bundle)
    assert "v0.24.3" in found.summary


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["sysctl"]
    assert [missed.key for missed in undetermined("ipv6-disabled", bundle)] == ["nodes.*.sysctl"]
