# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded import Recorded

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.gather import gather
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.node import TABLE

SECRET = "s3cr3tPLANTED"
# What containers have no DMI for, what nobody wrote a log of, and what was asked in other words when it was recorded.
NOT_THERE = {"product_uuid", "kubeadm_output", "sandboxes.ip"}


@pytest.mark.parametrize("name", ["n1", "n2"])
def test_a_node_of_a_cluster_answers_every_key(tmp_path, name):
    evidence, missing = gather(Recorded(tmp_path, name), TABLE, TABLE)
    # A socket cannot be recorded; all else is there.
    assert set(missing) <= NOT_THERE
    assert set(evidence) == set(TABLE) - NOT_THERE
    json.dumps(evidence)


def test_the_worker_is_what_it_was(tmp_path):
    evidence, _missing = gather(Recorded(tmp_path, "n2"), TABLE, TABLE)
    assert evidence["hostname"] == "n2"
    assert evidence["os_release"]["VERSION_ID"] == "13"
    assert evidence["kubelet_version"] == evidence["kubeadm_version"] == "v1.37.2"
    assert evidence["subnet_env"].startswith("FLANNEL_NETWORK=10.244.0.0/16\n")
    assert evidence["packages"]["kubelet"] == {"version": "1.37.2-1.1", "held": True}
    assert evidence["cni_bin"] == ["bridge", "flannel", "host-local", "loopback", "portmap"]
    assert json.loads(evidence["cni_config"]["10-flannel.conflist"])["name"] == "cbr0"
    assert evidence["link_offload"]["flannel.1"]["tx-checksum-ip-generic"] is True
    assert evidence["units"]["kubelet"]["active"] == "active"
    assert evidence["units"]["kubelet"]["since"].endswith("Z")
    assert evidence["units"]["docker"] == {"active": "inactive", "enabled": "not-found", "since": ""}
    assert {"udp UNCONN 0 0 0.0.0.0:8472 0.0.0.0:*"} <= set(evidence["listening"])
    assert evidence["kubeconfig_servers"]["/etc/kubernetes/kubelet.conf"].endswith(":6443")
    assert evidence["certificates"]["/etc/kubernetes/pki/ca.crt"]["sans"] == ["kubernetes"]
    assert evidence["package_sources"] and all(line.startswith("deb ") for line in evidence["package_sources"])
    runtime = evidence["runtime"]
    assert runtime["name"] == "containerd" and runtime["version"] == "2.4.2"
    assert runtime["bin_dir"] == "/opt/cni/bin" and runtime["conf_dir"] == "/etc/cni/net.d"
    assert runtime["systemd_cgroup"] is True and runtime["handlers"]["runc"] == {"systemd_cgroup": True}
    assert runtime["sandbox_image"] == "registry.k8s.io/pause:3.10.2" and runtime["cri_disabled"] is False
    assert runtime["cni_load_error"] == ""
    assert {box["namespace"] for box in evidence["sandboxes"]} >= {"kube-flannel", "kube-system"}


def test_every_command_that_fails_leaves_its_key_absent_and_nothing_else(tmp_path):
    whole, _missing = gather(Recorded(tmp_path, "n1"), TABLE, TABLE)
    for command in Recorded(tmp_path, "n1", build=False).commands:
        source = Recorded(tmp_path, "n1", build=False)
        del source.commands[command]
        evidence, missing = gather(source, TABLE, TABLE)
        lost = {key for key in whole if key not in evidence}
        assert lost <= {name.partition(".")[0] for name in missing}, command
        assert not any("could not be understood" in why for why in missing.values()), (command, missing)


@pytest.mark.parametrize(
    "answer", ["", "\n", "BusyBox v1.36\n", "{}", "[]", "[1]", "null", "\x00\ufffd", "x" * 100_000]
)
def test_whatever_a_command_says_nothing_fails(tmp_path, answer):
    source = Recorded(tmp_path, "n1")
    for command in source.commands:
        source.say(command, answer)
    evidence, _missing = gather(source, TABLE, TABLE)
    json.dumps(evidence)


def test_an_empty_host_is_looked_at(tmp_path):
    source = Recorded(tmp_path)
    source.commands.clear()
    source.root = str(tmp_path / "empty")
    (tmp_path / "empty").mkdir()
    evidence, missing = gather(source, TABLE, TABLE)
    assert evidence["kubernetes_files"] == [] and evidence["cni_config"] == {} and evidence["subnet_env"] == ""
    assert "ip_address" in missing and "sysctl" in missing and "modules" in missing


