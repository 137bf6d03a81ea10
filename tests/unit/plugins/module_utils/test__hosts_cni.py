# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_cni as cni

LIVE = "a" * 64
DEAD = "b" * 64
# From iptables-save -t nat of a node whose pod with a hostPort had gone; identifiers shortened to a letter.
JUMP = (
    '-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"cbr0\\" id: \\"{id}\\"" '
    "-m multiport --dports {port} -j CNI-DN-{name}"
)
SAVED = f"""\
*nat
:CNI-DN-dead - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
{JUMP.format(id=DEAD, port=18080, name="dead")}
{JUMP.format(id=LIVE, port=18081, name="live")}
-A CNI-DN-dead -p tcp -m tcp --dport 18080 -j DNAT --to-destination 10.88.0.3:8080
COMMIT
"""


def lease(folder: Path, network: str, address: str, owner: str, age: float) -> Path:
    path = folder / network / address
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{owner}\r\neth0")
    os.utime(path, (1000.0 - age, 1000.0 - age))
    return path


def test_a_lease_without_a_sandbox_is_leaked_and_nothing_else(tmp_path: Path) -> None:
    lease(tmp_path, "cbr0", "10.244.1.2", LIVE, age=500)
    dead = lease(tmp_path, "cbr0", "10.244.1.3", DEAD, age=500)
    lease(tmp_path, "cbr0", "10.244.1.4", DEAD, age=5)
    six = lease(tmp_path, "cbr0", "fd42::9", DEAD, age=500)
    lease(tmp_path, "cbr0", "last_reserved_ip.0", "10.244.1.4", age=500)
    lease(tmp_path, "cbr0", "lock", "", age=500)
    assert cni.leaked_leases({LIVE}, str(tmp_path), now=1000.0) == [str(dead), str(six)]


def test_no_folder_holds_no_leases(tmp_path: Path) -> None:
    assert cni.leaked_leases(set(), str(tmp_path / "absent")) == []


def test_host_ports_of_living_pods_stay() -> None:
    ((rule, chain),) = cni.dead_host_ports(SAVED, {LIVE})
    assert chain == "CNI-DN-dead" and rule[0] == "CNI-HOSTPORT-DNAT" and rule[-1] == "CNI-DN-dead"
    assert cni.dead_host_ports(SAVED, {LIVE, DEAD}) == []


def test_a_host_port_is_taken_out_before_its_chain() -> None:
    calls: list[list[str]] = []
    dead = cni.dead_host_ports(SAVED, {LIVE})
    cni.remove_host_ports(dead, lambda words: calls.append(words) or (0, "", ""), "iptables")
    assert [call[5] for call in calls] == ["-D", "-F", "-X"]
    assert f'dnat name: "cbr0" id: "{DEAD}"' in calls[0]


def test_a_tool_that_fails_is_quoted() -> None:
    with pytest.raises(cni.CniError, match="iptables -t nat -D CNI-HOSTPORT-DNAT: no such rule"):
        cni.remove_host_ports(cni.dead_host_ports(SAVED, {LIVE}), lambda words: (1, "", "no such rule"), "iptables")


@pytest.mark.parametrize(
    ("text", "bridges"),
    [
        ('{"plugins": [{"type": "bridge", "bridge": "cni-foreign"}, {"type": "portmap"}]}', ["cni-foreign"]),
        ('{"type": "bridge"}', ["cni0"]),
        ('{"plugins": [{"type": "calico"}]}', []),
        ('{"plugins": 3}', []),
        ("no configuration", []),
        ("[]", []),
    ],
)
def test_bridges_of_configurations(text: str, bridges: list[str]) -> None:
    assert cni.bridges_of([text]) == bridges


def test_the_ports_of_a_bridge(tmp_path: Path) -> None:
    (tmp_path / "cni0" / "brif" / "veth1").mkdir(parents=True)
    assert cni.members("cni0", str(tmp_path)) == ["veth1"]
    assert cni.members("eth0", str(tmp_path)) == []


def test_the_runtime_tells_pods_of_the_hosts_network_apart() -> None:
    def says(network: str) -> cni.Runtime:
        answer = f'{{"status": {{"linux": {{"namespaces": {{"options": {{"network": "{network}"}}}}}}}}}}'
        return cni.Runtime(lambda words: (0, answer, ""), "unix:///run/containerd/containerd.sock")

    assert says("POD").own_network("x") is True
    assert says("NODE").own_network("x") is False


def test_a_silent_runtime_is_said() -> None:
    with pytest.raises(cni.CniError, match="crictl pods -o json: no answer within 60 s"):
        cni.Runtime(lambda words: (124, "", ""), "unix:///x").sandboxes()
