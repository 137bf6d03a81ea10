# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy, undetermined

FORWARD = "net.ipv4.ip_forward"
BRIDGE = "net.bridge.bridge-nf-call-iptables"


def kept(values, base="cluster"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["sysctl_persistent"] = values
    return bundle


def test_forwarding_that_no_file_sets_is_a_warning():
    (found,) = findings("sysctl-not-persistent", kept({}))
    assert (found.severity, found.where) == ("warning", ["node2"])
    assert found.evidence["after a boot"] == {FORWARD: "0"}


def test_a_file_that_sets_it_back_is_named():
    (found,) = findings("sysctl-not-persistent", kept({FORWARD: "1", BRIDGE: "0"}))
    assert found.evidence["after a boot"] == {BRIDGE: "0"}


def test_docker_sets_forwarding_itself_but_not_against_a_file():
    assert findings("sysctl-not-persistent", kept({}, "cluster-docker")) == []
    assert findings("sysctl-not-persistent", kept({FORWARD: "0"}, "cluster-docker"))


def test_a_wrong_running_value_has_another_code():
    bundle = kept({FORWARD: "0"})
    bundle["nodes"]["node2"]["sysctl"][FORWARD] = "0"
    assert findings("sysctl-not-persistent", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["sysctl_persistent"]
    assert [missed.key for missed in undetermined("sysctl-not-persistent", bundle)] == ["nodes.*.sysctl_persistent"]
