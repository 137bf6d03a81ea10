# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, heard_of_node2, kubeadm_said, undetermined


def listening(line, name="node1", base="host"):
    bundle = healthy(base)
    bundle["nodes"][name]["listening"].append(line)
    return bundle


@pytest.mark.parametrize(
    "line",
    [
        "tcp LISTEN 0 4096 *:10250 *:*",
        "tcp LISTEN 0 4096 0.0.0.0:6443 0.0.0.0:*",
        "tcp LISTEN 0 4096 [::]:2379 [::]:*",
        "udp UNCONN 0 0 0.0.0.0:8472 0.0.0.0:*",
    ],
)
def test_a_port_that_will_be_needed(line):
    (found,) = findings("port-taken", listening(line))
    assert (found.severity, found.where) == ("error", ["node1"])


@pytest.mark.parametrize(
    "line",
    [
        "tcp LISTEN 0 4096 192.168.10.100:6443 0.0.0.0:*",
        "tcp LISTEN 0 4096 127.0.0.1:2379 0.0.0.0:*",
        "udp UNCONN 0 0 0.0.0.0:6443 0.0.0.0:*",
        "tcp LISTEN 0 4096 0.0.0.0:80 0.0.0.0:*",
        "garbage",
    ],
)
def test_what_looks_like_it(line):
    assert findings("port-taken", listening(line)) == []


@pytest.mark.parametrize(("port", "taken"), [(51820, False), (51999, True), (8472, False)])
def test_of_wireguard_the_port_that_is_asked_for(port, taken):
    bundle = listening(f"udp UNCONN 0 0 0.0.0.0:{port} 0.0.0.0:*")
    bundle["intent"]["flannel"] |= {"backend": "wireguard", "port": 51999}
    assert bool(findings("port-taken", bundle)) is taken
    bundle["intent"]["net_conf"] = '{"Backend": {"Type": "wireguard", "ListenPort": 51999}}'
    assert bool(findings("port-taken", bundle)) is taken


def test_a_worker_needs_no_port_of_the_control_plane():
    assert findings("port-taken", listening("tcp LISTEN 0 4096 *:6443 *:*", "node2")) == []


def test_a_members_ports_are_its_own():
    bundle = healthy()
    bundle["nodes"]["node1"]["kubeadm_output"] = "[ERROR Port-6443]: Port 6443 is in use"
    assert findings("port-taken", bundle) == []


def test_a_kubelet_that_finds_its_port_taken():
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    node["journal"]["kubelet"] = '"Failed to listen" err="listen tcp 0.0.0.0:10250: bind: address already in use"'
    assert findings("port-taken", bundle) == []
    node["units"]["kubelet"]["active"] = "failed"
    assert [found.where for found in findings("port-taken", bundle)] == [["node2"]]


def vxlan(name, **data):
    bundle = healthy()
    link = {"ifname": name, "addr_info": [], "linkinfo": {"info_kind": "vxlan", "info_data": {"port": 8472, **data}}}
    bundle["nodes"]["node2"]["ip_address"].append(link)
    return bundle


def test_a_device_that_takes_all_vnis():
    (found,) = findings("port-taken", vxlan("cilium_vxlan", external=True))
    assert "cilium_vxlan" in found.summary


def test_a_device_with_a_vni_of_its_own():
    assert findings("port-taken", vxlan("vxlan42", id=42)) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["listening"]
    assert [missed.key for missed in undetermined("port-taken", bundle)] == ["nodes.*.listening"]


def test_a_kubelet_that_starts_again_and_again_for_its_port():
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    node["journal"]["kubelet"] = "listen tcp 0.0.0.0:10250: bind: address already in use"
    assert findings("port-taken", bundle) == []
    node["units"]["kubelet"]["active"] = "activating"
    assert [found.where for found in findings("port-taken", bundle)] == [["node2"]]


def test_kubeadms_words_are_enough():
    bundle = kubeadm_said("[ERROR Port-10250]: Port 10250 is in use", "listening")
    assert findings("port-taken", bundle)[0].where == ["node1"]


def test_the_port_of_flannels_health_check():
    words = "panic: listen tcp 0.0.0.0:8081: bind: address already in use"
    bundle = heard_of_node2(words, "journal")
    assert "8081" in findings("port-taken", bundle)[0].summary
    pods = bundle["cluster"]["pods"]["items"]
    twin = next(
        one for one in pods if one["metadata"]["name"].startswith("kube-flannel") and one["spec"]["nodeName"] == "node2"
    )
    pods.append({**twin, "metadata": {**twin["metadata"], "name": "kube-flannel-old", "namespace": "kube-system"}})
    assert findings("port-taken", bundle) == []  # flannel-duplicate


def test_a_port_is_no_others_while_flannel_works():
    bundle = healthy()
    links = bundle["nodes"]["node2"]["ip_address"]
    bundle["nodes"]["node2"]["ip_address"] = [one for one in links if one["ifname"] != "flannel.1"]
    assert findings("port-taken", bundle) == []