PLACES = {
    "/etc/cni/net.d/calico-kubeconfig": f"token: {SECRET}\n",
    "/etc/cni/net.d/20-x.conf": json.dumps({"type": "x", "password": SECRET}),
    "/etc/containerd/config.toml": (
        'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry.configs."r".auth]\n'
        f'  username = "u"\n  password = "{SECRET}"\n  auth = "{SECRET}"\n  identitytoken = "{SECRET}"\n'
        f'[plugins."io.containerd.grpc.v1.cri".registry.headers]\n  X-Meta = ["{SECRET}"]\n'
    ),
    "/etc/environment": f"HTTPS_PROXY=http://user:{SECRET}@proxy:3128\nAPI_TOKEN={SECRET}\n",
    "/etc/profile.d/p.sh": f"export http_proxy='http://{SECRET}@proxy:3128'\nexport PASSWORD={SECRET}\n",
    "/etc/systemd/network/wg0.netdev": f"[WireGuard]\nPrivateKey={SECRET}\n[WireGuardPeer]\nPresharedKey={SECRET}\n",
    "/etc/NetworkManager/conf.d/x.conf": f"[802-1x]\npassword={SECRET}\n",
    "/etc/NetworkManager/system-connections/wifi.nmconnection": f"psk={SECRET}\n",
    "/etc/default/kubelet": f"KUBELET_EXTRA_ARGS=--x-token={SECRET} --y-password {SECRET}\n",
    "/var/lib/kubelet/config.yaml": (
        f"kind: KubeletConfiguration\nstaticPodURLHeader:\n  Authorization:\n  - {SECRET}\nclusterDNS:\n- 10.96.0.10\n"
    ),
    "/etc/apt/sources.list": f"deb https://user:{SECRET}@repo.example.com/debian stable main\n",
    "/etc/apt/sources.list.d/x.sources": f"Types: deb\nURIs: https://{SECRET}@repo.example.com/\nSuites: /\n",
    "/var/log/kubeadm.log": (
        "[preflight] Running pre-flight checks\n\t[WARNING x]: y\n"
        "kubeadm join 10.0.0.1:6443 --token abcdef.0123456789abcdef \\\n"
        f"\t--certificate-key {'0a' * 32}\nUsing certificate key:\n{'0a' * 32}\n"
    ),
    "/proc/cmdline": f"ipv6.disable=1 ds=nocloud;password={SECRET} token={SECRET}\n",
    "/etc/kubernetes/kubelet.conf": f"  server: https://u:{SECRET}@10.0.0.1:6443\n  client-key-data: {SECRET}\n",
    "/var/lib/kubelet/pki/kubelet-client-current.pem": f"-----BEGIN EC PRIVATE KEY-----\n{SECRET}\n",
}


def test_no_secret_enters(tmp_path):
    source = Recorded(tmp_path, "n1")
    for path, text in PLACES.items():
        source.write(path, text)
    for name in list(source.commands):
        if name.startswith("journalctl"):
            source.say(name, f"E1130 12:00:00.0 1 x.go:1] dial https://u:{SECRET}@h token={SECRET} Bearer {SECRET}\n")
        elif name.startswith("containerd config dump"):
            source.say(name, PLACES["/etc/containerd/config.toml"])
        elif "Environment" in name:
            source.say(name, f'Environment=HTTP_PROXY=http://u:{SECRET}@p:1 "X={SECRET} y" PASSWORD={SECRET}\n')
        elif name.endswith(" info"):
            info = json.loads(source.commands[name]["stdout"])
            info["config"]["registry"] = {"configs": {"r": {"auth": {"password": SECRET}}}}
            source.say(name, json.dumps(info))
    evidence, missing = gather(source, TABLE, TABLE)
    told = json.dumps([evidence, missing])
    assert SECRET not in told and "abcdef.0123" not in told and "0a0a0a0a0a" not in told
    # ... and what stands beside it did enter
    assert "calico-kubeconfig" in evidence["cni_config"]
    assert evidence["proxy_env"]["shell"]["HTTPS_PROXY"] == "http://proxy:3128"
    assert evidence["proxy_env"]["kubelet"] == {"HTTP_PROXY": "http://p:1"}
    assert "10.96.0.10" in evidence["kubelet_config"]
    assert "repo.example.com/debian stable main" in evidence["package_sources"][0]
    assert "kubeadm join 10.0.0.1:6443" in evidence["kubeadm_output"]
    assert "Command line: ipv6.disable=1\n" in evidence["journal"]["kernel"]
    assert evidence["kubeconfig_servers"]["/etc/kubernetes/kubelet.conf"].endswith("@10.0.0.1:6443")


def test_a_recorded_link_is_replaced_and_not_written_through(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("of this machine")
    host = Recorded(tmp_path / "host")
    host.write("/usr/sbin/tool", "")
    host.remove("/usr/sbin/tool")
    Path(host.path("/usr/sbin/tool")).symlink_to(outside)
    host.write("/usr/sbin/tool", "of the test")
    assert (outside.read_text(), host.read("/usr/sbin/tool")) == ("of this machine", "of the test")
