# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What `cluster_evidence_info` can gather: every key of evidence format 1 below `cluster`.

A control plane may be half dead. What comes from files or from etcd is gathered without the API server.
"""

from __future__ import annotations

import json
import re
from typing import Any, Callable
from urllib.parse import quote

from . import fields
from .api import Api, NotFound, client_context, connect, requester, server_of
from .scrub import last_lines, scrub
from .source import Missing, RunCommand, Source, run_command

_KUBECONFIGS = ("/etc/kubernetes/admin.conf", "/etc/kubernetes/super-admin.conf")
_MANIFESTS = "/etc/kubernetes/manifests"
_ETCD = "/etc/kubernetes/pki/etcd"
_MOST_EVENTS = 1000
_MOST_LOGS = 24
# Rights that flannel uses: verb, resource, subresource.
_RIGHTS = (
    ("get", "nodes", ""),
    ("list", "nodes", ""),
    ("watch", "nodes", ""),
    ("patch", "nodes", "status"),
    ("get", "pods", ""),
)
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class ControlPlane(Source):
    """A control plane host: its files, and the API server that it reaches.

    :param name: the host's name in the inventory, under which its manifests are listed.
    :param kubeconfig: path of a kubeconfig; without it kubeadm's own are tried.
    :param api: answers instead of an API server (tests).
    """

    def __init__(
        self, name: str, kubeconfig: str = "", root: str = "/", run: RunCommand = run_command, api: Api | None = None
    ) -> None:
        super().__init__(root, run)
        self.name = name
        self._kubeconfig = kubeconfig
        self._api = api

    @property
    def api(self) -> Api:
        """The API server, looked for once.

        :raises Missing: none answers.
        """
        found: Api = self.once(("api",), lambda: self._api or self._connect())
        return found

    def _connect(self) -> Api:
        paths = [self._kubeconfig] if self._kubeconfig else [path for path in _KUBECONFIGS if self.exists(path)]
        if not paths:
            raise Missing(f"no kubeconfig: {' and '.join(_KUBECONFIGS)} are not there")
        text = self.read(paths[0])
        servers = [server_of(text)]
        if not self._kubeconfig:
            # The endpoint may be what is broken: then the API server of this very host.
            servers.append("https://127.0.0.1:6443")
        return connect(text, servers)


def _listed(path: str, shape: Any, most: int = 0) -> Callable[[ControlPlane], dict[str, Any]]:
    """A gatherer of `kubectl get ... -A -o json`."""

    def gatherer(source: ControlPlane) -> dict[str, Any]:
        def make() -> list[Any]:
            copy = shape if callable(shape) else lambda item: fields.copy_fields(item, shape)
            return source.api.items(path, copy, most)

        return as_list(source.once(("list", path), make))

    return gatherer


def as_list(items: list[Any]) -> dict[str, Any]:
    """ITEMS as kubectl prints a list."""
    return {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}


nodes = _listed("/api/v1/nodes", fields.NODE)
pods = _listed("/api/v1/pods", fields.pod)
daemonsets = _listed("/apis/apps/v1/daemonsets", fields.DAEMONSET)
network_policies = _listed("/apis/networking.k8s.io/v1/networkpolicies", fields.NETWORK_POLICY)
services = _listed("/api/v1/services", fields.SERVICE)
namespaces = _listed("/api/v1/namespaces", fields.NAMESPACE)


def version(source: ControlPlane) -> dict[str, Any]:
    """The server's half of `kubectl version -o json`."""
    return {"serverVersion": source.api.get("/version")}


def events(source: ControlPlane) -> dict[str, Any]:
    """Warnings, and all events of nodes (a missing range is told as a normal one), at most 1000 of each."""
    found: dict[Any, Any] = {}
    for selector in ("type!=Normal", "involvedObject.kind=Node"):
        for event in source.api.items(
            "/api/v1/events",
            lambda item: fields.copy_fields(item, fields.EVENT),
            _MOST_EVENTS,
            f"&fieldSelector={quote(selector)}",
        ):
            found[event["metadata"].get("namespace"), event["metadata"].get("name")] = event
    return as_list(list(found.values()))


def crds(source: ControlPlane) -> list[str]:
    """Names of custom resource definitions."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    return sorted(source.api.items(path, lambda item: item["metadata"]["name"], accept=_METADATA_ONLY))


def _config_map(source: ControlPlane, namespace: str, name: str) -> dict[str, str]:
    try:
        answer = source.api.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
    except NotFound:
        return {}
    return answer.get("data") or {}


def kubeadm_config(source: ControlPlane) -> str:
    """ClusterConfiguration, as kubeadm stored it."""
    return scrub(_config_map(source, "kube-system", "kubeadm-config").get("ClusterConfiguration", ""))


def kube_proxy_config(source: ControlPlane) -> str:
    """kube-proxy's configuration; the kubeconfig beside it is not copied."""
    return scrub(_config_map(source, "kube-system", "kube-proxy").get("config.conf", ""))


def kubelet_config(source: ControlPlane) -> str:
    """The configuration that joining nodes get."""
    return scrub(_config_map(source, "kube-system", "kubelet-config").get("kubelet", ""))


def _flannel_daemonsets(source: ControlPlane) -> list[dict[str, Any]]:
    """DaemonSets that run flanneld; the namespace of today's manifest first."""
    found = []
    for item in daemonsets(source)["items"]:
        containers = item["spec"]["template"]["spec"].get("containers") or []
        words = " ".join(str(c.get("image")) + " " + " ".join(map(str, c.get("command") or [])) for c in containers)
        if "flannel" in words:
            found.append(item)
    return sorted(found, key=lambda item: item["metadata"]["namespace"] != "kube-flannel")


