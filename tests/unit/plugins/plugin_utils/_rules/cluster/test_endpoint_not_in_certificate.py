# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import flannel_pod, log, waits
from rules import findings, healthy, undetermined

CERTIFICATE = "/etc/kubernetes/pki/apiserver.crt"
KUBELET = "/etc/kubernetes/kubelet.conf"


def with_endpoint(endpoint: str) -> dict:
    bundle = healthy()
    text = bundle["cluster"]["kubeadm_config"]
    bundle["cluster"]["kubeadm_config"] = text.replace("192.168.10.11:6443", endpoint)
    return bundle


def test_a_name_that_the_certificate_does_not_have():
    (found,) = findings("endpoint-not-in-certificate", with_endpoint("k8s.example.com:6443"))
    assert (found.severity, found.where) == ("error", ["node1"])
    assert found.evidence["asked for"] == "k8s.example.com"


def test_a_name_or_wildcard_that_it_has():
    for name in ("K8s.example.com", "*.example.com"):
        bundle = with_endpoint("k8s.example.com:6443")
        bundle["nodes"]["node1"]["certificates"][CERTIFICATE]["sans"].append(name)
        assert findings("endpoint-not-in-certificate", bundle) == []


def test_a_server_that_most_hosts_use():
    bundle = healthy()
    bundle["nodes"]["node3"]["kubeconfig_servers"][KUBELET] = "https://10.0.0.10:6443"
    assert findings("endpoint-not-in-certificate", bundle) == []  # it has drifted
    bundle["nodes"]["node2"]["kubeconfig_servers"][KUBELET] = "https://10.0.0.10:6443"
    assert findings("endpoint-not-in-certificate", bundle)[0].evidence["asked for"] == "10.0.0.10"


def test_the_service_address_that_flannel_refuses():
    bundle = healthy()
    bundle["nodes"]["node1"]["certificates"][CERTIFICATE]["sans"].remove("10.96.0.1")
    pod = flannel_pod(bundle)
    waits(pod, "CrashLoopBackOff")
    words = "x509: certificate is valid for 192.168.10.11, not"
    log(bundle, pod, f"Get https://10.96.0.1:443/api: {words} 10.96.0.1\nPost https://a.b.svc:443/: {words} a.b.svc")
    (found,) = findings("endpoint-not-in-certificate", bundle)
    assert (found.evidence["asked for"], found.where) == ("10.96.0.1", ["node1"])


def test_one_control_planes_own_address_is_not_asked_of_the_others():
    bundle = healthy()
    node2 = bundle["nodes"]["node2"]
    node2["certificates"][CERTIFICATE] = {"sans": ["192.168.10.11", "192.168.10.12"]}
    node2["kubeconfig_servers"][KUBELET] = "https://192.168.10.12:6443"
    assert findings("endpoint-not-in-certificate", bundle) == []


def test_addresses_are_compared_as_addresses():
    bundle = with_endpoint("'[fd00:0:0::11]:6443'")
    bundle["nodes"]["node1"]["certificates"][CERTIFICATE]["sans"].append("FD00::11")
    assert findings("endpoint-not-in-certificate", bundle) == []


def test_without_certificates_the_kubelets_words_tell():
    bundle = healthy()
    del bundle["nodes"]["node1"]["certificates"]
    assert undetermined("endpoint-not-in-certificate", bundle)
    words = 'Get \\"https://10.0.0.10:6443/api\\": tls: x509: certificate is valid for 10.96.0.1, not 10.0.0.10"'
    bundle["nodes"]["node2"]["journal"]["kubelet"] = words
    assert findings("endpoint-not-in-certificate", bundle)[0].where == ["node2"]
