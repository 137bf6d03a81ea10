# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.api import Api
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.cluster import (
    GROUPS,
    TABLE,
    ControlPlane,
    etcd_as_etcdctl,
)
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.gather import gather
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing

SECRET = "s3cr3tPLANTED"


def container(**more):
    return {
        "name": "main",
        "image": "ghcr.io/flannel-io/flannel:v0.28.10",
        "command": ["/opt/bin/flanneld"],
        "args": ["--ip-masq", f"--etcd-password={SECRET}", "--token", SECRET],
        "env": [
            {"name": "EVENT_QUEUE_DEPTH", "value": "5000"},
            {"name": "DB_PASSWORD", "value": SECRET},
            {"name": "HTTPS_PROXY", "value": f"http://user:{SECRET}@proxy:3128"},
            {"name": "POD_NAME", "valueFrom": {"secretKeyRef": {"name": SECRET, "key": "x"}}},
        ],
        "envFrom": [{"secretRef": {"name": SECRET}}],
        "lifecycle": {"postStart": {"exec": {"command": [SECRET]}}},
        **more,
    }


def pod(namespace, name, ready=True, **spec):
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": "x"},
            "managedFields": [SECRET],
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": SECRET,
                "example.com/credential": SECRET,
                "kubernetes.io/config.source": "file",
            },
        },
        "spec": {
            "nodeName": "n1",
            "containers": [container()],
            "volumes": [{"name": "s", "secret": {"secretName": SECRET}}, {"name": "c", "configMap": {"name": "cfg"}}],
            "imagePullSecrets": [{"name": SECRET}],
            **spec,
        },
        "status": {
            "phase": "Running",
            "containerStatuses": [
                {
                    "name": "main",
                    "ready": ready,
                    "lastState": {"terminated": {"exitCode": 1, "message": f"bad token={SECRET}"}},
                }
            ],
        },
    }


DAEMONSET = {
    "metadata": {"name": "kube-flannel-ds", "namespace": "kube-flannel"},
    "spec": {
        "template": {
            "metadata": {"annotations": {"x.example.com/y": SECRET}},
            "spec": {
                "serviceAccountName": "flannel",
                "containers": [container()],
                "volumes": [{"name": "flannel-cfg", "configMap": {"name": "kube-flannel-cfg"}}],
            },
        }
    },
}
NET_CONF = json.dumps({"Network": "10.244.0.0/16", "Backend": {"Type": "ipsec", "PSK": SECRET}}, indent=1)
OBJECTS: dict[str, Any] = {
    "/version": {"gitVersion": "v1.37.2"},
    "/api/v1/nodes": [{"metadata": {"name": f"n{n}"}, "spec": {"podCIDR": f"10.244.{n}.0/24"}} for n in range(5)],
    "/api/v1/pods": [
        pod("kube-flannel", "kube-flannel-ds-abc", ready=False),
        pod("default", "web"),
        pod("kube-system", "coredns-x"),
    ],
    "/apis/apps/v1/daemonsets": [DAEMONSET],
    "/api/v1/events": [
        {
            "metadata": {"name": "e", "namespace": "default"},
            "message": f"pull https://u:{SECRET}@registry/x failed",
            "involvedObject": {"kind": "Pod", "name": "web"},
        }
    ],
    "/apis/networking.k8s.io/v1/networkpolicies": [],
    "/api/v1/services": [
        {"metadata": {"name": "kubernetes", "namespace": "default"}, "spec": {"clusterIP": "10.96.0.1"}}
    ],
    "/api/v1/namespaces": [{"metadata": {"name": "default", "annotations": {"x/y": SECRET}}}],
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": [{"metadata": {"name": "b.x.io"}}],
    "/api/v1/namespaces/kube-system/configmaps/kubeadm-config": {
        "data": {
            "ClusterConfiguration": f"networking:\n  podSubnet: 10.244.0.0/16\nx:\n  oidc-client-secret: {SECRET}\n"
        }
    },
    "/api/v1/namespaces/kube-system/configmaps/kube-proxy": {
        "data": {"config.conf": "mode: iptables\n", "kubeconfig.conf": SECRET}
    },
    "/api/v1/namespaces/kube-system/configmaps/kubelet-config": {"data": {"kubelet": "cgroupDriver: systemd\n"}},
    "/api/v1/namespaces/kube-flannel/configmaps/kube-flannel-cfg": {
        "data": {"net-conf.json": NET_CONF, "cni-conf.json": "{}", "other": SECRET}
    },
}


class Server:
    """Answers as an API server does: lists by pages of two, 404 for what is not there."""

    def __init__(self, objects: dict[str, Any]) -> None:
        self.objects = objects
        self.asked: list[tuple[str, str]] = []

    def __call__(self, method, path, body, headers):
        self.asked.append((method, path))
        parts = urlsplit(path)
        if method == "POST":
            spec = json.loads(body)["spec"]
            return 201, json.dumps({"status": {"allowed": spec["resourceAttributes"]["verb"] != "patch"}}).encode()
        if parts.path.endswith("/log"):
            if "previous" in parts.query:
                return 400, b"previous terminated container not found"
            return 200, f"E1130 main.go] failed\nAuthorization: Bearer {SECRET}\n".encode()
        if parts.path not in self.objects:
            return 404, b'{"kind":"Status"}'
        value = self.objects[parts.path]
        if isinstance(value, list):
            at = int(parse_qs(parts.query).get("continue", ["0"])[0])
            more = str(at + 2) if at + 2 < len(value) else ""
            value = {"items": value[at : at + 2], "metadata": {"continue": more}}
        return 200, json.dumps(value).encode()


