# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

import pytest
from edits import flannel_pod, kube_node, log
from rules import healthy, heard_alone

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._said import (
    heard,
    heard_without_host,
    places,
    refused,
    said_on,
    said_without_host,
    told,
)
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

SIGN = re.compile("no space left")


def spoken():
    """Lines of flannel on every node, and of the kubelet and the kernel on node2."""
    bundle = healthy()
    for node in ("node1", "node2", "node3"):
        log(bundle, flannel_pod(bundle, node), f"flannel on {node}\n  {node}: no space left  \n")
    bundle["nodes"]["node2"]["journal"] = {"kubelet": "a\nb: no space left", "kernel": "c"}
    return bundle


def host_of(bundle, name="node2"):
    view = View(bundle)
    return view, view.nodes[name]


def test_a_host_says_what_its_components_and_its_journals_say():
    assert said_on(*host_of(spoken())) == ["flannel on node2", "  node2: no space left  ", "a", "b: no space left", "c"]


@pytest.mark.parametrize(
    ("where", "key", "first", "last"),
    [
        ("host", "journal", "flannel on node2", "  node2: no space left  "),
        ("cluster", "logs", "a", "c"),
        ("cluster", "pods", "a", "c"),
        ("cluster", "nodes", "flannel on node2", "c"),  # the host's own name leads to them
    ],
)
def test_what_was_not_looked_at_says_nothing(where, key, first, last):
    bundle = spoken()
    del (bundle["nodes"]["node2"] if where == "host" else bundle["cluster"])[key]
    lines = said_on(*host_of(bundle))
    assert (lines[0], lines[-1]) == (first, last)


def test_a_host_that_the_inventory_calls_otherwise_says_the_same():
    bundle = spoken()
    before = said_on(*host_of(bundle))
    bundle["nodes"]["second"] = {**bundle["nodes"].pop("node2"), "hostname": "other"}
    assert said_on(*host_of(bundle, "second")) == before
    kube_node(bundle, "node2")["status"]["addresses"] = []
    assert said_on(*host_of(bundle, "second")) == ["a", "b: no space left", "c"]


def test_the_first_line_with_a_sign_is_heard():
    bundle = spoken()
    assert heard(*host_of(bundle), SIGN) == "node2: no space left"
    assert heard(*host_of(bundle), re.compile("b: no")) == "b: no space left"
    assert heard(*host_of(bundle), re.compile("another")) == ""


def test_of_a_long_line_the_end_is_heard():
    bundle = spoken()
    bundle["nodes"]["node2"]["journal"]["kubelet"] = "x" * 400 + "no space at all"
    line = heard(*host_of(bundle), re.compile("at all"))
    assert line.endswith("xno space at all") and len(line) == 300


def test_nodes_without_evidence_from_their_host_speak_through_the_cluster():
    bundle = spoken()
    for name in ("node1", "node2"):
        del bundle["nodes"][name]
    del bundle["cluster"]["logs"][f"kube-flannel/{flannel_pod(bundle, 'node1')['metadata']['name']}/kube-flannel"]
    bundle["nodes"]["node3.example"] = bundle["nodes"].pop("node3")
    view = View(bundle)
    every = [(place, node.name, lines[0]) for place, node, lines in said_without_host(view)]
    assert every == [("node2", "node2", "flannel on node2")]
    signs = [(place, node.name, line) for place, node, line in heard_without_host(view, SIGN)]
    assert signs == [("node2", "node2", "node2: no space left")]
    assert list(heard_without_host(view, re.compile("another"))) == []


def test_a_log_is_of_the_cluster_where_its_pod_is_not_known():
    view = View(heard_alone("it broke"))
    assert told(view, re.compile("broke")).keys() == {"cluster"}
    assert [(place, lines) for place, _node, lines in said_without_host(view)] == [("cluster", ["it broke"])]


def test_a_pod_that_is_gone_says_nothing():
    bundle = healthy()
    bundle["cluster"]["logs"] = {"kube-flannel/kube-flannel-ds-gone/kube-flannel": "it broke"}
    assert told(View(bundle), re.compile("broke")) == {}


def test_an_event_is_of_the_host_that_it_names():
    event = {"involvedObject": {"kind": "Pod", "name": "x"}, "message": "it broke", "source": {"host": "n1"}}
    view = View({"stage": "cluster", "cluster": {"events": {"items": [event]}}})
    assert told(view, re.compile("broke")).keys() == {"n1"}
    assert [place for place, _node, _lines in said_without_host(view)] == ["n1"]


def test_without_node_objects_the_names_of_those_that_spoke_are_the_nodes():
    bundle = spoken()
    del bundle["cluster"]["nodes"], bundle["nodes"]["node2"]
    (one,) = said_without_host(View(bundle))
    assert (one[0], one[1].name, one[2][0]) == ("node2", "node2", "flannel on node2")


def test_what_is_said_nobody_knows_where_is_said_in_the_cluster():
    bundle = spoken()
    del bundle["cluster"]["pods"]
    (one,) = said_without_host(View(bundle))
    assert (one[0], one[1].name) == ("cluster", "")
    assert {"flannel on node1", "flannel on node2", "flannel on node3"} <= set(one[2])
    assert [place for place, _node, _line in heard_without_host(View(bundle), SIGN)] == ["cluster"]
    assert list(told(View(bundle), SIGN)) == ["cluster"]


def test_what_is_told_of_any_node_comes_by_place_with_the_first_match():
    bundle = spoken()
    del bundle["nodes"]["node1"]
    bundle["nodes"]["node3.example"] = bundle["nodes"].pop("node3")
    found = told(View(bundle), re.compile(r"(node\d): no space"))
    assert {place: match[1] for place, match in found.items()} == {
        "node1": "node1",
        "node2": "node2",
        "node3.example": "node3",
    }
    assert told(View(bundle), re.compile("another")) == {}


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("[preflight]\n  [ERROR Swap]: no space left  \nno space left at all\n", "[ERROR Swap]: no space left"),
        ("x" * 400 + "no space left", "x" * 287 + "no space left"),
        ("[preflight] fine\n", ""),
        (None, ""),
    ],
)
def test_what_kubeadm_refused_is_the_first_line_with_the_sign(output, line):
    bundle = spoken()
    bundle["nodes"]["node2"]["kubeadm_output"] = output
    assert refused(host_of(bundle)[1], SIGN) == line


def test_the_whole_clusters_place_comes_first_and_once():
    assert places(["node2", "node1"]) == ("cluster", "node2", "node1")
    assert places({"cluster": "a line", "node1": "another"}) == ("cluster", "node1")
