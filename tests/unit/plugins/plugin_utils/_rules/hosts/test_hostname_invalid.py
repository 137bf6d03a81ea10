# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, kubeadm_said, undetermined


def named(name, base="host"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["hostname"] = name
    return bundle


@pytest.mark.parametrize("name", ["node_2", "-node2", "node2.", "knöten", "(none)", "a" * 64])
def test_a_name_that_no_node_can_have_is_an_error(name):
    (found,) = findings("hostname-invalid", named(name))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_host_that_was_given_no_name_is_a_warning():
    assert [found.severity for found in findings("hostname-invalid", named("localhost.localdomain"))] == ["warning"]


def test_capitals_are_a_warning_that_says_the_nodes_name():
    (found,) = findings("hostname-invalid", named("Node2"))
    assert found.severity == "warning"
    assert "registered as node2" in found.summary


@pytest.mark.parametrize("name", ["node2.example.com", "n-2", "2", "a" * 63])
def test_a_dns_name_is_fine(name):
    assert findings("hostname-invalid", named(name)) == []


def test_the_kubelets_own_name_counts():
    bundle = named("node_2", "cluster")
    bundle["nodes"]["node2"]["kubelet_flags"] = 'KUBELET_EXTRA_ARGS="--hostname-override=node2"\n'
    assert findings("hostname-invalid", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["hostname"]
    (missed,) = undetermined("hostname-invalid", bundle)
    assert missed.key == "nodes.*.hostname"


def test_kubeadms_words_are_enough():
    words = 'nodeRegistration.name: Invalid value: "Node_2": a lowercase RFC 1123 subdomain must consist of'
    assert "Node_2" in findings("hostname-invalid", kubeadm_said(words))[0].summary
