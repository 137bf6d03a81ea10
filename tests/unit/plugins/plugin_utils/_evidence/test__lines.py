# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from edits import event, flannel_pod, log, not_ready, objects, pods
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._cluster import Cluster
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._lines import by_node, unescaped

TAKEN = datetime(2026, 11, 30, 15, 50, tzinfo=timezone.utc)


def said(bundle, now=TAKEN):
    return by_node(Cluster(bundle["cluster"]), now)


def about_node(bundle, name, **more):
    about = {"kind": "Node", "name": name}
    objects(bundle, "events").append({"type": "Warning", "message": "m", "involvedObject": about, **more})


def test_a_healthy_cluster_said_nothing():
    assert said(healthy()) == {}


def test_lines_of_a_log_are_said_on_the_pods_node():
    bundle = healthy()
    log(bundle, flannel_pod(bundle), "one\ntwo\n")
    bundle["cluster"]["logs"] |= {"kube-flannel/gone/kube-flannel": "three", "no pod": "four"}
    assert said(bundle) == {"node2": ["one", "two"]}


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("2026-11-30T15:49:40Z", True),
        ("2026-11-30T15:35:00Z", True),
        ("2026-11-30T15:34:59Z", False),
        ("2026-11-30T16:34:59+01:00", False),
        ("2026-11-30T15:34:59", True),  # of no zone
        ("yesterday", True),
    ],
)
def test_an_event_is_told_for_a_quarter_of_an_hour(last, told):
    for key in ("lastTimestamp", "eventTime"):
        bundle = healthy()
        about_node(bundle, "node3", **{key: last})
        assert said(bundle) == ({"node3": ["m"]} if told else {})
        assert said(bundle, None) == {"node3": ["m"]}


def test_an_event_is_told_where_its_pod_is_and_until_that_is_ready():
    bundle = healthy()
    web = pods(bundle, "web-", "node2")[0]
    event(bundle, web["metadata"]["name"], "failed to set up sandbox")
    assert said(bundle) == {}
    not_ready(web)
    assert said(bundle) == {"node2": ["failed to set up sandbox"]}


def test_an_event_about_a_pod_that_is_gone_is_told_where_its_source_is():
    bundle = healthy()
    event(bundle, "gone", "m")
    assert said(bundle) == {}
    objects(bundle, "events")[-1]["source"] = {"component": "kubelet", "host": "node1"}
    assert said(bundle) == {"node1": ["m"]}


@pytest.mark.parametrize("change", [{"type": "Normal"}, {"message": ""}, {"message": None}, {"involvedObject": 7}])
def test_what_is_no_warning_of_something_is_left_out(change):
    bundle = healthy()
    about_node(bundle, "node1")
    objects(bundle, "events")[-1].update(change)
    assert said(bundle) == {}


@pytest.mark.parametrize(
    ("gone", "lines"),
    [
        ((), ["a log", "an event"]),
        (("logs",), ["an event"]),
        (("events",), ["a log"]),
        (("pods",), ["an event"]),
        (("logs", "events"), None),
    ],
)
def test_what_was_not_looked_at_says_nothing(gone, lines):
    bundle = healthy()
    log(bundle, flannel_pod(bundle), "a log")
    about_node(bundle, "node2", message="an event", lastTimestamp=(TAKEN - timedelta(minutes=1)).isoformat())
    for key in gone:
        del bundle["cluster"][key]
    assert said(bundle).get("node2") == lines


def test_words_that_were_quoted_again_are_read_as_they_were_said():
    assert unescaped(r'err="nodes \\\"n2\\\" is forbidden"') == 'err="nodes "n2" is forbidden"'
    assert unescaped(r"C:\k") == r"C:\k"


def test_events_are_read_as_they_were_said_too():
    bundle = healthy()
    about_node(bundle, "node2", message=r"nodes \\\"n2\\\" is forbidden", lastTimestamp=TAKEN.isoformat())
    assert said(bundle)["node2"] == ['nodes "n2" is forbidden']
