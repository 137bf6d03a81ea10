# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import kube_node
from rules import findings, healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

CERTIFICATE = "/etc/kubernetes/pki/apiserver.crt"
KUBELET = "/etc/kubernetes/kubelet.conf"


def with_endpoint(endpoint: str) -> dict:
    """An endpoint that was introduced later: every file names the first control plane."""
    bundle = healthy()
    text = bundle["cluster"]["kubeadm_config"]
    line = f"controlPlaneEndpoint: {endpoint}\n" if endpoint else ""
    bundle["cluster"]["kubeadm_config"] = text.replace("controlPlaneEndpoint: 192.168.10.11:6443\n", line)
    bundle["nodes"]["node1"]["certificates"][CERTIFICATE]["sans"].append("k8s.example.com")
    return bundle


def test_files_that_still_name_the_first_control_plane():
    (found,) = findings("endpoint-drift", with_endpoint("k8s.example.com:6443"))
    assert (found.severity, found.where) == ("warning", ["node1", "node2", "node3"])


def test_without_an_endpoint_the_first_control_plane_is_right():
    assert findings("endpoint-drift", with_endpoint("")) == []


def test_an_address_that_is_nobodys_is_an_error_where_the_node_is_not_ready():
    bundle = healthy()
    bundle["nodes"]["node3"]["kubeconfig_servers"][KUBELET] = "https://192.168.10.99:6443"
    (found,) = findings("endpoint-drift", bundle)
    assert (found.severity, found.where) == ("warning", ["node3"])  # a virtual address that evidence does not show
    ready = next(one for one in kube_node(bundle, "node3")["status"]["conditions"] if one["type"] == "Ready")
    ready["status"] = "Unknown"
    assert findings("endpoint-drift", bundle)[0].severity == "error"


def test_a_certificate_without_any_address_of_its_host():
    bundle = healthy()
    certificate = bundle["nodes"]["node1"]["certificates"]["/etc/kubernetes/pki/etcd/server.crt"]
    certificate["sans"] = ["localhost", "node1", "192.168.10.77", "127.0.0.1"]
    (found,) = findings("endpoint-drift", bundle)
    assert (found.severity, found.where) == ("warning", ["node1"])


def test_a_control_planes_kubelet_may_talk_to_its_own_api_server():
    bundle = with_endpoint("k8s.example.com:6443")
    for name in ("node2", "node3"):
        bundle["nodes"][name]["kubeconfig_servers"][KUBELET] = "https://k8s.example.com:6443"
    bundle["nodes"]["node1"]["kubeconfig_servers"]["/etc/kubernetes/admin.conf"] = "https://k8s.example.com:6443"
    assert findings("endpoint-drift", bundle) == []


def test_a_local_proxy_on_every_node():
    bundle = with_endpoint("k8s.example.com:6443")
    for node in bundle["nodes"].values():
        node["kubeconfig_servers"] = {KUBELET: "https://localhost:6443"}
    assert findings("endpoint-drift", bundle) == []


def test_a_host_whose_address_changed():
    bundle = healthy()
    files = bundle["cluster"]["manifests"]["node1"]
    files["etcd.yaml"] = files["etcd.yaml"].replace("192.168.10.11:2380", "192.168.10.77:2380")
    (found,) = findings("endpoint-drift", bundle)
    assert (found.severity, found.where) == ("error", ["node1"])
    assert "--initial-advertise-peer-urls" in found.summary


def test_an_endpoint_that_no_file_can_use_yet():
    bundle = with_endpoint("other.example.com:6443")
    assert findings("endpoint-drift", bundle) == []


def test_a_control_plane_that_lost_its_address_explains_what_flannel_still_tells():
    bundle = healthy()
    for link in bundle["nodes"]["node1"]["ip_address"]:
        for one in link["addr_info"]:
            one["local"] = one["local"].replace("192.168.10.11", "192.168.10.51")
    (found,) = [one for one in judge(View(bundle)).findings if one.severity == "error"]
    assert found.code == "endpoint-drift"
    assert {one.code for one in found.consequences} >= {"public-ip-wrong", "interface-wrong"}
