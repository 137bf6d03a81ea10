# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from recorded import Recorded

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import runtime
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing

CRICTL = "crictl --timeout 4s -r unix:///var/run/containerd/containerd.sock"


@pytest.fixture
def source(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def without_crictl(source: Recorded) -> Recorded:
    for command in [one for one in source.commands if one.startswith("crictl")]:
        del source.commands[command]
    return source


def test_a_recorded_runtime(source: Recorded) -> None:
    found = runtime.runtime(source)
    assert (found["name"], found["version"], found["cri_disabled"]) == ("containerd", "2.4.2", False)
    assert (found["bin_dir"], found["conf_dir"], found["cni_load_error"]) == ("/opt/cni/bin", "/etc/cni/net.d", "")
    assert found["systemd_cgroup"] is True and found["default_handler"] == "runc"
    assert found["socket"] == "unix:///var/run/containerd/containerd.sock" and found["sockets"] == []


def test_one_that_is_stopped_tells_its_folders_by_its_file(source: Recorded) -> None:
    dump = source.commands["containerd config dump"]["stdout"]
    assert "image-verifier" in dump  # which has a bin_dir of its own, after CRI's
    found = runtime.runtime(without_crictl(source))
    assert source.missing == {"runtime.cni_load_error": "crictl is not installed"}
    assert found["bin_dir"] == "/opt/cni/bin" and found["sandbox_image"] == "registry.k8s.io/pause:3.10.2"
    assert "cni_load_error" not in found


CONTAINERD_1 = """\
version = 2
disabled_plugins = {disabled}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.8"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = '/etc/cni/own'
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "nvidia"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
      runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
      SystemdCgroup = false
[plugins."io.containerd.internal.v1.opt"]
  bin_dir = "/opt/containerd/bin"
"""


@pytest.mark.parametrize(
    ("disabled", "off"), [("[]", False), ('["cri"]', True), ('["aufs", "cri"]', True), ('["criu"]', False),
                          ('["io.containerd.grpc.v1.cri"]', True)]
)  # fmt: skip
def test_containerd_1_by_its_file(source: Recorded, disabled: str, off: bool) -> None:
    source.write("/etc/containerd/config.toml", CONTAINERD_1.format(disabled=disabled))
    del source.commands["containerd config dump"]
    found = runtime.runtime(without_crictl(source))
    assert found["cri_disabled"] is off
    assert (found["bin_dir"], found["conf_dir"]) == ("/usr/lib/cni", "/etc/cni/own")
    assert found["sandbox_image"] == "registry.k8s.io/pause:3.8"
    assert found["handlers"] == {"runc": {"systemd_cgroup": True}, "nvidia": {"systemd_cgroup": False}}
    assert (found["default_handler"], found["systemd_cgroup"]) == ("nvidia", False)


@pytest.mark.parametrize(("manager", "systemd"), [("systemd", True), ("cgroupfs", False)])
def test_cri_o_by_its_files(source: Recorded, manager: str, systemd: bool) -> None:
    source.write("/var/lib/kubelet/config.yaml", "containerRuntimeEndpoint: /run/crio/crio.sock\n")
    source.write("/etc/crio/crio.conf", f'[crio.runtime]\ncgroup_manager = "{manager}"\ndefault_env = ["T=geheim"]\n')
    source.write("/etc/crio/crio.conf.d/10.conf", '[crio.network]\nplugin_dirs = [\n"/opt/own/bin",\n]\n')
    source.say("crio --version", "crio version 1.37.0\nGitCommit: x\n")
    found = runtime.runtime(source)
    assert (found["name"], found["socket"], found["version"]) == ("cri-o", "unix:///run/crio/crio.sock", "1.37.0")
    assert (found["bin_dir"], found["systemd_cgroup"]) == ("/opt/own/bin", systemd)
    assert "geheim" not in found["config"] and "plugin_dirs" in found["config"]


@pytest.mark.parametrize(
    ("flags", "config", "socket"),
    [
        ("--container-runtime-endpoint=unix:///run/a.sock", "containerRuntimeEndpoint: unix:///run/b.sock\n",
         "unix:///run/a.sock"),
        ("", 'containerRuntimeEndpoint: "unix:///run/b.sock"\n', "unix:///run/b.sock"),
        ("--container-runtime-endpoint /run/a.sock", "", "unix:///run/a.sock"),
        ("", "", ""),
    ],
)  # fmt: skip
def test_the_socket_is_the_one_that_kubelet_is_told(source: Recorded, flags: str, config: str, socket: str) -> None:
    source.write("/var/lib/kubelet/kubeadm-flags.env", f'KUBELET_KUBEADM_ARGS="{flags}"\n')
    source.write("/var/lib/kubelet/config.yaml", config)
    assert runtime.runtime(source)["socket"] == socket


def test_one_that_is_not_where_kubelet_is_told_is_told_all_the_same(source: Recorded) -> None:
    source.write("/var/lib/kubelet/config.yaml", "containerRuntimeEndpoint: unix:///run/crio/crio.sock\n")
    found = runtime.runtime(source)
    assert (found["name"], found["socket"]) == ("cri-o", "unix:///run/crio/crio.sock") and "version" not in found
    assert source.missing["runtime.version"] == "crio is not installed"


def test_a_host_without_a_runtime_has_none(source: Recorded) -> None:
    source.write("/var/lib/kubelet/config.yaml", "")
    assert runtime.runtime(source) == {"name": "", "socket": "", "sockets": []}
    with pytest.raises(Missing, match="there is no CRI socket"):
        runtime.sandboxes(source)


def test_sockets_that_are_there_are_listed_and_asked(source: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    source.write("/var/lib/kubelet/config.yaml", "")
    source.write("/run/containerd/containerd.sock", "")  # a file is no socket
    monkeypatch.chdir(source.path("/run"))  # the path of a socket is short
    os.mkdir("crio")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("crio/crio.sock")
        found = runtime.runtime(source)
    assert found["sockets"] == ["unix:///run/crio/crio.sock"] and found["name"] == "cri-o"
    source.say("crictl --timeout 4s -r unix:///run/crio/crio.sock pods -s ready -o json", '{"items": []}')
    assert runtime.sandboxes(source) == []


@pytest.mark.parametrize(
    ("info", "said"),
    [
        ({"status": {"conditions": [{"type": "NetworkReady", "status": True}]}}, {"cni_load_error": ""}),
        ({"status": {"conditions": [{"type": "NetworkReady", "status": False, "message": "no conf"}]}},
         {"cni_load_error": "no conf"}),
        ({"status": {"conditions": [{"type": "NetworkReady", "status": False, "reason": "NotReady"}]}},
         {"cni_load_error": "NotReady"}),
        ({"lastCNILoadStatus": "cni config load failed"}, {"cni_load_error": "cni config load failed"}),
        ({"lastCNILoadStatus": "OK"}, {}),
        ({"config": {"cni": {"binDirs": ["/a", "/b"], "confDir": "/c"}}}, {"bin_dir": "/a", "conf_dir": "/c"}),
        ({"config": {"cni": {"binDir": "/d", "binDirs": ["/a"]}, "sandboxImage": "pause:1"}},
         {"bin_dir": "/d", "sandbox_image": "pause:1"}),
        ({"config": None, "status": None}, {}),
    ],
)  # fmt: skip
def test_what_the_runtime_says_of_itself_comes_before_its_files(
    source: Recorded, info: dict[str, Any], said: dict[str, Any]
) -> None:
    expected = {
        "bin_dir": "/opt/cni/bin",
        "conf_dir": "/etc/cni/net.d",
        "sandbox_image": "registry.k8s.io/pause:3.10.2",
    }
    source.say(f"{CRICTL} info", json.dumps(info))
    found = runtime.runtime(source)
    assert {key: found[key] for key in {*expected, *said}} == {**expected, **said}
    assert "cni_load_error" in said or "cni_load_error" not in found


@pytest.mark.parametrize("answer", ["[]", "x", ""])
def test_info_that_is_no_object_is_missing(source: Recorded, answer: str) -> None:
    source.say(f"{CRICTL} info", answer)
    with pytest.raises(Missing, match=r"did not answer (an object|JSON)"):
        runtime.cri_info(source)


AUTH = '[p."cri".registry.configs."r".auth]\n  password = '


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('[a]\nroot = "/x"\n', '[a]\nroot = "/x"\n'),
        (f'{AUTH}"geheim"\n', f"{AUTH}(removed)\n"),
        ('[p.registry]\nconfig_path = "/d"\nx = "geheim"\n', '[p.registry]\nconfig_path = "/d"\nx = (removed)\n'),
        ('[p.registry.m]\nendpoint = ["https://u:geheim@m"]\n', '[p.registry.m]\nendpoint = ["https://(removed)@m"]\n'),
        ('[p.headers]\n  X = [\n    "geheim",\n  ]\n  Y = 1\n', "[p.headers]\n  X = (removed)\n  Y = (removed)\n"),
        ('[p.headers]\n  X = """\ngeheim\n"""\n[b]\nc = 2\n', "[p.headers]\n  X = (removed)\n[b]\nc = 2\n"),
        ("[p.headers]\n  X = '''geheim'''\n[b]\nc = 2\n", "[p.headers]\n  X = (removed)\n[b]\nc = 2\n"),
        ('[r]\nenv = [\n  "A=geheim", # ]\n  "B=geheim"\n] # end\nc = 2\n', "[r]\nenv = (removed)\nc = 2\n"),
        ('[crio.runtime]\ndefault_env = ["A=geheim"]\nc = 2\n', "[crio.runtime]\ndefault_env = (removed)\nc = 2\n"),
        ('[p.x]\nheaders = {A = "geheim"}\nc = [\n1,\n]\n', "[p.x]\nheaders = (removed)\nc = [\n1,\n]\n"),
        ("", ""),
    ],
)
def test_a_file_without_what_can_hold_credentials(text: str, kept: str) -> None:
    assert runtime.filtered_toml(text) == kept


