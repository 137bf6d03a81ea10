# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import flannel_pod, log, not_ready, pods, remove_pods
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._cluster import Cluster
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._kube import Pod
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed, Missing


def cluster(base="cluster", **changes):
    """The recorded cluster with keys changed, or taken away where None stands."""
    raw = healthy(base)["cluster"] | changes
    return Cluster({key: value for key, value in raw.items() if value is not None})


def test_nodes_by_name_and_the_families_of_their_ranges():
    assert list(cluster().node_by_name) == ["node1", "node2", "node3"]
    assert cluster().node_pod_versions == {4}
    assert cluster("cluster-dual").node_pod_versions == {4, 6}
    assert cluster(nodes={"items": []}).node_pod_versions == set()


def test_pods_by_the_node_they_are_bound_to():
    bundle = healthy()
    del pods(bundle, "web-", "node2")[0]["spec"]["nodeName"]
    found = Cluster(bundle["cluster"]).pods_by_node
    assert {name: len(each) for name, each in found.items()} == {"": 1, "node1": 8, "node2": 3, "node3": 4}


def test_flannels_pods_and_daemonsets_are_told_by_what_they_run():
    bundle = healthy()
    flannel_pod(bundle)["metadata"].update(name="other", namespace="elsewhere", labels={})
    one = Cluster(bundle["cluster"])
    assert sorted(pod.node_name for pod in one.flannel_pods) == ["node1", "node2", "node3"]
    assert [pod.name for pod in one.flannel_pods_by_node["node2"]] == ["other"]
    assert [each.name for each in one.flannel_daemonsets] == ["kube-flannel-ds"]


def test_flannel_runs_where_a_pod_of_it_is_ready():
    bundle = healthy()
    not_ready(flannel_pod(bundle, "node1"))
    remove_pods(bundle, "kube-flannel-ds-", "node3")
    one = Cluster(bundle["cluster"])
    assert [one.flannel_runs_on(name) for name in ("node1", "node2", "node3", "no such")] == [False, True, False, False]
    with pytest.raises(Missing):
        cluster(pods=None).flannel_runs_on("node1")


def test_pods_that_the_network_depends_on():
    names = {pod.name.rpartition("-")[0] for pod in cluster().network_pods}
    assert names == {
        "kube-flannel-ds",
        "kube-proxy",
        "coredns-559f6c778d",
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
    }
    bundle = healthy()
    for pod in pods(bundle, "kube-proxy"):
        pod["metadata"]["namespace"] = "default"
    assert not [pod for pod in Cluster(bundle["cluster"]).network_pods if pod.name.startswith("kube-proxy")]


def test_the_log_of_a_pod_is_that_of_all_its_containers():
    bundle = healthy()
    pod = flannel_pod(bundle)
    log(bundle, pod, "one")
    log(bundle, pod, "two", "install-cni")
    log(bundle, flannel_pod(bundle, "node1"), "other")
    one = Cluster(bundle["cluster"])
    assert one.pod_log(Pod(pod)) == "one\ntwo"
    assert one.pod_log(Pod(pods(bundle, "coredns")[0])) == ""
    assert cluster(logs=None).pod_log(Pod(pod)) == ""


@pytest.mark.parametrize(("version", "text"), [({"serverVersion": {"gitVersion": "v1.37.2"}}, "v1.37.2"), ({}, "")])
def test_the_version_of_the_api_server(version, text):
    assert cluster(version=version).server_version == text


@pytest.mark.parametrize(
    ("config", "error", "key"),
    [
        (None, Missing, "cluster.flannel_config"),
        ({}, Missing, "cluster.flannel_config.net-conf.json"),
        ({"net-conf.json": "["}, Malformed, "cluster.flannel_config.net-conf.json"),
        ([], Malformed, "cluster.flannel_config"),
    ],
)
def test_a_net_conf_that_cannot_be_read(config, error, key):
    assert [str(one) for one in cluster().net_conf.networks] == ["10.244.0.0/16"]
    with pytest.raises(Missing) as found:
        _read = cluster(flannel_config=config).net_conf
    assert (type(found.value), found.value.key) == (error, key)


def test_flags_of_a_component_are_those_of_its_file_else_of_its_mirror_pod():
    for name in ("controller-manager", "apiserver", "scheduler"):
        assert "node1" in cluster().component_flags(name)
        assert cluster(manifests=None).component_flags(name) == cluster().component_flags(name)
    assert cluster().component_flags("controller-manager")["node1"]["cluster-cidr"] == "10.244.0.0/16"
    file = "spec: {containers: [{command: [kube-scheduler, --v=4]}]}"
    assert cluster(manifests={"a": {"kube-scheduler.yaml": file, "x": "["}, "b": 7}).component_flags("scheduler") == {
        "a": {"v": "4"}
    }


@pytest.mark.parametrize("pods", [None, {"items": []}])
def test_flags_of_a_component_that_is_not_there_are_missing(pods):
    with pytest.raises(Missing) as found:
        cluster(manifests={"a": {}}, pods=pods).component_flags("controller-manager")
    assert found.value.key == "cluster.manifests"


def manager(**flags):
    words = ", ".join(f"--{key.replace('_', '-')}={value}" for key, value in flags.items())
    return {"a": {"kube-controller-manager.yaml": f"spec: {{containers: [{{command: [x, {words}]}}]}}"}}


KUBEADM = "networking: {podSubnet: 10.1.0.0/16, serviceSubnet: 10.2.0.0/16}"
PROXY = "clusterCIDR: 10.5.0.0/16"
FLAGS = manager(cluster_cidr="10.3.0.0/16", service_cluster_ip_range="10.4.0.0/16")


@pytest.mark.parametrize(
    ("raw", "pod", "service"),
    [
        ({"kubeadm_config": KUBEADM, "manifests": FLAGS, "kube_proxy_config": PROXY}, "10.1.0.0/16", "10.2.0.0/16"),
        ({"kubeadm_config": "{}", "manifests": FLAGS, "kube_proxy_config": PROXY}, "10.3.0.0/16", "10.4.0.0/16"),
        ({"manifests": FLAGS}, "10.3.0.0/16", "10.4.0.0/16"),
        ({"manifests": manager(), "kube_proxy_config": PROXY}, "10.5.0.0/16", None),
        ({"kubeadm_config": "{}", "manifests": manager()}, None, None),
        ({"kubeadm_config": "{}"}, None, None),
    ],
)
def test_the_ranges_of_the_cluster_are_those_of_the_first_that_names_some(raw, pod, service):
    one = Cluster(raw)
    assert [str(each) for each in one.pod_networks()] == ([pod] if pod else [])
    assert [str(each) for each in one.service_networks()] == ([service] if service else [])


def test_ranges_that_nothing_was_looked_at_for_are_missing():
    for read in (Cluster({}).pod_networks, Cluster({"kube_proxy_config": PROXY}).service_networks):
        with pytest.raises(Missing) as found:
            read()
        assert found.value.key == "cluster.kubeadm_config"
    assert [str(each) for each in Cluster({"kube_proxy_config": PROXY}).pod_networks()] == ["10.5.0.0/16"]


@pytest.mark.parametrize(
    ("raw", "ranges"),
    [
        ({"kubeadm_config": KUBEADM, "manifests": FLAGS}, ["10.3.0.0/16"]),
        ({"kubeadm_config": KUBEADM, "manifests": manager()}, []),
        ({"kubeadm_config": KUBEADM}, []),
    ],
)
def test_what_nodes_get_their_ranges_from_is_what_the_controller_managers_say(raw, ranges):
    assert [str(each) for each in Cluster(raw).allocated_networks()] == ranges
