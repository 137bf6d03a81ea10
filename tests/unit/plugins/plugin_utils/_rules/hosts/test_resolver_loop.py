# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined

STUB = "nameserver 127.0.0.53\noptions edns0 trust-ad\n"
LOOP = '[FATAL] plugin/loop: Loop (127.0.0.1:34536 -> :53) detected for zone "."\n'


def stub(base="cluster", text=STUB):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["resolv_conf"] = text
    return bundle


def test_a_stub_and_a_loop():
    bundle = stub()
    bundle["cluster"]["logs"]["kube-system/coredns-559f6c778d-27jl2/coredns"] = LOOP
    (found,) = findings("resolver-loop", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_stub_with_a_coredns_that_does_not_mind():
    assert [found.severity for found in findings("resolver-loop", stub())] == ["warning"]


def test_before_the_cluster_it_is_a_warning_unless_kubeadm_avoids_it():
    bundle = stub("host")
    assert [found.severity for found in findings("resolver-loop", bundle)] == ["warning"]
    bundle["nodes"]["node2"]["units"]["systemd-resolved"] = {"active": "active", "enabled": "enabled"}
    assert findings("resolver-loop", bundle) == []


def test_real_resolvers():
    assert findings("resolver-loop", healthy()) == []


def test_the_api_alone():
    bundle = healthy()
    bundle["nodes"] = {}
    bundle["cluster"]["logs"]["kube-system/coredns-1/coredns"] = LOOP
    assert [found.where for found in findings("resolver-loop", bundle)] == [["cluster"]]


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["resolv_conf"]
    assert [missed.key for missed in undetermined("resolver-loop", bundle)] == ["nodes.*.resolv_conf"]


def test_a_loop_that_no_host_is():
    bundle = healthy()
    bundle["cluster"]["logs"]["kube-system/coredns-x/coredns"] = (
        "[FATAL] plugin/loop: Loop (127.0.0.1:1 -> :53) detected"
    )
    (found,) = findings("resolver-loop", bundle)
    assert found.where == ["cluster"]
    assert "coredns" in found.remedy
