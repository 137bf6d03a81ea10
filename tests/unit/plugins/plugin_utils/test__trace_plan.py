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
        ("shop/client", "shop/web:nix", "'nix' is no port"),
        ("shop/client", "shop/web:0", "'0' is no port"),
        ("shop/client", "shop/web:", "no port behind its colon"),
        ("shop/client", "web:80/sctp", "'sctp' cannot be traced; tcp or udp is expected"),
        ("shop/client", "web:80/udp", "the service has no UDP port 80; it has 80/tcp"),
        ("n1", "10.211.3.11:22", "are both node n1"),
        ("shop/client", "192.0.2.7", "needs a port: 192.0.2.7:PORT"),
        ("shop/client", "web:81", "the service has no TCP or UDP port 81; it has 80/tcp"),
        ("shop/client", "[fd42::5]:80", "no family of addresses in common"),
    ],
)
def test_what_cannot_be_traced_gets_a_sentence(source: str, target: str, said: str) -> None:
    with pytest.raises(TraceError) as caught:
        planned(target, source)
    assert said in str(caught.value)


def test_a_pod_in_its_hosts_network_is_its_node() -> None:
    pods = BASE["cluster"]["pods"]["items"]
    pod = next(one for one in pods if one["metadata"]["namespace"] == "kube-flannel")
    node = pod["spec"]["nodeName"]
    found = planned("shop/web", f"kube-flannel/{pod['metadata']['name']}")
    assert (found.source.pod, found.source.node, found.watch[node]) == ("", node, ["shop/web"] if node == "n2" else [])
    assert planned("shop/web", node).source == found.source


@pytest.mark.parametrize("asked", ["53", "dns", "53/udp", "dns/UDP", ""])
def test_ports_have_names_and_protocols(asked: str) -> None:
    cluster: dict[str, Any] = json.loads(json.dumps(BASE["cluster"]))
    service = next(one for one in cluster["services"]["items"] if one["metadata"]["name"] == "web")
    service["spec"]["ports"] = [
        {"name": "dns", "protocol": "UDP", "port": 53, "targetPort": 5353},
        {"name": "dns-tcp", "protocol": "TCP", "port": 54, "targetPort": 5354},
    ]
    found = plan(cluster, BASE["hosts"], "shop/client", f"web:{asked}" if asked else "web", 12345, 0x12345678)
    wanted = (53, "udp", 5353, 0x5678) if asked else (54, "tcp", 5354, 0x12345678)
    assert (found.port, found.protocol, found.ends[0].port, found.sequence) == wanted


def test_the_family_of_an_address_is_kept() -> None:
    cluster: dict[str, Any] = json.loads(json.dumps(BASE["cluster"]))
    for pod in cluster["pods"]["items"]:
        if pod["metadata"]["namespace"] == "shop":
            pod["status"]["podIPs"].append({"ip": f"fd42::{pod['metadata']['name'] == 'web':d}"})
    found = plan(cluster, BASE["hosts"], "shop/client", "[fd42::1]:80", 12345)
    assert (found.address, found.source.address, [one.address for one in found.ends]) == (
        "fd42::1",
        "fd42::",
        ["fd42::1"],
    )


@pytest.mark.parametrize("phase, said", [("Pending", "has no address yet"), ("Succeeded", "has ended")])
def test_a_pod_that_does_not_run(phase: str, said: str) -> None:
    cluster: dict[str, Any] = json.loads(json.dumps(BASE["cluster"]))
    for pod in cluster["pods"]["items"]:
        pod["status"]["phase"] = phase
    for source, target in (("shop/client", "shop/web"), ("n1", "shop/web")):
        with pytest.raises(TraceError, match=said):
            plan(cluster, BASE["hosts"], source, target, 12345)


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
