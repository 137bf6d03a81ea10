# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset, flannel_pod, kube_node, pods, waits
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence import _kube
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._item import Item
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._kube import (
    DaemonSet,
    KubeNode,
    Object,
    Pod,
    runs_flannel,
)


def node(base="cluster-dual"):
    return KubeNode(kube_node(healthy(base), "node2"))


def test_an_object_has_a_name_and_labels_and_reads_empty_without():
    one = Object(pods(healthy(), "coredns-")[0])
    assert (one.name.partition("-")[0], one.namespace, one.labels["k8s-app"]) == ("coredns", "kube-system", "kube-dns")
    assert (Object({}).name, Object({}).namespace, Object({}).labels) == ("", "", {})


@pytest.mark.parametrize(
    ("spec", "texts", "networks"),
    [
        ({"podCIDR": "10.244.1.0/24"}, ["10.244.1.0/24"], ["10.244.1.0/24"]),
        (
            {"podCIDR": "10.244.1.0/24", "podCIDRs": ["10.244.1.0/24", "fd00::/64"]},
            ["10.244.1.0/24", "fd00::/64"],
            None,
        ),
        ({"podCIDRs": ["x", "10.244.1.0/24"]}, ["x", "10.244.1.0/24"], ["10.244.1.0/24"]),
        ({}, [], []),
    ],
)
def test_the_pod_ranges_of_a_node(spec, texts, networks):
    one = KubeNode({"spec": spec})
    assert one.pod_cidr_texts == texts
    assert [str(each) for each in one.pod_networks] == (texts if networks is None else networks)


def test_a_node_tells_its_internal_addresses_conditions_and_taints():
    one = node()
    one.raw["status"]["addresses"] += [
        {"type": "InternalIP", "address": "x"},
        {"type": "ExternalIP", "address": "1.1.1.1"},
    ]
    assert "192.168.10.12" in map(str, one.internal_addresses)
    assert not {"1.1.1.1", "x", "node2"} & set(map(str, one.internal_addresses))
    assert one.condition("Ready").text("status") == "True"
    assert not one.condition("NoSuch")
    taints = KubeNode(kube_node(healthy(), "node1")).taints
    assert [taint.text("key") for taint in taints] == ["node-role.kubernetes.io/control-plane"]


@pytest.mark.parametrize(("said", "lease"), [("true", True), ("false", False), ("", False)])
def test_flannels_annotations_on_a_node(said, lease):
    one = node()
    one.raw["metadata"]["annotations"]["flannel.alpha.coreos.com/kube-subnet-manager"] = said
    assert one.flannel_lease is lease
    assert (one.flannel("public-ip"), one.flannel("no-such")) == ("192.168.10.12", "")


def test_a_pod_that_runs():
    pod = Pod(flannel_pod(healthy()))
    assert (pod.node_name, pod.phase, pod.host_network, pod.ready, pod.waiting) == ("node2", "Running", True, True, [])
    assert [one.text("name") for one in pod.containers][-1] == "kube-flannel"
    assert len(pod.containers) == len(pod.statuses) == len(pod.images) == 3
    assert pod.command_flags["ip-masq"] == "true" and pod.command_flags["healthz-port"] == "8081"


def test_a_pod_that_waits_says_why_for_each_container():
    bundle = healthy()
    waits(flannel_pod(bundle), "ImagePullBackOff", kind="initContainerStatuses")
    waits(flannel_pod(bundle), "PodInitializing")
    pod = Pod(flannel_pod(bundle))
    assert (pod.ready, pod.waiting) == (False, ["ImagePullBackOff", "PodInitializing"])


@pytest.mark.parametrize(
    ("status", "addresses"),
    [
        ({"podIP": "10.244.1.2"}, ["10.244.1.2"]),
        ({"podIP": "10.244.1.2", "podIPs": [{"ip": "10.244.1.2"}, {"ip": "fd00::2"}]}, ["10.244.1.2", "fd00::2"]),
        ({"podIPs": [{"ip": "x"}, {}]}, []),
        ({}, []),
    ],
)
def test_the_addresses_of_a_pod(status, addresses):
    assert [str(one) for one in Pod({"status": status}).addresses] == addresses


def test_flags_are_those_of_the_first_container():
    first = {"command": ["a", "--x=1"], "args": ["--y", "2"]}
    assert Pod({"spec": {"containers": [first, {"command": ["b", "--z"]}]}}).command_flags == {"x": "1", "y": "2"}
    assert Pod({}).command_flags == {}


@pytest.mark.parametrize(
    ("container", "runs"),
    [
        ({"command": ["/opt/bin/flanneld"]}, True),
        ({"command": ["sh"], "args": ["-c", "flanneld"]}, True),
        ({"command": ["flanneld-wrapper"]}, False),
        ({"image": "ghcr.io/flannel-io/flannel:v0.28.10"}, True),
        ({"image": "rancher/mirrored-flannelcni-flannel@sha256:00"}, True),
        ({"image": "registry:5000/flannel"}, True),
        ({"image": "ghcr.io/flannel-io/flannel-cni-plugin:v1"}, False),
        ({"image": "example.com/flannel/web:v1"}, False),
        ({}, False),
    ],
)
def test_what_runs_flanneld(container, runs):
    assert runs_flannel([Item({"command": ["x"]}), Item(container)]) is runs


def test_a_daemonset_is_flannels_by_its_containers_and_not_by_its_init_containers():
    one = DaemonSet(daemonset(healthy()))
    assert one.is_flannel
    assert one.images[-1] == "ghcr.io/flannel-io/flannel:v0.28.10" and len(one.images) == 3
    spec = one.raw["spec"]["template"]["spec"]
    spec["initContainers"], spec["containers"] = spec["containers"], [{"image": "x"}]
    assert not DaemonSet(one.raw).is_flannel


@pytest.mark.parametrize(
    ("read", "kind"),
    [(_kube.nodes, KubeNode), (_kube.pods, Pod), (_kube.daemonsets, DaemonSet), (_kube.objects, Object)],
)
def test_a_list_is_read_as_objects_of_its_kind(read, kind):
    (found,) = read({"items": [{"metadata": {"name": "a"}}, {"metadata": {}}, 7]})
    assert (type(found), found.name) == (kind, "a")
    with pytest.raises(ValueError):
        read([])