def test_cni_files_of_the_runtimes_folder(source: Recorded) -> None:
    info = json.loads(source.commands[f"{CRICTL} info"]["stdout"])
    info["config"]["cni"]["confDir"] = "/etc/cni/own"
    source.say(f"{CRICTL} info", json.dumps(info))
    source.write("/etc/cni/own/10-a.conflist", '{"name": "a", "password": "geheim"}')
    source.write("/etc/cni/own/calico-kubeconfig", "token: geheim\n")
    source.write("/etc/cni/own/multus.d/x.conf", "{}")
    assert runtime.cni_config(source) == {
        "10-a.conflist": '{"name": "a", "password": "(removed)"}',
        "calico-kubeconfig": "(not copied: no CNI configuration)",
    }


def test_plugins_are_what_can_be_run(source: Recorded) -> None:
    Path(source.path("/opt/cni/bin/portmap")).chmod(0o644)
    assert runtime.cni_bin(source) == ["bridge", "flannel", "host-local", "loopback"]


def test_leases_are_named_by_addresses(source: Recorded) -> None:
    source.write("/var/lib/cni/networks/cbr0/10.244.1.2", "5f0c\r\neth0")
    source.write("/var/lib/cni/networks/cbr0/fd42::5", "5f0d\n")
    source.write("/var/lib/cni/networks/readme", "")
    assert runtime.cni_ipam(source) == {"cbr0": {"10.244.1.2": "5f0c", "fd42::5": "5f0d"}}


