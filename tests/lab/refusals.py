# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gives site bad input, one after the other, and holds that it says so in a sentence and touches nothing.

Needs three nodes of a lab (PODNET_LAB) that hold no cluster, and leaves them so. Names of cases as arguments choose.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATE = pathlib.Path(os.environ["PODNET_CACHE"]) / "labs" / os.environ.get("PODNET_LAB", "podnet")
OTHER_KEY = ROOT / "tests/unit/plugins/plugin_utils/fixtures/signing-key.asc"
# Another kubelet configuration than the lab's, under which swap is not allowed.
NO_SWAP = {"cluster_kubelet_config": {"failCgroupV1": False}}
FOREIGN_CNI = '{"cniVersion": "1.0.0", "name": "x", "type": "bridge"}'
OTHER_CLUSTER = """apiVersion: v1
kind: Config
clusters:
- name: other
  cluster:
    server: https://192.0.2.99:6443
"""
# Hands on what the lab's mirror has, and a package with one byte more.
TAMPERING = """
import http.server, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            data = urllib.request.urlopen("http://MIRROR:8081" + self.path, timeout=20).read()
        except urllib.error.HTTPError as error:
            self.send_error(error.code)
            return
        data += b"x" if "/kubeadm_" in self.path else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
http.server.ThreadingHTTPServer(("0.0.0.0", 8082), Handler).serve_forever()
"""


@dataclass(frozen=True)
class Case:
    """Variables and faults of nodes (shell, by node, with what takes them back), and what site has to say.

    ``then`` are further variables with which the host role has to mend the fault, and a shell test for that it did.
    ``late``: only apt can tell, so that files are written before; no package may be installed.
    """

    name: str
    says: str
    variables: dict[str, Any] = field(default_factory=dict, hash=False)
    fault: dict[str, str] = field(default_factory=dict, hash=False)
    undo: dict[str, str] = field(default_factory=dict, hash=False)
    inventory: str = ""
    then: dict[str, Any] = field(default_factory=dict, hash=False)
    mended: str = ""
    late: bool = False


def cover(path: str, text: str) -> str:
    """Shell that lays a file with ``text`` over ``path``, for what a node cannot really have here."""
    return f"printf '%b' {json.dumps(text)} > /root/cover && mount --bind /root/cover {path}"


def cases(mirror: str, n2: str) -> list[Case]:
    base = mirror.rpartition(".")[0]
    wrong = f"http://{mirror}:1/core:/stable:/v1.37/deb/"
    tampered = f"http://{n2}:8082/core:/stable:/v1.37/deb/"
    return [
        Case("mask", "node-mask-invalid", {"cluster_node_mask": 15}),
        Case("misspelt", "cluster_pod_cdir", {"cluster_pod_cdir": "10.42.0.0/16"}),
        Case("no-range", "cidr-unparsable", {"cluster_pod_cidr": "10.42.0.0"}),
        Case("ranges-overlap", "overlap-pod-service", {"cluster_pod_cidr": "10.100.0.0/16"}),
        Case("wrong-type", "cluster_node_mask cannot be used", {"cluster_node_mask": "many"}),
        Case("two-control-planes", "2 hosts: n2, n3", {"cluster_control_plane_group": "kube_node"}),
        Case("no-control-plane", "control plane", inventory="kube_node"),
        Case(
            "node-network",
            "overlap-host-network",
            {"cluster_pod_cidr": f"{base}.0/24", "cluster_node_mask": 26, "cluster_max_pods": 50},
        ),
        Case(
            "docker0",
            "overlap-container-bridge",
            {"cluster_pod_cidr": "172.17.0.0/16"},
            {"n2": "ip link add docker0 up type bridge && ip address add 172.17.0.1/16 dev docker0"},
            {"n2": "ip link delete docker0"},
        ),
        Case(
            "resolver",
            "overlap-resolver",
            fault={"n2": "cp /etc/resolv.conf /root/resolv && echo nameserver 10.96.0.53 > /etc/resolv.conf"},
            undo={"n2": "cat /root/resolv > /etc/resolv.conf"},
        ),
        Case("twins", "machine-id-duplicate", inventory="twin"),
        Case("hostname", "hostname-duplicate", fault={"n2": "hostname n1"}, undo={"n2": "hostname n2"}),
        Case(
            "system",
            "(?i)Debian 12 or 13, or Ubuntu",
            fault={"n2": cover("/usr/lib/os-release", 'ID=rocky\\nVERSION_ID=9.6\\nPRETTY_NAME=Rocky\\n')},
            undo={"n2": "umount /usr/lib/os-release"},
        ),
        Case(
            "memory",
            "memory-low",
            fault={"n1": cover("/proc/meminfo", "MemTotal: 1048576 kB\\nMemFree: 4096 kB\\n")},
            undo={"n1": "umount /proc/meminfo"},
        ),
        Case(
            "swap",
            "host_swap: off",
            NO_SWAP,
            {"n2": "echo '/swapfile none swap sw 0 0' >> /etc/fstab"},
            {"n2": "sed -i /swapfile/d /etc/fstab"},
            then={"host_swap": "off"},
            mended="grep -q '^# .*swapfile' /etc/fstab",
        ),
        Case(
            "foreign-cni",
            "host_foreign_cni: move",
            fault={"n2": f"mkdir -p /etc/cni/net.d && echo '{FOREIGN_CNI}' > /etc/cni/net.d/00-x.conf"},
            undo={"n2": "rm -f /etc/cni/net.d/00-x.conf"},
            then={"host_foreign_cni": "move"},
            mended="! test -e /etc/cni/net.d/00-x.conf && find /var/backups/podnet.kubeadm -name 00-x.conf | grep -q .",
        ),
        Case(
            "other-cluster",
            "(?i)another cluster",
            fault={"n2": f"mkdir -p /etc/kubernetes && printf %s '{OTHER_CLUSTER}' > /etc/kubernetes/kubelet.conf"},
            undo={"n2": "rm -f /etc/kubernetes/kubelet.conf"},
        ),
        Case("dead-mirror", "could not be fetched", {"kubernetes_packages_repository_url": wrong}),
        Case("other-key", "has the fingerprint", {"kubernetes_packages_repository_key_fingerprints": ["0" * 40]}),
        Case(
            "bad-signature",
            "signature is not made by the key",
            {"kubernetes_packages_repository_key": OTHER_KEY.read_text()},
            late=True,
        ),
        Case(
            "tampered",
            "was altered",
            {"kubernetes_packages_repository_url": tampered},
            {"n2": "cat > /root/tampering.py <<'E'\n" + TAMPERING.replace("MIRROR", mirror) + "E\n"
             "systemd-run --collect --unit tampering python3 /root/tampering.py"},
            {"n2": "systemctl stop tampering"},
            late=True,
        ),
    ]  # fmt: skip