def gathered(tmp_path, objects=None, keys=GROUPS["all"]):
    server = Server(OBJECTS if objects is None else objects)
    evidence, missing = gather(ControlPlane("cp1", root=str(tmp_path), api=Api(server)), TABLE, keys)
    return evidence, missing, server


def test_what_the_api_server_says(tmp_path):
    evidence, missing, server = gathered(tmp_path)
    assert set(missing) == {"etcd_members"}
    assert [node["metadata"]["name"] for node in evidence["nodes"]["items"]] == ["n0", "n1", "n2", "n3", "n4"]
    assert evidence["nodes"]["kind"] == "List"
    assert evidence["version"] == {"serverVersion": {"gitVersion": "v1.37.2"}}
    assert evidence["crds"] == ["b.x.io"]
    assert evidence["access"] == {
        "system:serviceaccount:kube-flannel:flannel": {
            "get nodes": True, "list nodes": True, "watch nodes": True, "patch nodes/status": False, "get pods": True,
        }
    }  # fmt: skip
    assert evidence["flannel_config"]["namespace"] == "kube-flannel"
    assert list(evidence["logs"]) == ["kube-flannel/kube-flannel-ds-abc/main"]
    assert "main.go] failed" in evidence["logs"]["kube-flannel/kube-flannel-ds-abc/main"]
    assert {method for method, path in server.asked if "subjectaccessreviews" not in path} == {"GET"}


def test_no_secret_enters(tmp_path):
    manifests = tmp_path / "etc/kubernetes/manifests"
    manifests.mkdir(parents=True)
    (manifests / "kube-vip.yaml").write_text(
        "spec:\n  containers:\n  - args:\n    - --v=2\n    - --basic-auth-password=" + SECRET + "\n    env:\n"
        f"    - name: vip_interface\n      value: eth0\n    - name: KEY\n      value: |\n        {SECRET}\n"
        f"    - name: HTTPS_PROXY\n      value: http://u:{SECRET}@proxy\n    image: x:1\n"
    )
    evidence, _missing, _server = gathered(tmp_path)
    assert SECRET not in json.dumps(evidence)
    text = evidence["manifests"]["cp1"]["kube-vip.yaml"]
    assert "image: x:1" in text and "--v=2" in text and "@proxy" in text
    flannel = evidence["pods"]["items"][0]["spec"]
    assert {"name": "EVENT_QUEUE_DEPTH", "value": "5000"} in flannel["containers"][0]["env"]
    assert "--ip-masq" in flannel["containers"][0]["args"]
    assert flannel["volumes"] == [{"name": "s"}, {"name": "c", "configMap": {"name": "cfg"}}]
    user = evidence["pods"]["items"][1]
    assert set(user["spec"]["containers"][0]) == {"name", "image"}
    assert user["metadata"]["annotations"]["kubernetes.io/config.source"] == "file"
    assert "Network" in evidence["flannel_config"]["net-conf.json"]
    json.loads(evidence["flannel_config"]["net-conf.json"])


def test_a_cluster_without_flannel_says_so(tmp_path):
    evidence, _missing, _server = gathered(tmp_path, {**OBJECTS, "/apis/apps/v1/daemonsets": []})
    assert evidence["flannel_config"] == {} and evidence["access"] == {}


def test_a_config_map_that_is_not_there_is_empty(tmp_path):
    objects = {path: value for path, value in OBJECTS.items() if not path.endswith("/kubeadm-config")}
    evidence, _missing, _server = gathered(tmp_path, objects)
    assert evidence["kubeadm_config"] == ""


def test_without_an_api_server_files_are_read(tmp_path):
    manifests = tmp_path / "etc/kubernetes/manifests"
    manifests.mkdir(parents=True)
    (manifests / "etcd.yaml").write_text("kind: Pod\n")
    evidence, missing = gather(ControlPlane("cp1", root=str(tmp_path)), TABLE, GROUPS["all"])
    assert evidence == {"manifests": {"cp1": {"etcd.yaml": "kind: Pod\n"}}}
    assert missing["nodes"].startswith("no kubeconfig")


def test_an_expired_certificate_is_named(tmp_path):
    def request(method, path, body, headers):
        return 401, b'{"kind":"Status","message":"Unauthorized"}'

    _evidence, missing = gather(ControlPlane("cp1", root=str(tmp_path), api=Api(request)), TABLE, ["nodes"])
    assert missing == {"nodes": "/api/v1/nodes?limit=500 answered 401: Unauthorized"}


def test_the_gateway_of_etcd_reads_as_etcdctl():
    answer = {
        "header": {"cluster_id": "17296305986083192703", "raft_term": "2"},
        "members": [{"ID": "3761017729947686921", "name": "n1", "peerURLs": ["https://10.0.0.1:2380"]}],
    }
    assert etcd_as_etcdctl(answer) == {
        "header": {"cluster_id": 17296305986083192703, "raft_term": 2},
        "members": [{"ID": 3761017729947686921, "name": "n1", "peerURLs": ["https://10.0.0.1:2380"]}],
    }


def test_events_are_bounded(tmp_path):
    many = [{"metadata": {"name": f"e{n}"}} for n in range(1500)]
    evidence, _missing, _server = gathered(tmp_path, {**OBJECTS, "/api/v1/events": many}, ["events"])
    assert len(evidence["events"]["items"]) == 1000


def test_a_refused_answer_is_missing():
    def request(method, path, body, headers):
        raise Missing("https://127.0.0.1:6443: [Errno 111] Connection refused")

    _evidence, missing = gather(ControlPlane("cp1", api=Api(request)), TABLE, ["pods", "version"])
    assert set(missing) == {"pods", "version"}
