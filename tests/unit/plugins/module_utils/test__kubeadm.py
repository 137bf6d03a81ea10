# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubeadm

CA = (pathlib.Path(__file__).parent / "fixtures" / "ca.crt").read_text()
# openssl x509 -pubkey -noout -in ca.crt | openssl pkey -pubin -outform der | sha256sum
CA_HASH = "sha256:86f2c81bab6f8548df6772a5b2b08785b1448f9f1f054c169892aa16e636e5c4"
TOKEN = "abcdef.0123456789abcdef"


def place(root: pathlib.Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def kubernetes(*names: str) -> list[str]:
    return ["etc/kubernetes/" + name for name in names]


CERTIFICATES = kubernetes("pki/ca.crt", "pki/ca.key")
CONFS = kubernetes("admin.conf", "kubelet.conf")
PODS = kubernetes(*(f"manifests/{name}.yaml" for name in _kubeadm.STATIC_PODS))
CONTROL_PLANE = CERTIFICATES + CONFS + PODS


def test_hash_is_that_of_openssl() -> None:
    assert _kubeadm.ca_cert_hash(CA) == CA_HASH


def test_hash_of_something_else_is_an_error() -> None:
    with pytest.raises(ValueError, match="no PEM certificate"):
        _kubeadm.ca_cert_hash("nothing")


def test_mask_hides_tokens_and_keys_and_leaves_hashes() -> None:
    text = f"join --token {TOKEN} --certificate-key {'a1' * 32} --discovery-token-ca-cert-hash {CA_HASH}"
    masked = _kubeadm.mask(text)
    assert TOKEN not in masked and "a1a1" not in masked
    assert "abcdef." in masked and CA_HASH in masked


@pytest.mark.parametrize(
    ("files", "marker", "state"),
    [
        ([], "", "fresh"),
        ([], "init", "fresh"),  # killed before kubeadm wrote anything, or reset afterwards
        (CERTIFICATES, "", "resume"),
        (CERTIFICATES + CONFS, "", "resume"),
        (CONTROL_PLANE, "", "done"),
        (CONTROL_PLANE, "init", "resume"),
        (kubernetes("pki/ca.crt", "kubelet.conf"), "", "member"),
    ],
)
def test_init_state(tmp_path: pathlib.Path, files: list[str], marker: str, state: str) -> None:
    place(tmp_path, *files)
    if marker:
        place(tmp_path, _kubeadm.MARKER)
        (tmp_path / _kubeadm.MARKER).write_text(marker + "\n")
    assert _kubeadm.init_state(_kubeadm.look(str(tmp_path))) == state


@pytest.mark.parametrize(
    ("files", "marker", "control_plane", "state"),
    [
        ([], "join", False, "fresh"),
        (kubernetes("bootstrap-kubelet.conf"), "", False, "resume"),
        (kubernetes("bootstrap-kubelet.conf", "pki/ca.crt"), "join", False, "resume"),
        (kubernetes("kubelet.conf", "pki/ca.crt"), "join", False, "done"),
        (kubernetes("kubelet.conf", "bootstrap-kubelet.conf", "pki/ca.crt"), "join", False, "resume"),
        (kubernetes("kubelet.conf", "pki/ca.crt"), "", False, "done"),
        (kubernetes("kubelet.conf", "pki/ca.crt"), "", True, "resume"),
        (CONTROL_PLANE, "join", True, "resume"),
        (CONTROL_PLANE, "", True, "done"),
    ],
)
def test_join_state(tmp_path: pathlib.Path, files: list[str], marker: str, control_plane: bool, state: str) -> None:
    place(tmp_path, *files)
    if marker:
        (tmp_path / "etc/kubernetes").mkdir(parents=True, exist_ok=True)
        (tmp_path / _kubeadm.MARKER).write_text(marker + "\n")
    assert _kubeadm.join_state(_kubeadm.look(str(tmp_path)), control_plane) == state


def test_an_empty_file_counts_as_missing_and_as_torn(tmp_path: pathlib.Path) -> None:
    place(tmp_path, *CONTROL_PLANE)
    (tmp_path / "etc/kubernetes/admin.conf").write_text("")
    assert not _kubeadm.look(str(tmp_path)).admin_conf
    assert _kubeadm.torn_files(str(tmp_path)) == [str(tmp_path / "etc/kubernetes/admin.conf")]


def test_only_what_is_there_is_ignored(tmp_path: pathlib.Path) -> None:
    place(tmp_path, *CERTIFICATES, "etc/kubernetes/manifests/etcd.yaml", "var/lib/etcd/member/snap")
    traces = _kubeadm.look(str(tmp_path))
    assert _kubeadm.ignored_checks(traces, "init") == [
        "DirAvailable--var-lib-etcd",
        "FileAvailable--etc-kubernetes-manifests-etcd.yaml",
        "Port-2379",
        "Port-2380",
    ]


def test_ignored_checks_of_a_join(tmp_path: pathlib.Path) -> None:
    place(tmp_path, *kubernetes("pki/ca.crt", "bootstrap-kubelet.conf"), "var/lib/kubelet/config.yaml")
    assert _kubeadm.ignored_checks(_kubeadm.look(str(tmp_path)), "join") == [
        "FileAvailable--etc-kubernetes-bootstrap-kubelet.conf",
        "FileAvailable--etc-kubernetes-pki-ca.crt",
        "Port-10250",
    ]


def test_a_fresh_host_ignores_nothing(tmp_path: pathlib.Path) -> None:
    assert _kubeadm.ignored_checks(_kubeadm.look(str(tmp_path)), "join") == []


def test_at_work_finds_what_changes_the_host_only(tmp_path: pathlib.Path) -> None:
    for pid, argv in {
        "12": ["/usr/bin/kubeadm", "join", "--config", "x"],
        "13": ["kubeadm", "version"],
        "14": ["grep", "kubeadm", "init"],
        "self": ["kubeadm", "init"],
    }.items():
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_bytes("\0".join(argv).encode() + b"\0")
    assert _kubeadm.at_work(str(tmp_path)) == [(12, "join")]


def test_server_of() -> None:
    assert _kubeadm.server_of("clusters:\n- cluster:\n    server: https://10.89.0.11:6443\n") == "10.89.0.11:6443"
    assert _kubeadm.server_of("nothing") == ""


class Runner:
    """Answers in turn, and remembers what was run."""

    def __init__(self, *answers: tuple[int, str, str]) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[list[str], dict[str, Any]]] = []

    def __call__(self, args: list[str], **options: Any) -> tuple[int, str, str]:
        self.calls.append((args, options))
        return self.answers.pop(0)


