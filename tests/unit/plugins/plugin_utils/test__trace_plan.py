# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._trace_plan import TraceError, TracePlan, plan

BASE = json.loads((Path(__file__).parent / "fixtures" / "trace" / "base.json").read_text())
SERVICE = "10.107.41.253"


def planned(target: str, source: str = "shop/client", hosts: dict[str, str] | None = None) -> TracePlan:
    return plan(BASE["cluster"], BASE["hosts"] if hosts is None else hosts, source, target, 12345)


@pytest.mark.parametrize(
    "target, kind, address, port, end",
    [
        ("shop/web", "pod", "10.244.1.3", 8080, ("shop/web", 8080, "n2")),
        ("shop/web:81", "pod", "10.244.1.3", 81, ("shop/web", 81, "n2")),
        ("10.244.1.3:81", "pod", "10.244.1.3", 81, ("shop/web", 81, "n2")),
        ("shop/near", "pod", "10.244.0.5", 80, ("shop/near", 80, "n1")),
        ("web", "service", SERVICE, 80, ("shop/web", 8080, "n2")),
        (f"{SERVICE}:80", "service", SERVICE, 80, ("shop/web", 8080, "n2")),
        ("default/kubernetes", "service", "10.96.0.1", 443, ("", 6443, "n1")),
        ("10.211.3.12:10250", "address", "10.211.3.12", 10250, ("", 10250, "n2")),
        ("192.0.2.7:443", "address", "192.0.2.7", 443, ("", 443, "")),
    ],
)
def test_what_people_write(target: str, kind: str, address: str, port: int, end: tuple[str, int, str]) -> None:
    found = planned(target)
    assert (found.kind, found.address, found.port) == (kind, address, port)
    assert [(one.pod, one.port, one.host) for one in found.ends] == [end]
    assert (found.source.address, found.source.host, found.source.port) == ("10.244.0.6", "n1", 12345)
    assert (found.backend, found.tunnel, found.vxlan_port) == ("vxlan", "flannel.1", 8472)


def test_both_hosts_are_watched_with_their_pods() -> None:
    assert planned("web").watch == {"n1": ["shop/client"], "n2": ["shop/web"]}
    assert planned("shop/near").watch == {"n1": ["shop/client", "shop/near"]}
    assert planned("192.0.2.7:443").watch == {"n1": ["shop/client"]}


def test_hosts_with_other_names_are_known_by_their_addresses() -> None:
    found = planned("shop/web", hosts={"first": "10.211.3.11", "second": "10.211.3.12"})
    assert found.watch == {"first": ["shop/client"], "second": ["shop/web"]}


def test_a_pod_on_a_host_that_is_not_in_the_play_is_planned_without_it() -> None:
    found = planned("shop/web", hosts={"n1": ""})
    assert (found.watch, found.ends[0].host) == ({"n1": ["shop/client"]}, "")


def test_peers_are_what_the_service_stands_for() -> None:
    assert planned("web").as_dict()["peers"] == ["10.244.1.3 8080"]
    assert planned("shop/web").as_dict()["peers"] == []


@pytest.mark.parametrize(
    "source, target, said",
    [
        ("client", "shop/web", "trace_from=client is no NAMESPACE/POD"),
        ("shop/clientx", "shop/web", "namespace shop has no pod clientx; it has client"),
        ("nowhere/x", "shop/web", "namespace nowhere has no pod x; it has none"),
        ("shop/client", "shop/nothing", "neither a pod nor a service shop/nothing"),
        ("shop/client", "shop/web:http", "'http' is no port"),
        ("shop/client", "192.0.2.7", "needs a port: 192.0.2.7:PORT"),
        ("shop/client", "web:81", "the service has no TCP port 81; it has 80"),
        ("shop/client", "[fd42::5]:80", "no family of addresses in common"),
    ],
)
def test_what_cannot_be_traced_gets_a_sentence(source: str, target: str, said: str) -> None:
    with pytest.raises(TraceError) as caught:
        planned(target, source)
    assert said in str(caught.value)


def test_a_pod_in_its_hosts_network_is_refused() -> None:
    pods = BASE["cluster"]["pods"]["items"]
    name = next(one["metadata"]["name"] for one in pods if one["metadata"]["namespace"] == "kube-flannel")
    with pytest.raises(TraceError, match="is in its host's network"):
        planned("shop/web", f"kube-flannel/{name}")


def test_the_source_has_to_be_on_a_host_of_the_play() -> None:
    with pytest.raises(TraceError, match="on node n1, and no host of the play is that node"):
        planned("shop/web", hosts={"other": "192.0.2.1"})


def test_a_cluster_that_does_not_answer() -> None:
    with pytest.raises(TraceError, match="is the API server up"):
        plan({}, {"n1": ""}, "a/b", "c/d", 12345)


def test_a_service_without_a_ready_pod() -> None:
    cluster: dict[str, Any] = json.loads(json.dumps(BASE["cluster"]))
    for pod in cluster["pods"]["items"]:
        pod["status"]["conditions"] = []
    with pytest.raises(TraceError, match="no pod of the service is ready"):
        plan(cluster, BASE["hosts"], "shop/client", "web", 12345)