def flannel_config(source: ControlPlane) -> dict[str, str]:
    """The texts of the ConfigMap that flannel's DaemonSet mounts; empty without flannel. A pre-shared key is cut."""
    for item in _flannel_daemonsets(source):
        namespace = item["metadata"]["namespace"]
        for volume in item["spec"]["template"]["spec"].get("volumes") or []:
            data = _config_map(source, namespace, volume["configMap"]["name"]) if volume.get("configMap") else {}
            if "net-conf.json" in data:
                return {
                    "namespace": namespace,
                    "net-conf.json": scrub(data["net-conf.json"]),
                    "cni-conf.json": scrub(data.get("cni-conf.json", "")),
                }
    return {}


def access(source: ControlPlane) -> dict[str, dict[str, bool]]:
    """Whether the service accounts of flannel may do what flannel does, asked by SubjectAccessReview."""
    found: dict[str, dict[str, bool]] = {}
    for item in _flannel_daemonsets(source):
        account = item["spec"]["template"]["spec"].get("serviceAccountName") or "default"
        user = f"system:serviceaccount:{item['metadata']['namespace']}:{account}"
        for verb, resource, subresource in _RIGHTS:
            attributes = {"verb": verb, "resource": resource, "subresource": subresource}
            groups = [
                "system:serviceaccounts",
                f"system:serviceaccounts:{item['metadata']['namespace']}",
                "system:authenticated",
            ]
            review = {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {"user": user, "groups": groups, "resourceAttributes": attributes},
            }
            answer = source.api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
            name = f"{verb} {resource}" + (f"/{subresource}" if subresource else "")
            found.setdefault(user, {})[name] = bool((answer.get("status") or {}).get("allowed"))
    return found


def logs(source: ControlPlane) -> dict[str, str]:
    """The last 200 lines of flannel, CoreDNS and kube-proxy where they are not ready, the run before included."""
    found: dict[str, str] = {}
    for namespace, pod, container in _not_ready(source)[:_MOST_LOGS]:
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log?container={container}&tailLines=200&limitBytes=200000"
        texts = []
        refused = ""
        for query in ("&previous=true", ""):
            try:
                texts.append(source.api.text(path + query))
            except Missing as reason:
                # Usual: there was no run before, its log is gone, or the container never started.
                refused = str(reason)
        if texts:
            found[f"{namespace}/{pod}/{container}"] = last_lines("".join(texts))
        else:
            source.lack(f"logs.{namespace}/{pod}/{container}", refused)
    return found


def _not_ready(source: ControlPlane) -> list[tuple[str, str, str]]:
    found = []
    for order, word in enumerate(("flannel", "coredns", "kube-proxy")):
        for pod in pods(source)["items"]:
            metadata, status = pod["metadata"], pod.get("status") or {}
            if word not in metadata["name"] or status.get("phase") == "Succeeded":
                continue
            finished = [s for s in status.get("initContainerStatuses") or [] if not s.get("ready")]
            waiting = [s for s in status.get("containerStatuses") or [] if not s.get("ready")]
            found += [(order, metadata["namespace"], metadata["name"], s["name"]) for s in finished + waiting]
    return [(namespace, name, container) for _order, namespace, name, container in sorted(set(found))]


def manifests(source: ControlPlane) -> dict[str, dict[str, str]]:
    """The static pods of this host by file name."""
    texts = source.texts([_MANIFESTS], (".yaml", ".yml", ".json"))
    return {source.name: {name: _manifest(text) for name, text in texts.items()}}


def _manifest(text: str) -> str:
    if text.lstrip().startswith("{"):
        try:
            return json.dumps(fields.pod(json.loads(text)), indent=1)
        except ValueError:
            pass
    return fields.manifest(text)


def etcd_members(source: ControlPlane) -> dict[str, Any]:
    """`etcdctl member list -w json`, asked of this host's etcd by its JSON gateway; it answers without a quorum."""
    if not source.exists(f"{_ETCD}/healthcheck-client.key"):
        raise Missing(f"{_ETCD}/healthcheck-client.key is not there: etcd does not run on this host, or not by kubeadm")
    context = client_context(
        source.read_bytes(f"{_ETCD}/ca.crt"),
        source.read_bytes(f"{_ETCD}/healthcheck-client.crt"),
        source.read_bytes(f"{_ETCD}/healthcheck-client.key"),
    )
    answer = Api(requester(context, "https://127.0.0.1:2379/etcd")).post(
        "/v3/cluster/member/list", {"linearizable": False}
    )
    return etcd_as_etcdctl(answer)


def etcd_as_etcdctl(answer: Any) -> dict[str, Any]:
    """The gateway writes 64-bit numbers as strings, etcdctl as numbers."""
    header = {
        name: int(value) for name, value in (answer.get("header") or {}).items() if re.fullmatch(r"\d+", str(value))
    }
    members = [{**member, "ID": int(member.get("ID", 0))} for member in answer.get("members") or []]
    return {"header": header, "members": members}


TABLE: dict[str, Any] = {
    "version": version,
    "nodes": nodes,
    "pods": pods,
    "daemonsets": daemonsets,
    "events": events,
    "network_policies": network_policies,
    "services": services,
    "crds": crds,
    "namespaces": namespaces,
    "access": access,
    "kubeadm_config": kubeadm_config,
    "kube_proxy_config": kube_proxy_config,
    "kubelet_config": kubelet_config,
    "flannel_config": flannel_config,
    "logs": logs,
    "manifests": manifests,
    "etcd_members": etcd_members,
}

# What the proof before and after flannel's roll-out compares.
PROOF = ("version", "nodes", "daemonsets", "kubeadm_config", "kube_proxy_config", "flannel_config", "manifests")

GROUPS: dict[str, Any] = {"all": tuple(TABLE), "proof": PROOF}