def status(identity: str, ip: str) -> dict[str, Any]:
    """The fields that are read of what `crictl inspectp` (v1.37.0) says of a sandbox."""
    return {"status": {"id": identity, "network": {"additionalIps": [], "ip": ip}}}


A, B = status("a", "10.244.1.5"), status("b", "")


@pytest.mark.parametrize(
    ("identities", "answer", "addresses"),
    [
        (["a"], json.dumps(A, indent=2), ["10.244.1.5"]),
        (["a", "b"], json.dumps([A, B], indent=2), ["10.244.1.5", ""]),
        (["a", "b"], f"{json.dumps(B)}\nnull\n{json.dumps(A)}\n", ["10.244.1.5", ""]),  # of older versions
        (["a", "b"], json.dumps([A]), ["10.244.1.5", ""]),
    ],
)
def test_sandboxes_with_their_addresses(
    source: Recorded, identities: list[str], answer: str, addresses: list[str]
) -> None:
    items = [{"id": one, "metadata": {"name": f"pod-{one}", "namespace": "default"}} for one in identities]
    source.say(f"{CRICTL} pods -s ready -o json", json.dumps({"items": items}))
    source.say(f"{CRICTL} inspectp -q -o json {' '.join(identities)}", answer)
    assert runtime.sandboxes(source) == [
        {"id": one, "namespace": "default", "pod": f"pod-{one}", "ip": ip} for one, ip in zip(identities, addresses)
    ]
    assert source.missing == {}


@pytest.mark.parametrize(("rc", "answer", "reason"), [(1, "", "failed with 1"), (0, "no JSON", "Expecting value")])
def test_sandboxes_whose_addresses_cannot_be_had_are_told_all_the_same(
    source: Recorded, rc: int, answer: str, reason: str
) -> None:
    source.say(f"{CRICTL} pods -s ready -o json", '{"items": [{"id": "a"}]}')
    source.say(f"{CRICTL} inspectp -q -o json a", answer, rc)
    assert runtime.sandboxes(source) == [{"id": "a", "namespace": "", "pod": "", "ip": ""}]
    assert reason in source.missing["sandboxes.ip"]
