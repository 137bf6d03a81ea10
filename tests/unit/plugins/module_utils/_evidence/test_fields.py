# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import fields

SECRET = "s3cr3tPLANTED"


@pytest.mark.parametrize(
    ("value", "shape", "copied"),
    [
        ({"a": 1, "b": 2}, {"a": True}, {"a": 1}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": True, "gone": True}}, {"a": {"x": 1}}),
        ({"a": [{"x": 1, "y": 2}, {"y": 3}]}, {"a": {"x": True}}, {"a": [{"x": 1}, {}]}),
        ({"a": {"x": [1]}}, {"a": True}, {"a": {"x": [1]}}),
        ({"a": "text"}, {"a": str.upper}, {"a": "TEXT"}),
        ({"a": None}, {"a": {"x": True}}, {"a": None}),
        ({"a": None}, {"a": str.upper}, {"a": None}),
        ({"a": "x"}, {"a": {"x": True}}, {"a": "x"}),
        ([], {"x": True}, []),
    ],
)
def test_what_a_shape_names_is_copied(value: Any, shape: Any, copied: Any) -> None:
    assert fields.copy_fields(value, shape) == copied


@pytest.mark.parametrize(
    ("name", "copied"),
    [
        ("flannel.alpha.coreos.com/public-ip", True),
        ("kubernetes.io/config.hash", True),
        ("node.alpha.kubernetes.io/ttl", True),
        ("podnet.kubeadm/checksum", True),
        ("projectcalico.org/IPv4Address", True),
        ("kubectl.kubernetes.io/last-applied-configuration", False),
        ("example.com/kubernetes.io", False),
        ("notkubernetes.io/x", False),
        ("credential", False),
    ],
)
def test_annotations_of_others_are_told_by_name_only(name: str, copied: bool) -> None:
    assert fields.known_annotations({name: "x"}) == {name: "x" if copied else fields.NOT_COPIED}


@pytest.mark.parametrize("value", [None, "x", []])
def test_annotations_that_are_none(value: Any) -> None:
    assert fields.known_annotations(value) == {}


@pytest.mark.parametrize(
    ("item", "copied"),
    [
        ({"name": "EVENT_QUEUE_DEPTH", "value": "5000"}, "5000"),
        ({"name": "https_proxy", "value": f"http://u:{SECRET}@p:3128"}, "http://(removed)@p:3128"),
        ({"name": "NO_PROXY", "value": "10.0.0.0/8"}, "10.0.0.0/8"),
        ({"name": "FLANNELD_IFACE", "value": "eth1"}, "eth1"),
        ({"name": "POD_NAME"}, ""),
        ({"name": "POD_NAME", "valueFrom": {"secretKeyRef": {"name": SECRET}}}, None),
        ({"name": "DB_PASSWORD", "value": SECRET}, None),
        ({"name": "MY_POD_NAME", "value": SECRET}, None),
        ("x", None),
    ],
)
def test_variables_that_are_known_to_be_harmless(item: Any, copied: str | None) -> None:
    assert fields.environment([item]) == ([] if copied is None else [{"name": item["name"], "value": copied}])
    assert fields.environment(None) == []


def test_a_message_is_short_and_without_secrets() -> None:
    assert fields.message(f"token={SECRET}") == "token=(removed)"
    assert fields.message("x" * 999 + f" token={SECRET}") == "x" * 999 + " "
    assert "s3c" not in fields.message("x" * 985 + f"http://u:{SECRET}@proxy"), "cut after its secrets are"
    assert fields.message(7) == 7


def pod(namespace: str, **spec: Any) -> dict[str, Any]:
    container = {
        "name": "c",
        "image": "i",
        "args": ["--token", SECRET, "--v=2"],
        "env": [{"name": "X", "value": SECRET}],
    }
    return {
        "metadata": {"name": "p", "namespace": namespace, "managedFields": SECRET},
        "spec": {"nodeName": "n1", "containers": [container], "tolerations": [{"key": "x"}], **spec},
        "status": {
            "phase": "Failed",
            "message": f"password: {SECRET}",
            "containerStatuses": [{"name": "c", "x": SECRET}],
        },
    }


@pytest.mark.parametrize(
    ("value", "own"),
    [
        (pod("kube-system"), True),
        (pod("kube-flannel"), True),
        (pod("default", hostNetwork=True), True),
        (pod("default"), False),
        (pod("mykube-x"), False),
    ],
)
def test_of_the_clusters_own_pods_more_is_copied(value: dict[str, Any], own: bool) -> None:
    found = fields.pod(value)
    (container,) = found["spec"]["containers"]
    assert (container.get("args") == ["--token", "(removed)", "--v=2"]) is own and ("env" in container) is own
    assert ("tolerations" in found["spec"]) is own and found["spec"]["nodeName"] == "n1"
    assert found["status"] == {
        "phase": "Failed", "message": "password: (removed)", "containerStatuses": [{"name": "c"}],
    }  # fmt: skip
    assert SECRET not in str(found) and found["metadata"] == {"name": "p", "namespace": value["metadata"]["namespace"]}


@pytest.mark.parametrize("value", [{}, {"metadata": None, "spec": None}])
def test_a_pod_that_says_nothing(value: dict[str, Any]) -> None:
    assert fields.pod(value) == value


@pytest.mark.parametrize(
    ("shape", "kept", "dropped"),
    [
        (fields.NODE, {"spec": {"podCIDR": "10.244.0.0/24"}, "status": {"conditions": [{"type": "Ready"}]}},
         {"status": {"images": [SECRET]}}),
        (fields.DAEMONSET, {"spec": {"template": {"spec": {"volumes": [{"name": "v", "configMap": {"name": "c"}}]}}}},
         {"spec": {"template": {"spec": {"volumes": [{"name": "v", "secret": {"secretName": SECRET}}]}}}}),
        (fields.SERVICE, {"spec": {"clusterIP": "10.96.0.1"}}, {"spec": {"healthCheckNodePort": SECRET}}),
        (fields.EVENT, {"reason": "x", "involvedObject": {"kind": "Pod"}}, {"related": {"name": SECRET}}),
        (fields.NETWORK_POLICY, {"spec": {"podSelector": {}}}, {"status": SECRET}),
        (fields.NAMESPACE, {"status": {"phase": "Active"}}, {"spec": {"finalizers": [SECRET]}}),
    ],
)  # fmt: skip
def test_what_is_not_named_of_an_object_stays_in_the_cluster(
    shape: Any, kept: dict[str, Any], dropped: dict[str, Any]
) -> None:
    assert fields.copy_fields(kept, shape) == kept
    assert SECRET not in str(fields.copy_fields(dropped, shape))


MANIFEST = """\
spec:
  containers:
  - command:
    - kube-apiserver
    - --etcd-password={secret}
    env:
    - name: HTTPS_PROXY
      value: http://u:{secret}@p:3128
    - name: DB
      value: {secret}
    - name: TEXT
      value: |
        {secret}
        more {secret}
    - value: {secret}
      name: LATE
    image: registry.k8s.io/kube-apiserver:v1.37.2
    resources:
      value: 7
"""


def test_a_static_pods_file_without_values_that_may_be_secret() -> None:
    found = fields.manifest(MANIFEST.format(secret=SECRET))
    assert SECRET not in found
    lines = [line.strip() for line in found.splitlines()]
    assert lines.count("value: (removed)") == 2 and "- value: (removed)" in lines
    assert "value: http://(removed)@p:3128" in lines
    assert "value: 7" in lines and "image: registry.k8s.io/kube-apiserver:v1.37.2" in lines
    assert fields.manifest("") == ""