def on(node: str, shell: str) -> subprocess.CompletedProcess[str]:
    command = ["ssh", "-F", str(STATE / "ssh_config"), node, "bash -s"]
    return subprocess.run(command, input=shell, capture_output=True, text=True, timeout=120, check=False)


def play(variables: dict[str, Any], inventory: str, *arguments: str) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(folder, "variables.json")
        given.write_text(json.dumps(variables))
        hosts = pathlib.Path(folder, "hosts.yml")
        twin = {"all": {"children": {"kube_node": {"hosts": {"twin": {"ansible_host": address("n1")}}}}}}
        hosts.write_text(json.dumps(twin))
        sources = {
            "": [STATE / "inventory"],
            "twin": [STATE / "inventory", hosts],
            "kube_node": [STATE / "inventory"],
        }[inventory]
        if inventory == "kube_node":
            variables = {**variables, "cluster_control_plane_group": "nobody"}
            given.write_text(json.dumps(variables))
        command = ["ansible-playbook", "playbooks/site.yml", "-e", f"@{given}", *arguments]
        for source in sources:
            command += ["-i", str(source)]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def address(node: str) -> str:
    text = (STATE / "ssh_config").read_text()
    found = re.search(rf"Host {node}\n\s*HostName (\S+)", text)
    assert found, f"{node} is not in the lab's ssh_config"
    return found.group(1)


def judge(case: Case) -> list[str]:
    """What is wrong with how site took the case; empty when nothing is."""
    wrong = []
    try:
        for node, shell in case.fault.items():
            made = on(node, shell)
            if made.returncode:
                return [f"the fault could not be made on {node}: {made.stderr.strip()}"]
        code, output = play(case.variables, case.inventory)
        if code == 0:
            wrong.append("site went on")
        if not re.search(case.says, output):
            wrong.append(f"site did not say {case.says!r}; it said:\n{output[-2500:]}")
        if not case.late and re.search(r"changed=[1-9]", output):
            wrong.append(f"a host was changed:\n{output[-1500:]}")
        if case.late and on("n1", "dpkg-query -W kubeadm").returncode == 0:
            wrong.append("kubeadm was installed")
        if case.then:
            code, output = play({**case.variables, **case.then}, case.inventory, "--tags", "host")
            if code or on("n2", case.mended).returncode:
                wrong.append(f"{case.then} did not mend it:\n{output[-2500:]}")
    finally:
        for node, shell in case.undo.items():
            on(node, shell)
    return wrong


def main() -> int:
    known = cases(address("n1").rpartition(".")[0] + ".1", address("n2"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=", ".join(case.name for case in known))
    names = parser.parse_args().names
    failed = 0
    chosen = [case for case in known if not names or case.name in names]
    for case in chosen:
        begin = time.monotonic()
        wrong = judge(case)
        failed += bool(wrong)
        print(f"{'FAILED' if wrong else 'ok':7} {case.name:18} {time.monotonic() - begin:4.0f} s", *wrong, flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
