# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined

PROXY = {"HTTPS_PROXY": "http://proxy.example.com:3128", "HTTP_PROXY": "http://proxy.example.com:3128"}
ALL = "10.96.0.0/12,10.244.0.0/16,192.168.10.0/24,.svc,cluster.local"


def env(who, values, base="host"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["proxy_env"][who] = values
    return bundle


def test_a_shell_that_would_give_it_to_kubeadm():
    (found,) = findings("proxy-swallows-cluster", env("shell", PROXY))
    assert (found.severity, found.where) == ("warning", ["node2"])


def test_a_kubelet_behind_it():
    (found,) = findings("proxy-swallows-cluster", env("kubelet", PROXY, "cluster"))
    assert found.severity == "error"


@pytest.mark.parametrize("excepted", [ALL, "*", "10.0.0.0/8,192.168.0.0/16"])
def test_what_is_excepted(excepted):
    assert findings("proxy-swallows-cluster", env("kubelet", {**PROXY, "NO_PROXY": excepted}, "cluster")) == []


def test_one_range_that_is_not_excepted():
    values = {**PROXY, "no_proxy": "10.244.0.0/16,192.168.10.12"}
    (found,) = findings("proxy-swallows-cluster", env("kubelet", values, "cluster"))
    assert found.evidence["not excepted"] == ["the service range"]


def test_image_pulls_and_somebodys_shell():
    assert findings("proxy-swallows-cluster", env("containerd", PROXY, "cluster")) == []
    assert findings("proxy-swallows-cluster", env("shell", PROXY, "cluster")) == []


def test_a_shell_that_kubeadm_warned_of():
    bundle = env("shell", PROXY, "cluster")
    said = '[WARNING HTTPProxy]: Connection to "https://192.168.10.12" uses proxy "http://proxy:3128"'
    bundle["nodes"]["node2"]["kubeadm_output"] = said
    assert [found.severity for found in findings("proxy-swallows-cluster", bundle)] == ["warning"]


def static_pod(name, value, no_proxy=""):
    bundle = healthy()
    lines = f"    env:\n    - name: {name}\n      value: {value}\n    - name: no_proxy\n      value: '{no_proxy}'\n"
    text = bundle["cluster"]["manifests"]["node1"]["kube-apiserver.yaml"]
    bundle["cluster"]["manifests"]["node1"]["kube-apiserver.yaml"] = text.replace("    image:", f"{lines}    image:", 1)
    return bundle


def test_static_pods_that_got_it():
    (found,) = findings("proxy-swallows-cluster", static_pod("HTTPS_PROXY", "http://proxy:3128"))
    assert (found.severity, found.where) == ("error", ["node1"])
    (found,) = findings("proxy-swallows-cluster", static_pod("http_proxy", "http://proxy:3128"))
    assert found.severity == "warning"
    assert findings("proxy-swallows-cluster", static_pod("HTTPS_PROXY", "http://proxy:3128", ALL)) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["proxy_env"]
    assert [missed.key for missed in undetermined("proxy-swallows-cluster", bundle)] == ["nodes.*.proxy_env"]
