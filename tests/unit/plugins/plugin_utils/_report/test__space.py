# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress
import re

from reports import broken
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._facts import ClusterFacts, HostFacts
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._model import model
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._space import ranges, segments
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._svg import enlarged, space


def meeting(entries):
    return {(entry["network"], entries[i]["network"]) for entry in entries for i in entry["meets"]}


def host(name, *pairs):
    return HostFacts(name, ranges=[(kind, label, ipaddress.ip_network(text)) for kind, label, text in pairs])


def test_what_must_not_meet_is_told_on_both_sides():
    cluster = ClusterFacts(
        pods=["10.96.0.0/11"],
        services=["10.96.0.0/12"],
        node_ranges=[("n1", "10.97.0.0/24"), ("n2", "10.97.0.0/24"), ("n3", "10.97.1.0/24")],
    )
    entries = ranges(cluster, [host("n1", ("nodes", "eth0", "10.97.9.0/24"), ("bridge", "docker0", "172.17.0.0/16"))])
    assert meeting(entries) == {
        ("10.96.0.0/11", "10.96.0.0/12"),
        ("10.96.0.0/12", "10.96.0.0/11"),
        ("10.97.0.0/24", "10.97.0.0/24"),
        ("10.97.9.0/24", "10.96.0.0/11"),
        ("10.96.0.0/11", "10.97.9.0/24"),
        ("10.97.9.0/24", "10.96.0.0/12"),
        ("10.96.0.0/12", "10.97.9.0/24"),
    }


def test_a_network_of_many_hosts_is_one_range():
    entries = ranges(ClusterFacts(), [host(name, ("nodes", "eth0", "10.0.0.0/24")) for name in ("a", "b")])
    assert [(entry["network"], entry["hosts"]) for entry in entries] == [("10.0.0.0/24", ["a", "b"])]


def test_flannels_network_is_drawn_where_it_is_not_the_pods():
    same = ClusterFacts(pods=["10.244.0.0/16"], flannel_network=["10.244.0.0/16"])
    assert [entry["kind"] for entry in ranges(same, [])] == ["pods"]
    other = ClusterFacts(pods=["10.42.0.0/16"], flannel_network=["10.244.0.0/16"])
    entries = ranges(other, [])
    assert [(entry["kind"], entry["network"]) for entry in entries] == [
        ("pods", "10.42.0.0/16"),
        ("flannel", "10.244.0.0/16"),
    ]
    assert "Flannel" in space(entries, 4)


def test_nothing_of_a_healthy_cluster_meets():
    for base in ("cluster", "cluster-dual", "cluster-docker"):
        view, verdict = broken(healthy(base))
        view.bundle["nodes"]["node2"]["ip_address"].pop()
        assert meeting(model(view, verdict)["address_space"]) == set(), base


def test_stretches_are_apart_and_hold_every_range():
    entries = [{"network": text} for text in ("10.244.0.0/16", "10.244.3.0/24", "10.245.0.0/16", "192.168.0.0/24")]
    first = int(ipaddress.ip_address("10.244.0.0"))
    assert segments(entries) == [(first, first + 2**17 - 1), (3232235520, 3232235775)]


def test_the_picture_stays_in_its_frame_and_marks_what_meets():
    entries = model(*broken(healthy("cluster-dual")))["address_space"]
    for family in (4, 6):
        for drawn in (space(entries, family), enlarged(entries, family)):
            for x, width in re.findall(r'<rect [^>]*?x="([\d.]+)" y="\d+" width="([\d.]+)"', drawn):
                assert float(x) >= 0 and float(x) + float(width) <= 1000.5
    assert space(entries, 4).count('class="range pods bad"') == 1
    assert space(entries, 6).count("bad") == 0
    assert "none meets one that it must not" in space(entries, 6)


def test_thousands_of_ranges_are_drawn_bounded():
    cluster = ClusterFacts(
        pods=["10.0.0.0/8"], node_ranges=[(f"n{i}", f"10.{i // 256}.{i % 256}.0/24") for i in range(5000)]
    )
    entries = ranges(cluster, [])
    assert len(entries) == 5001
    assert len(space(entries, 4)) < 200_000 and len(enlarged(entries, 4)) < 200_000
