# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server and the control plane say (``cluster``), each key parsed when a rule first asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .._finding import Malformed, Missing
from ._flannel import FlannelConfig, NetConf
from ._item import Item
from ._kube import DaemonSet, KubeNode, Object, Pod, daemonsets, nodes, objects, pods, runs_flannel
from ._kubeadm import ClusterConfiguration, cluster_configuration
from ._net import Network, networks
from ._part import Key, Part, item, list_items, text_map, texts
from ._texts import yaml_document

MANIFEST = {name: f"kube-{name}.yaml" for name in ("apiserver", "controller-manager", "scheduler")}


def _manifests(raw: Any) -> dict[str, dict[str, Item]]:
    """Static pods by host and file; a file that is no YAML reads as empty."""
    found: dict[str, dict[str, Item]] = {}
    for host, files in item(raw).raw.items():
        found[host] = {}
        for name, content in files.items() if isinstance(files, dict) else ():
            try:
                found[host][name] = yaml_document(content)
            except ValueError:
                found[host][name] = Item({})
    return found


class Cluster(Part):
    """The evidence of the cluster. Reading an attribute whose key is absent raises `Missing`."""

    def __init__(self, raw: Any) -> None:
        super().__init__(raw, "cluster")

    version = Key(item)
    nodes: Key[list[KubeNode]] = Key(nodes)
    pods: Key[list[Pod]] = Key(pods)
    daemonsets: Key[list[DaemonSet]] = Key(daemonsets)
    events = Key(list_items)
    network_policies: Key[list[Object]] = Key(objects)
    services: Key[list[Object]] = Key(objects)
    crds = Key(texts)
    namespaces: Key[list[Object]] = Key(objects)
    access = Key(item)
    kubeadm_config: Key[ClusterConfiguration] = Key(cluster_configuration)
    kube_proxy_config = Key(yaml_document)
    kubelet_config = Key(yaml_document)
    flannel_config = Key(FlannelConfig)
    logs = Key(text_map)
    manifests = Key(_manifests)
    etcd_members = Key(item)

    @cached_property
    def node_by_name(self) -> dict[str, KubeNode]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def node_pod_versions(self) -> frozenset[int]:
        """IP versions of the nodes' pod ranges."""
        return frozenset(one.version for node in self.nodes for one in node.pod_networks)

    @cached_property
    def flannel_daemonsets(self) -> list[DaemonSet]:
        return [one for one in self.daemonsets if one.is_flannel]

    @cached_property
    def pods_by_node(self) -> dict[str, list[Pod]]:
        """Pods by the name of the node they are bound to."""
        found: dict[str, list[Pod]] = {}
        for pod in self.pods:
            found.setdefault(pod.node_name, []).append(pod)
        return found

    @cached_property
    def flannel_pods(self) -> list[Pod]:
        """The pods that run flanneld, whoever made them."""
        return [pod for pod in self.pods if runs_flannel(pod.items("spec", "containers"))]

    @cached_property
    def flannel_pods_by_node(self) -> dict[str, list[Pod]]:
        found: dict[str, list[Pod]] = {}
        for pod in self.flannel_pods:
            found.setdefault(pod.node_name, []).append(pod)
        return found

    @cached_property
    def network_pods(self) -> list[Pod]:
        """Pods that the network of every other one depends on: flannel's, kube-proxy, CoreDNS, the control plane."""
        return [
            pod
            for pod in self.pods
            if runs_flannel(pod.items("spec", "containers"))
            or (
                pod.namespace == "kube-system"
                and (
                    pod.labels.get("tier") == "control-plane" or pod.labels.get("k8s-app") in ("kube-proxy", "kube-dns")
                )
            )
        ]

    def flannel_runs_on(self, node_name: str) -> bool:
        """Whether a ready flannel pod is on the node; raises `Missing` where pods were not looked at."""
        return any(pod.ready for pod in self.flannel_pods_by_node.get(node_name, []))

    @property
    def net_conf(self) -> NetConf:
        """Flannel's net-conf.json; raises `Missing` or `Malformed`."""
        try:
            return self.flannel_config.net_conf
        except ValueError as error:
            raise Malformed("cluster.flannel_config.net-conf.json", str(error)) from error

    @cached_property
    def server_version(self) -> str:
        """The API server's version, ``v1.37.2``, or ""."""
        return self.version.text("serverVersion", "gitVersion")

    def pod_log(self, pod: Pod) -> str:
        """The logs of all containers of the pod, "" where none was kept."""
        return "\n".join(self._logs_by_pod.get(f"{pod.namespace}/{pod.name}", ()))

    @cached_property
    def _logs_by_pod(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, log in self.logs.items() if self.has("logs") else ():
            found.setdefault(name.rpartition("/")[0], []).append(log)
        return found

    def component_flags(self, component: str) -> dict[str, dict[str, str]]:
        """Flags of a control plane component (``controller-manager``) by host: of its static pod file, else of its
        mirror pod. Raises `Missing` where neither was looked at."""
        file = MANIFEST[component]
        if self.has("manifests"):
            found = {
                host: Pod(files[file].raw).command_flags for host, files in self.manifests.items() if file in files
            }
            if found:
                return found
        if self.has("pods"):
            label = f"kube-{component}"
            mirrors = [one for one in self.pods if one.labels.get("component") == label]
            if mirrors:
                return {one.node_name: one.command_flags for one in mirrors}
        raise Missing("cluster.manifests")

    def pod_networks(self) -> list[Network]:
        """The cluster's pod ranges: kubeadm's podSubnet, else the controller managers' --cluster-cidr, else
        kube-proxy's clusterCIDR; empty where all that was looked at names none. Raises `Missing` where nothing was.
        """
        return self._ranges("podSubnet", "cluster-cidr", proxy=True)

    def allocated_networks(self) -> list[Network]:
        """The ranges that the controller managers give nodes their own from, which is what runs whatever kubeadm-config
        says; empty where that is not known."""
        try:
            every = self.component_flags("controller-manager").values()
        except Missing:
            return []
        return next((found for one in every if (found := networks(one.get("cluster-cidr", "")))), [])

    def service_networks(self) -> list[Network]:
        """The cluster's service ranges, found in the same way."""
        return self._ranges("serviceSubnet", "service-cluster-ip-range", proxy=False)

    def _ranges(self, kubeadm_key: str, flag: str, proxy: bool) -> list[Network]:
        looked = False
        if self.has("kubeadm_config"):
            looked = True
            if found := networks(self.kubeadm_config.text("networking", kubeadm_key)):
                return found
        try:
            every = self.component_flags("controller-manager")
            looked = True
            for one in every.values():
                if found := networks(one.get(flag, "")):
                    return found
        except Missing:
            pass
        if proxy and self.has("kube_proxy_config"):
            looked = True
            if found := networks(self.kube_proxy_config.text("clusterCIDR")):
                return found
        if not looked:
            raise Missing("cluster.kubeadm_config")
        return []
