# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from recorded import FIXTURES, Recorded

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import kubernetes
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing

CERTIFICATE = (FIXTURES / "cert.pem").read_text()


@pytest.fixture
def source(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def test_files_are_listed_to_a_depth_and_links_are_not_followed(source: Recorded) -> None:
    source.write("/etc/kubernetes/a/b/c/d", "")
    source.write("/etc/kubernetes/tmp/old/admin.conf", "")
    source.write("/var/lib/kubelet/pods/uid/volumes", "")
    source.write("/var/lib/etcd/member/snap", "")
    Path(source.path("/etc/kubernetes/link")).symlink_to(".")
    found = kubernetes.kubernetes_files(source)
    assert len(found) == len(set(found))
    assert {"/etc/kubernetes/a/b/c", "/etc/kubernetes/tmp", "/etc/kubernetes/link", "/etc/kubernetes/pki/ca.crt"} <= {
        *found
    }
    assert {"/var/lib/kubelet/pods", "/var/lib/kubelet/pki/kubelet.crt", "/var/lib/etcd/member"} <= set(found)
    for below in ("/etc/kubernetes/a/b/c/d", "/etc/kubernetes/tmp/old", "/var/lib/kubelet/pods/uid",
                  "/etc/kubernetes/link/pki", "/var/lib/etcd/member/snap"):  # fmt: skip
        assert below not in found


def test_at_most_500_files_are_listed(source: Recorded) -> None:
    for number in range(600):
        source.write(f"/etc/kubernetes/manifests/{number}", "")
    assert len(kubernetes.kubernetes_files(source)) == 500


def test_certificates_of_files_and_of_kubeconfigs(source: Recorded) -> None:
    source.write("/etc/kubernetes/pki/apiserver.crt", CERTIFICATE)
    source.write("/etc/kubernetes/pki/apiserver.key", "x")
    source.write("/etc/kubernetes/pki/etcd/peer.crt", CERTIFICATE)
    data = base64.b64encode(CERTIFICATE.encode()).decode()
    source.write("/etc/kubernetes/admin.conf", f"users:\n- user:\n    client-certificate-data: {data}\n")
    found = kubernetes.certificates(source)
    for path in (
        "/etc/kubernetes/pki/apiserver.crt",
        "/etc/kubernetes/pki/etcd/peer.crt",
        "/etc/kubernetes/admin.conf",
    ):
        assert "kubernetes" in found[path]["sans"] and "node1" in found[path]["sans"]
    assert "/etc/kubernetes/pki/apiserver.key" not in found
    assert "/var/lib/kubelet/pki/kubelet-client-current.pem" in found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/kubernetes/pki/broken.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        ("/etc/kubernetes/broken.conf", "client-certificate-data: '%%%'\n"),
    ],
)
def test_a_certificate_that_cannot_be_read_is_listed_beside_the_others(source: Recorded, path: str, text: str) -> None:
    source.write(path, text)
    found = kubernetes.certificates(source)
    assert "/etc/kubernetes/pki/ca.crt" in found and path not in found
    assert f"certificates.{path}" in source.missing


@pytest.mark.parametrize(
    "kubeconfig",
    [
        "clusters:\n- cluster:\n    server: https://192.0.2.99:6443\n  name: other\n",
        "clusters:\n- {cluster: {certificate-authority: a, server: 'https://192.0.2.99:6443'}, name: other}\n",
        '{"clusters":[{"cluster":{"certificate-authority":"a","server":"https://192.0.2.99:6443"},"name":"other"}]}',
        '    server: "https://192.0.2.99:6443" # the VIP\n',
    ],
    ids=["kubeadm's", "flow", "json", "quoted"],
)
def test_the_server_of_a_kubeconfig_is_read_in_whatever_form_it_is_written(source: Recorded, kubeconfig: str) -> None:
    source.write("/etc/kubernetes/kubelet.conf", kubeconfig)
    source.write("/etc/kubernetes/none.conf", "tls-server: x\n")
    assert kubernetes.kubeconfig_servers(source) == {"/etc/kubernetes/kubelet.conf": "https://192.0.2.99:6443"}


