# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubeadm_traces


def place(root: pathlib.Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def kubernetes(*names: str) -> list[str]:
    return ["etc/kubernetes/" + name for name in names]


CERTIFICATES = kubernetes("pki/ca.crt", "pki/ca.key")
CONFS = kubernetes("admin.conf", "kubelet.conf")
PODS = kubernetes(*(f"manifests/{name}.yaml" for name in _kubeadm_traces.STATIC_PODS))
CONTROL_PLANE = CERTIFICATES + CONFS + PODS


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
        place(tmp_path, _kubeadm_traces.MARKER)
        (tmp_path / _kubeadm_traces.MARKER).write_text(marker + "\n")
    assert _kubeadm_traces.init_state(_kubeadm_traces.look(str(tmp_path))) == state


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
        (tmp_path / _kubeadm_traces.MARKER).write_text(marker + "\n")
    assert _kubeadm_traces.join_state(_kubeadm_traces.look(str(tmp_path)), control_plane) == state


def test_an_empty_file_counts_as_missing_and_as_torn(tmp_path: pathlib.Path) -> None:
    place(tmp_path, *CONTROL_PLANE)
    (tmp_path / "etc/kubernetes/admin.conf").write_text("")
    assert not _kubeadm_traces.look(str(tmp_path)).admin_conf
    assert _kubeadm_traces.torn_files(str(tmp_path)) == [str(tmp_path / "etc/kubernetes/admin.conf")]


def test_only_what_is_there_is_ignored(tmp_path: pathlib.Path) -> None:
    place(tmp_path, *CERTIFICATES, "etc/kubernetes/manifests/etcd.yaml", "var/lib/etcd/member/snap")
    traces = _kubeadm_traces.look(str(tmp_path))
    assert _kubeadm_traces.ignored_checks(traces, "init") == [
        "DirAvailable--var-lib-etcd",
        "FileAvailable--etc-kubernetes-manifests-etcd.yaml",
        "Port-2379",
        "Port-2380",
    ]


def test_ignored_checks_of_a_join(tmp_path: pathlib.Path) -> None:
    place(tmp_path, *kubernetes("pki/ca.crt", "bootstrap-kubelet.conf"), "var/lib/kubelet/config.yaml")
    assert _kubeadm_traces.ignored_checks(_kubeadm_traces.look(str(tmp_path)), "join") == [
        "FileAvailable--etc-kubernetes-bootstrap-kubelet.conf",
        "FileAvailable--etc-kubernetes-pki-ca.crt",
        "Port-10250",
    ]


def test_a_fresh_host_ignores_nothing(tmp_path: pathlib.Path) -> None:
    assert _kubeadm_traces.ignored_checks(_kubeadm_traces.look(str(tmp_path)), "join") == []


def test_at_work_finds_what_changes_the_host_only(tmp_path: pathlib.Path) -> None:
    for pid, argv in {
        "12": ["/usr/bin/kubeadm", "join", "--config", "x"],
        "13": ["kubeadm", "version"],
        "14": ["grep", "kubeadm", "init"],
        "self": ["kubeadm", "init"],
    }.items():
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_bytes("\0".join(argv).encode() + b"\0")
    assert _kubeadm_traces.at_work(str(tmp_path)) == [(12, "join")]


@pytest.mark.parametrize("verb", ["init", "join"])
def test_the_marker_is_there_while_a_run_is_at_work(tmp_path: pathlib.Path, verb: str) -> None:
    _kubeadm_traces.mark(verb, str(tmp_path))
    assert _kubeadm_traces.look(str(tmp_path)).marker == verb
    for _twice in range(2):
        _kubeadm_traces.mark(None, str(tmp_path))
        assert _kubeadm_traces.look(str(tmp_path)) == _kubeadm_traces.Traces()


def test_etcd_may_keep_its_data_elsewhere(tmp_path: pathlib.Path) -> None:
    place(tmp_path, "srv/etcd/member")
    traces = _kubeadm_traces.look(str(tmp_path), "/srv/etcd")
    assert traces.etcd_data and not _kubeadm_traces.look(str(tmp_path)).etcd_data
    assert _kubeadm_traces.ignored_checks(traces, "init", "/srv/etcd") == ["DirAvailable--srv-etcd"]