def test_token_is_on_no_command_line() -> None:
    run = Runner((0, TOKEN + "\n", ""))
    assert _kubeadm.Kubeadm(run).create_token("/etc/kubernetes/admin.conf", "30m", "for one run") == TOKEN
    assert not any(TOKEN in word for args, _options in run.calls for word in args)


def test_token_that_is_gone_already() -> None:
    run = Runner(
        (1, "", 'error: failed to delete bootstrap token "abcdef": secrets "bootstrap-token-abcdef" not found')
    )
    assert _kubeadm.Kubeadm(run).delete_token("/etc/kubernetes/admin.conf", "abcdef") is False


def test_failure_has_the_reason_and_no_secret() -> None:
    err = f"[preflight] Some fatal errors occurred:\n\t[ERROR Port-10250]: Port 10250 is in use {TOKEN}\nerror: x\n"
    with pytest.raises(_kubeadm.KubeadmError) as info:
        _kubeadm.Kubeadm(Runner((1, "", err))).join("/tmp/x", ["Port-6443"])
    assert "Port 10250 is in use" in str(info.value)
    assert TOKEN not in str(info.value)


def test_limit_is_told() -> None:
    with pytest.raises(_kubeadm.KubeadmError, match="did not end within 5 s.*etcd"):
        _kubeadm.Kubeadm(Runner((124, "waiting for etcd\n", "")), limit=5).init("/tmp/x", [])


def test_documents_are_apart() -> None:
    assert _kubeadm.render([{"kind": "A"}, {"kind": "B"}]).count("\n---\n") == 1


# As kubeadm v1.37.2 keeps it in the ConfigMap kubeadm-config.
RUNNING: dict[str, Any] = {
    "apiServer": {},
    "apiVersion": "kubeadm.k8s.io/v1beta4",
    "certificateValidityPeriod": "8760h0m0s",
    "controllerManager": {"extraArgs": [{"name": "node-cidr-mask-size-ipv4", "value": "24"}]},
    "kind": "ClusterConfiguration",
    "kubernetesVersion": "v1.37.2",
    "networking": {"dnsDomain": "cluster.local", "podSubnet": "10.244.0.0/16", "serviceSubnet": "10.96.0.0/12"},
}


def test_a_configuration_is_like_what_kubeadm_made_of_it() -> None:
    wanted = {
        "kind": "ClusterConfiguration",
        "controlPlaneEndpoint": "",
        "apiServer": {"certSANs": []},
        "controllerManager": {"extraArgs": [{"value": "24", "name": "node-cidr-mask-size-ipv4"}]},
        "networking": {"podSubnet": "10.244.0.0/16"},
    }
    assert _kubeadm.unlike(wanted, RUNNING) == []


def test_fields_that_differ_are_named() -> None:
    wanted = {
        "apiServer": {"certSANs": ["k8s.example.org"]},
        "controllerManager": {"extraArgs": [{"name": "node-cidr-mask-size-ipv4", "value": "25"}]},
        "networking": {"dnsDomain": "example.org"},
        "etcd": {"local": {"dataDir": "/srv/etcd"}},
    }
    assert _kubeadm.unlike(wanted, RUNNING) == [
        "apiServer.certSANs",
        "controllerManager.extraArgs",
        "etcd.local.dataDir",
        "networking.dnsDomain",
    ]


def test_the_order_of_a_list_is_no_difference() -> None:
    assert _kubeadm.unlike({"certSANs": ["a", "b"]}, {"certSANs": ["b", "a"]}) == []