def test_the_configuration_of_kubelet_without_credentials(source: Recorded) -> None:
    source.write(
        "/var/lib/kubelet/config.yaml",
        "a: 1\nstaticPodURLHeader:\n  Authorization:\n  - geheim\nclusterDNS:\n- 10.96.0.10\n",
    )
    assert kubernetes.kubelet_config(source) == ("a: 1\nstaticPodURLHeader: (removed)\nclusterDNS:\n- 10.96.0.10\n")
    source.remove("/var/lib/kubelet/config.yaml")
    assert kubernetes.kubelet_config(source) == ""


def test_flags_are_kubeadms_and_then_the_administrators(source: Recorded) -> None:
    source.write("/var/lib/kubelet/kubeadm-flags.env", 'KUBELET_KUBEADM_ARGS="--node-ip=192.0.2.1"')
    source.write("/etc/default/kubelet", "KUBELET_EXTRA_ARGS=--api-token=geheim\n")
    source.write("/etc/sysconfig/kubelet", "X=1\n")
    assert kubernetes.kubelet_flags(source) == (
        'KUBELET_KUBEADM_ARGS="--node-ip=192.0.2.1"\nKUBELET_EXTRA_ARGS=--api-token=(removed)\nX=1\n'
    )


def test_versions(source: Recorded) -> None:
    assert kubernetes.kubelet_version(source) == kubernetes.kubeadm_version(source) == "v1.37.2"
    source.remove("/usr/bin/kubelet")
    assert kubernetes.kubelet_version(source) == "", "there is none"
    source.write("/opt/bin/kubelet", "")
    assert kubernetes.kubelet_version(source) == "v1.37.2"


@pytest.mark.parametrize(
    ("said", "version"), [("Kubernetes v1.38.0-rc.1\n", "v1.38.0-rc.1"), ("v1.30.1+k3s1\n", "v1.30.1+k3s1")]
)
def test_versions_with_a_suffix(source: Recorded, said: str, version: str) -> None:
    source.say("kubelet --version", said)
    assert kubernetes.kubelet_version(source) == version


def test_a_kubelet_that_does_not_name_its_version_is_missing(source: Recorded) -> None:
    source.say("kubelet --version", "unknown\n")
    with pytest.raises(Missing, match="kubelet did not name its version"):
        kubernetes.kubelet_version(source)


def test_what_flannel_wrote(source: Recorded) -> None:
    assert kubernetes.subnet_env(source).startswith("FLANNEL_NETWORK=10.244.0.0/16\n")
    source.remove("/run/flannel/subnet.env")
    assert kubernetes.subnet_env(source) == ""


START = "[preflight] Running pre-flight checks\n"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (f"noise\n{START}\t[WARNING Swap]: swap is on\n", f"{START}\t[WARNING Swap]: swap is on\n"),
        (f"{START}\t[WARNING x]: old\n{START}all well\n", ""),  # the last command counts
        ("[init] Using Kubernetes version: v1.37.2\nerror execution phase\n",
         "[init] Using Kubernetes version: v1.37.2\nerror execution phase\n"),
        (f"{START}the kubelet timed out\n", f"{START}the kubelet timed out\n"),
        (f"{START}no errors\n", ""),
    ],
)  # fmt: skip
def test_what_kubeadm_said_if_it_warned_or_failed(source: Recorded, log: str, said: str) -> None:
    source.write(kubernetes.KUBEADM_LOGS[1], f"{START}[WARNING y]: of cloud-init\n")
    source.write(kubernetes.KUBEADM_LOGS[0], log)
    assert kubernetes.kubeadm_output(source) == said


def test_a_long_output_is_cut_and_none_is_missing(source: Recorded) -> None:
    with pytest.raises(Missing, match="no output of kubeadm"):
        kubernetes.kubeadm_output(source)
    source.write(kubernetes.KUBEADM_LOGS[1], START + "[ERROR x]: y\n" * 300)
    assert kubernetes.kubeadm_output(source) == "[ERROR x]: y\n" * 60
